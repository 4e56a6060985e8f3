"""What a call looks like: its tree, the avals of its array leaves and its static values."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stagrad.errors import DTypeError
from stagrad.ir import Aval, aval_of
from stagrad.ir.aval import PYTHON_SCALARS
from stagrad.trace import StaticLeaf, Tracer, TreeSpec, flatten
from stagrad.trace.identity import exact


class Static:
    """A leaf that holds a static argument whole, so that its contents are not flattened."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass(frozen=True)
class Signature:
    """A call, flattened.

    `key` distinguishes calls that need different programs; `leaves` say how each leaf is traced;
    `values` are the leaves themselves, `arrays` the ones that are inputs of the program.
    """

    spec: TreeSpec
    leaves: tuple[Aval | StaticLeaf, ...]
    values: tuple[Any, ...]
    key: Any

    @property
    def arrays(self) -> list[Any]:
        """The values of the leaves that are traced, as arrays in native byte order."""
        return [
            native(value)
            for leaf, value in zip(self.leaves, self.values, strict=True)
            if isinstance(leaf, Aval)
        ]

    @property
    def avals(self) -> list[Aval]:
        """The avals of the leaves that are traced, in order."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Aval)]

    def with_static(self, positions: frozenset[int]) -> "Signature":
        """Return the signature with some integer leaves static."""
        leaves = list(self.leaves)
        for position in positions:
            if isinstance(leaves[position], Aval):
                leaves[position] = StaticLeaf(self.values[position])
        return Signature(self.spec, tuple(leaves), self.values, _key(self.spec, leaves))


def native(value: Any) -> Any:
    """Return an array in the machine's byte order; everything else as it is."""
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        return value.astype(value.dtype.newbyteorder("="))
    return value


class Parameters:
    """The parameters of a function: which are static, and what they are called."""

    def __init__(
        self,
        function: Callable[..., Any],
        static_argnums: int | Sequence[int] = (),
        static_argnames: str | Sequence[str] = (),
    ) -> None:
        self.function_name = getattr(function, "__name__", type(function).__name__)
        numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
        names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        self.names = [item.name for item in parameters if item.kind is not item.KEYWORD_ONLY]
        known = {item.name for item in parameters}
        takes_any = any(item.kind is item.VAR_KEYWORD for item in parameters)
        for name in names:
            if parameters and name not in known and not takes_any:
                raise ValueError(
                    f"static_argnames: {self.function_name} has no parameter {name!r}; "
                    f"it has {', '.join(map(repr, known)) or 'none'}"
                )
        count = len(self.names)
        by_name = {self.names.index(name) for name in names if name in self.names}
        self.static_numbers = by_name | {n + count if n < 0 else n for n in numbers}
        self.static_names = {*names, *(self.names[n] for n in self.static_numbers if n < count)}

    def signature(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Signature:
        """Return the signature of a call.

        Raises DTypeError naming the argument for a leaf that is neither numeric nor hashable.
        """
        if self.static_numbers:
            args = tuple(
                Static(value) if position in self.static_numbers else value
                for position, value in enumerate(args)
            )
        if self.static_names and kwargs:
            kwargs = {
                name: Static(value) if name in self.static_names else value
                for name, value in kwargs.items()
            }
        values, spec = flatten((args, kwargs))
        leaves = [self._leaf(spec, position, value) for position, value in enumerate(values)]
        return Signature(spec, tuple(leaves), tuple(values), _key(spec, leaves))

    def _leaf(self, spec: TreeSpec, position: int, value: Any) -> Aval | StaticLeaf:
        kind = type(value)
        if kind is np.ndarray and value.dtype.kind in "biufc":
            return Aval(value.shape, value.dtype if value.dtype.isnative else native(value).dtype)
        if isinstance(value, Aval):
            return value
        if kind in PYTHON_SCALARS and kind is not bool:
            return Aval((), PYTHON_SCALARS[kind], weak=True)
        if isinstance(value, Tracer):
            return value.aval
        if isinstance(value, np.ndarray | np.generic):
            return self._array_leaf(spec, position, value)
        if isinstance(value, Static):
            value = value.value
        if isinstance(value, Iterator):
            raise DTypeError(
                f"{self.describe(spec, position)} is a {type(value).__name__}, which gives its "
                "items only once, while the function is traced; pass a list or a tuple"
            )
        try:
            hash(value)
        except TypeError:
            raise DTypeError(
                f"{self.describe(spec, position)} is a {type(value).__name__}, which is neither an "
                "array nor hashable. Arguments are arrays, numbers, containers of those, and "
                "hashable static values"
            ) from None
        return StaticLeaf(value)

    def _array_leaf(self, spec: TreeSpec, position: int, value: Any) -> Aval | StaticLeaf:
        if isinstance(value, np.ma.MaskedArray | np.matrix):
            raise DTypeError(
                f"{self.describe(spec, position)} is a {type(value).__name__}, whose operations "
                "mean something else than an array's; pass a plain ndarray"
            )
        if value.dtype.kind in "biufc":
            return aval_of(value)
        if isinstance(value, np.generic):
            return StaticLeaf(value)
        raise DTypeError(
            f"{self.describe(spec, position)} has dtype {value.dtype}; arrays must be bool, "
            "integer, float or complex"
        )

    def leaf_names(self, spec: TreeSpec) -> list[str | None]:
        """Return a name for every leaf that is a whole argument or a string-keyed part of one."""
        return [self._leaf_name(path) for path in spec.paths()]

    def _leaf_name(self, path: tuple[Any, ...]) -> str | None:
        where, *rest = path
        if where == 1:
            parts = rest
        elif rest[0] < len(self.names):
            parts = [self.names[rest[0]], *rest[1:]]
        else:
            parts = [f"arg{rest[0]}", *rest[1:]]
        name = "_".join(str(part) for part in parts)
        return name if name.isidentifier() else None

    def describe(self, spec: TreeSpec, position: int) -> str:
        """Return words for one argument leaf: `argument 'params'['w'] of loss`."""
        where, first, *rest = spec.paths()[position]
        if where == 1:
            name = repr(first)
        else:
            name = repr(self.names[first]) if first < len(self.names) else f"number {first}"
        inner = "".join(f"[{part!r}]" for part in rest)
        return f"argument {name}{inner} of {self.function_name}"


def _key(spec: TreeSpec, leaves: Sequence[Aval | StaticLeaf]) -> Any:
    return spec, tuple(
        exact(leaf.value) if isinstance(leaf, StaticLeaf) else leaf for leaf in leaves
    )


def argument_leaves(spec: TreeSpec, argnum: int) -> range:
    """Return the positions of the leaves that make up one positional argument."""
    children = spec.children()[0].children()
    start = sum(child.num_leaves for child in children[:argnum])
    return range(start, start + children[argnum].num_leaves)
