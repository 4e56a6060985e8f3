"""The public transformations of functions: compile, grad and value_and_grad."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.api.backend import checked_backend
from stagrad.api.differentiate import gradient_builder
from stagrad.api.function import CompiledFunction
from stagrad.api.program import Program, primal_program
from stagrad.api.signature import Parameters, Signature
from stagrad.ir import Aval, parse_aval
from stagrad.trace import Traced, current_trace, flatten


def aval(text: str) -> Aval:
    """Return the abstract value written as `text`: dtype and shape, `f64[20000,100]`.

    Takes the place of an array in `lower`, which then needs no data. Raises ParseError for other
    text. dtypes: bool, i8…i64, u8…u64, f16, f32, f64, c64, c128.

    >>> import stagrad
    >>> stagrad.aval("f32[3,4]").shape
    (3, 4)
    """
    return parse_aval(text)


def _build_primal(traced: Traced, signature: Signature, parameters: Parameters) -> Program:
    return primal_program(traced)


class _Compiled(CompiledFunction):
    """`stagrad.compile`'s result: inside another trace it is the plain function."""

    def _call_traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        assert current_trace() is not None
        return self._function(*args, **kwargs)


def compile(
    function: Callable[..., Any] | None = None,
    *,
    backend: str = "auto",
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    verify: bool = False,
) -> Any:
    """Compile a NumPy function; usable as a decorator, with or without options.

    The function is traced at its first call with given shapes and dtypes and runs as emitted code
    from then on. Arguments are trees of arrays and numbers; results come back as NumPy arrays.

    - backend: "auto", "c" or "numpy"; "auto" is C where there is a compiler, and NumPy otherwise
      (or what the environment variable STAGRAD_BACKEND says).
    - static_argnums, static_argnames: arguments fixed at trace time; a new value is a new program.
      bool, str, None and other hashable objects are static by themselves, and so is an int where
      the function needs it as a Python number.
    - donate_argnums: arguments whose memory the program may reuse; their contents are undefined
      afterwards.
    - verify: hold every call against the op-by-op interpreter (see `stagrad.errors.VerifyError`).

    A captured array is read afresh at each call; a rebound captured value makes a new trace. An
    argument the function writes to is written in the caller's array, as NumPy does. Raises
    TraceError, with the user's line, for Python control flow on traced values.

    >>> import numpy as np, stagrad
    >>> @stagrad.compile
    ... def norm(x):
    ...     return np.sqrt(np.sum(x * x))
    >>> float(norm(np.array([3.0, 4.0])))
    5.0
    """
    checked_backend(backend)

    def wrap(function: Callable[..., Any]) -> CompiledFunction:
        _require_callable(function, "compile")
        parameters = Parameters(function, static_argnums, static_argnames)
        return _Compiled(
            function, _build_primal, parameters=parameters, verify=verify, backend=backend
        )

    return wrap if function is None else wrap(function)


def grad(function: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False) -> Any:
    """Return the function that computes the gradient of a scalar-valued function.

    - argnums: which positional arguments to differentiate: an int, a tuple or another tree of ints;
      the result has that structure, with each argument's own tree in place of its number.
    - has_aux: the function returns `(value, auxiliary)`; the result is `(gradient, auxiliary)`.

    Each gradient has the shape and dtype of its argument. For complex arguments it is df/dRe + i
    df/dIm, the direction of steepest ascent. Raises DTypeError for an argument that is not float or
    complex, ShapeError when the function does not return a scalar.

    >>> import numpy as np, stagrad
    >>> stagrad.grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    _require_callable(function, "grad")
    _require_argnums(argnums, "grad")
    build = gradient_builder(argnums, has_aux=has_aux, with_value=False, name="grad")
    return CompiledFunction(function, build, parameters=Parameters(function), prefix="grad")


def value_and_grad(function: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False) -> Any:
    """Return the function that computes a scalar-valued function and its gradient together.

    Arguments and errors are those of `stagrad.grad`. The result is `(value, gradient)`, with
    has_aux `((value, auxiliary), gradient)`.

    >>> import numpy as np, stagrad
    >>> value, gradient = stagrad.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (5.0, array([2., 4.]))
    """
    _require_callable(function, "value_and_grad")
    _require_argnums(argnums, "value_and_grad")
    build = gradient_builder(argnums, has_aux=has_aux, with_value=True, name="value_and_grad")
    return CompiledFunction(
        function, build, parameters=Parameters(function), prefix="value_and_grad"
    )


def _require_callable(function: Any, name: str) -> None:
    if not callable(function):
        raise TypeError(f"{name}: expected a function, got {type(function).__name__}")


def _require_argnums(argnums: Any, name: str) -> None:
    """Refuse at once what cannot be argnums, such as the arguments themselves."""
    if any(isinstance(leaf, np.ndarray | float | str) for leaf in flatten(argnums)[0]):
        raise TypeError(
            f"{name}: argnums is an int, or a tuple or another tree of ints, not {argnums!r}; "
            f"arguments go to what {name} returns: stagrad.{name}(f)(x)"
        )
