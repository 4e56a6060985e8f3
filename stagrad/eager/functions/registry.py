"""How a function of PyTorch's enters: its body, its public name, its methods, its node's name."""

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from stagrad.eager import tape
from stagrad.eager.define import Name, operation, tensors_in
from stagrad.eager.tape import edge_of
from stagrad.ir import aval_of
from stagrad.ops.convert import cast

Body = TypeVar("Body", bound=Callable[..., Any])

NAMES: dict[str, Any] = {}
"""The functions of the module `stagrad`."""

METHODS: dict[str, Callable[..., Any]] = {}
"""The methods of Tensor."""

_SPELLINGS = {
    "axis": ("dim", "dims"),
    "axes": ("dim", "dims"),
    "keepdims": ("keepdim",),
    "k": ("diagonal",),
}


def function(
    label: Name,
    *,
    view: bool = False,
    method: bool = True,
    in_place: bool = False,
    module: bool = True,
    constant: bool = False,
) -> Callable[[Body], Body]:
    """Make a composition the public function of its name, which leaves a node called `label`.

    Arguments are PyTorch's; `axis` and `keepdims` are taken for `dim` and `keepdim`, and `out=`
    receives the result. The function is a name of `stagrad` and a method of Tensor, unless these
    are turned off; with `in_place` there is also a method with an underscore behind its name. The
    result of a `constant` function needs no gradient.
    """

    def decorate(body: Body) -> Body:
        run = operation(label, view=view)(body if view or constant else _recorded(body))

        spellings = _spellings(body)

        @functools.wraps(body)
        def public(*args: Any, **kwargs: Any) -> Any:
            if not kwargs:
                return run(*args)
            out = kwargs.pop("out", None)
            for given, meant in spellings.items():
                if given in kwargs:
                    kwargs[meant] = kwargs.pop(given)
            result = run(*args, **kwargs)
            return result if out is None else write_out(out, result)

        public.__signature__ = _signature(body, spellings)  # type: ignore[attr-defined]
        enter(public, method=method, in_place=in_place, module=module)
        return public  # type: ignore[return-value]

    return decorate


def _spellings(body: Callable[..., Any]) -> dict[str, str]:
    """Return NumPy's names of a function's arguments, each with PyTorch's."""
    names = inspect.signature(body).parameters
    return {
        given: meant
        for given, known in _SPELLINGS.items()
        for meant in known
        if meant in names and given not in names
    }


def _signature(body: Callable[..., Any], spellings: dict[str, str]) -> inspect.Signature:
    """Return the signature with the other spellings of its arguments."""
    signature = inspect.signature(body)
    listed = list(signature.parameters.values())
    others = [
        listed_one.replace(name=given, kind=inspect.Parameter.KEYWORD_ONLY)
        for given, meant in spellings.items()
        for listed_one in listed
        if listed_one.name == meant
    ]
    is_open = bool(listed) and listed[-1].kind is inspect.Parameter.VAR_KEYWORD
    place = len(listed) - 1 if is_open else len(listed)
    return signature.replace(parameters=[*listed[:place], *others, *listed[place:]])


def _recorded(body: Body) -> Body:
    """Let results that only steps lead to, as those of `floor`, hand back gradients of zero."""

    @functools.wraps(body)
    def run(*args: Any, **kwargs: Any) -> Any:
        result = body(*args, **kwargs)
        is_tensor = isinstance(result, tape.tensor_type)
        if not is_tensor and not isinstance(result, np.ndarray | np.generic):
            return result
        if (is_tensor and result.requires_grad) or result.dtype.kind not in "fc":
            return result
        for tensor in tensors_in((args, kwargs)):
            if edge_of(tensor) is None:
                continue
            # The sum of no elements: zero, with a history.
            nothing = np.sum(np.reshape(tensor, -1)[:0])
            return result + cast(nothing, result.dtype, copy=False)
        return result

    return run  # type: ignore[return-value]


def enter(
    public: Callable[..., Any], *, method: bool = True, in_place: bool = False, module: bool = True
) -> None:
    """Enter a finished function under its own name."""
    name = public.__name__
    if module:
        NAMES[name] = public
    if method:
        METHODS[name] = public
    if in_place:
        METHODS[f"{name}_"] = in_place_form(public, f"{name}_")


def alias(name: str, known: Callable[..., Any]) -> None:
    """Enter a function under another name too, wherever its own one stands."""
    own = known.__name__
    for table in (NAMES, METHODS):
        if own in table:
            table[name] = table[own]
    if f"{own}_" in METHODS:
        METHODS[f"{name}_"] = METHODS[f"{own}_"]


def in_place_form(public: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the method that writes a function's result into its tensor."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.update(name, lambda: public(self, *args, **kwargs))

    method.__name__ = name
    method.__doc__ = f"In-place form of `{public.__name__}`."
    return method


def write_out(out: Any, result: Any) -> Any:
    """Write a result into the argument `out`, or results into several; return `out`."""
    if isinstance(result, tuple):
        for target, part in zip(out, result, strict=True):
            write_out(target, part)
        return out
    if out._array.shape != result._array.shape:
        out._array = np.empty(result._array.shape, out._array.dtype)
    return out.assign(result, "out")


def returned(operation: str, *fields: str) -> Any:
    """Return a named tuple type that prints as PyTorch's `torch.return_types`."""
    made: Any = namedtuple(operation, fields)  # type: ignore[misc]

    def text(self: Any) -> str:
        lines = (f"{name}={value!r}" for name, value in zip(fields, self, strict=True))
        return f"torch.return_types.{operation}(\n" + ",\n".join(lines) + ")"

    type.__setattr__(made, "__repr__", text)
    return made


def numbers(value: Any) -> Any:
    """Return the array of a tensor, anything else as it is; for what has no derivative."""
    if isinstance(value, tape.recorded_type):
        return value.constant()
    return value._array if isinstance(value, tape.tensor_type) else value


def axes_of(dim: Any, input: Any) -> Any:
    """Return `dim` as NumPy takes axes: None, an integer or a tuple.

    IndexError in PyTorch's words where there is no such axis; axis 0 of a number is no axis.
    """
    if dim is None or (isinstance(dim, list | tuple) and not dim):
        return None
    ndim = aval_of(input).ndim
    extent = max(ndim, 1)
    listed = dim if isinstance(dim, list | tuple) else (dim,)
    for axis in listed:
        if not -extent <= axis < extent:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], "
                f"but got {axis})"
            )
    if ndim == 0:
        return ()
    return tuple(int(axis) for axis in dim) if listed is dim else int(dim)


def by_dim(stem: str) -> Callable[..., str]:
    """Return the name PyTorch gives a reduction: one of all elements, another along `dim`."""

    def name(*args: Any, **kwargs: Any) -> str:
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        return f"{stem}Backward{0 if dim is None else 1}"

    return name


def integers(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Return sizes given as one sequence or as several integers."""
    if len(sizes) == 1 and isinstance(sizes[0], list | tuple):
        sizes = tuple(sizes[0])
    return tuple(int(size) for size in sizes)
