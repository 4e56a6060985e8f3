"""Activations and flattening as modules: each calls the function of its name."""

from typing import Any, ClassVar

from stagrad.eager.nn import functional
from stagrad.eager.nn.modules.module import Module


class FunctionModule(Module):
    """A function and its options as a module; the options are attributes.

    - function: its name in `nn.functional`.
    - options: the names of the options, in order, and their defaults.
    """

    function: ClassVar[str]
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        kind = type(self).__name__
        if len(args) > len(self.options):
            raise TypeError(f"{kind} takes at most {len(self.options)} arguments")
        given = dict(zip(self.options, args, strict=False)) | kwargs
        for name in given.keys() - self.options.keys():
            known = ", ".join(self.options) or "none"
            raise TypeError(f"{kind} got an unexpected argument {name!r}; its options are: {known}")
        for name, value in (self.options | given).items():
            self.set_option(name, value)

    def set_option(self, name: str, value: Any) -> None:
        """Keep an option."""
        setattr(self, name, value)

    def forward(self, *inputs: Any) -> Any:
        """Return the function of the inputs."""
        chosen = {name: getattr(self, name) for name in self.options}
        return getattr(functional, self.function)(*inputs, **chosen)

    def extra_repr(self) -> str:
        """Return the options; `inplace` where it is on."""
        shown = [name for name in self.options if name != "inplace" or getattr(self, name)]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)


class ReLU(FunctionModule):
    """max(x, 0)."""

    function = "relu"
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class ReLU6(FunctionModule):
    """x held between 0 and 6."""

    function = "relu6"
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class LeakyReLU(FunctionModule):
    """x where positive, else x times a small slope."""

    function = "leaky_relu"
    options: ClassVar[dict[str, Any]] = {"negative_slope": 0.01, "inplace": False}


class ELU(FunctionModule):
    """x where positive, else alpha (exp(x) - 1)."""

    function = "elu"
    options: ClassVar[dict[str, Any]] = {"alpha": 1.0, "inplace": False}


class SELU(FunctionModule):
    """`ELU`, scaled to keep mean 0 and variance 1 (Klambauer et al., 2017)."""

    function = "selu"
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class Hardtanh(FunctionModule):
    """x within bounds."""

    function = "hardtanh"
    options: ClassVar[dict[str, Any]] = {"min_val": -1.0, "max_val": 1.0, "inplace": False}


class GELU(FunctionModule):
    """x times the normal distribution function of x (Hendrycks and Gimpel, 2016)."""

    function = "gelu"
    options: ClassVar[dict[str, Any]] = {"approximate": "none"}


class SiLU(FunctionModule):
    """x times the logistic function of x."""

    function = "silu"
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class Mish(FunctionModule):
    """x tanh(log(1 + exp(x)))."""

    function = "mish"
    options: ClassVar[dict[str, Any]] = {"inplace": False}


class Sigmoid(FunctionModule):
    """The logistic function."""

    function = "sigmoid"


class LogSigmoid(FunctionModule):
    """The logarithm of the logistic function."""

    function = "logsigmoid"


class Tanh(FunctionModule):
    """The hyperbolic tangent."""

    function = "tanh"


class Softplus(FunctionModule):
    """log(1 + exp(x)), stable."""

    function = "softplus"
    options: ClassVar[dict[str, Any]] = {"beta": 1.0, "threshold": 20.0}


class Softmax(FunctionModule):
    """exp(x) over its sum along an axis."""

    function = "softmax"
    options: ClassVar[dict[str, Any]] = {"dim": None}


class LogSoftmax(FunctionModule):
    """The logarithm of the softmax along an axis."""

    function = "log_softmax"
    options: ClassVar[dict[str, Any]] = {"dim": None}


class Flatten(Module):
    """Axes `start_dim` to `end_dim` as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Any) -> Any:
        """Return the input with those axes flattened."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the axes."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Identity(Module):
    """The input itself."""

    def forward(self, input: Any) -> Any:
        """Return the input."""
        return input
