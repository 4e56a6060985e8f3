"""Neural network modules, parameters and functions with PyTorch's names and behaviour."""

from stagrad.eager.nn import functional, init, utils
from stagrad.eager.nn.modules.activation import (
    ELU,
    GELU,
    SELU,
    Flatten,
    Hardtanh,
    Identity,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from stagrad.eager.nn.modules.attention import (
    MultiheadAttention,
)
from stagrad.eager.nn.modules.container import (
    ModuleList,
    Sequential,
)
from stagrad.eager.nn.modules.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
)
from stagrad.eager.nn.modules.linear import (
    Embedding,
    Linear,
)
from stagrad.eager.nn.modules.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from stagrad.eager.nn.modules.module import Module
from stagrad.eager.nn.modules.norm import (
    BatchNorm1d,
    BatchNorm2d,
    Dropout,
    Dropout2d,
    GroupNorm,
    LayerNorm,
)
from stagrad.eager.nn.modules.pooling import (
    AdaptiveAvgPool2d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
)
from stagrad.eager.nn.modules.recurrent import (
    LSTM,
)
from stagrad.eager.nn.parameter import Parameter

__all__ = [
    "ELU",
    "GELU",
    "LSTM",
    "SELU",
    "AdaptiveAvgPool2d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout2d",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "Hardtanh",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "Mish",
    "Module",
    "ModuleList",
    "MultiheadAttention",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "ReLU6",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "init",
    "utils",
]
