"""Every exception stagrad raises on purpose, each also of the kind a NumPy user expects."""


class StagradError(Exception):
    """Base of all errors raised by stagrad itself."""


class TraceError(StagradError, RuntimeError):
    """A function cannot be traced: something in it needs concrete numbers."""


class ShapeError(StagradError, ValueError):
    """Operand shapes do not fit the operation."""


class SizeError(ShapeError, RuntimeError):
    """Tensor shapes do not fit the operation, which PyTorch users know as a RuntimeError."""


class DTypeError(StagradError, TypeError):
    """A dtype is not accepted by the operation, or an argument cannot be differentiated."""


class UnsupportedError(StagradError, TypeError):
    """A NumPy or SciPy function, or one of its arguments, has no meaning inside a trace."""


class DerivativeError(StagradError, TypeError):
    """An operation on the path from input to output has no derivative rule."""


class VerifyError(StagradError, AssertionError):
    """A graph or schedule breaks an invariant, or a result disagrees with the interpreter."""


class ParseError(StagradError, ValueError):
    """The textual form of a graph or aval cannot be read."""


class CompilerError(StagradError, RuntimeError):
    """There is no C compiler that works, or it does not accept the emitted text."""
