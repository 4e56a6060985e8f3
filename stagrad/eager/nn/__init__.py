"""Neural network modules, parameters and functions with PyTorch's names and behaviour."""

from stagrad.eager.nn import functional, init
from stagrad.eager.nn.modules.activation import (
    GELU,
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    Flatten,
    Identity,
    KLDivLoss,
    L1Loss,
    LogSoftmax,
    MSELoss,
    NLLLoss,
    ReLU,
    Sigmoid,
    SiLU,
    SmoothL1Loss,
    Softmax,
    Softplus,
    Tanh,
)
from stagrad.eager.nn.modules.attention import MultiheadAttention
from stagrad.eager.nn.modules.container import ModuleList, Sequential
from stagrad.eager.nn.modules.conv import AvgPool2d, Conv1d, Conv2d, Conv3d, MaxPool2d
from stagrad.eager.nn.modules.linear import Embedding, Linear
from stagrad.eager.nn.modules.module import Module
from stagrad.eager.nn.modules.norm import BatchNorm1d, BatchNorm2d, Dropout, LayerNorm
from stagrad.eager.nn.modules.recurrent import LSTM
from stagrad.eager.nn.parameter import Parameter

__all__ = [
    "GELU",
    "LSTM",
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
    "Embedding",
    "Flatten",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LayerNorm",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleList",
    "MultiheadAttention",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "init",
]
