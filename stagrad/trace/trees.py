"""Pytrees: nested containers of arrays, flattened by optree; dataclasses register on sight."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import optree

from stagrad.ir import Aval

NAMESPACE = "stagrad"

TreeSpec = optree.PyTreeSpec


def flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree and its structure; None is structure, not a leaf.

    Lists, tuples, dicts, named tuples, deques and dataclass instances are containers.
    """
    leaves, spec = optree.tree_flatten(tree, namespace=NAMESPACE)
    unknown = {type(leaf) for leaf in leaves if _is_new_dataclass(leaf)}
    if not unknown:
        return leaves, spec
    for kind in unknown:
        _register_dataclass(kind)
    return flatten(tree)


def unflatten(spec: TreeSpec, leaves: Sequence[Any]) -> Any:
    """Return the tree of that structure with these leaves."""
    return optree.tree_unflatten(spec, leaves)


def describe_structure(spec: TreeSpec) -> str:
    """Return a structure as errors show it: `{'b': *, 'w': *}`, with a star for each leaf.

    >>> describe_structure(flatten({"w": 1.0, "b": (2.0, 3.0)})[1])
    "{'b': (*, *), 'w': *}"
    """
    text = str(spec).replace(f", namespace={NAMESPACE!r}", "")
    text = text.removeprefix("PyTreeSpec(").removesuffix(")")
    return text if len(text) <= 200 else f"{text[:200]}..."


def _is_new_dataclass(leaf: Any) -> bool:
    # An aval stands in an array's place: a leaf, although it is a dataclass.
    return dataclasses.is_dataclass(leaf) and not isinstance(leaf, type | Aval)


def _register_dataclass(kind: type) -> None:
    names = tuple(item.name for item in dataclasses.fields(kind) if item.init)

    def parts(value: Any) -> tuple[tuple[Any, ...], tuple[str, ...], tuple[str, ...]]:
        return tuple(getattr(value, name) for name in names), names, names

    def whole(fields: tuple[str, ...], children: Sequence[Any]) -> Any:
        return kind(**dict(zip(fields, children, strict=True)))

    optree.register_pytree_node(kind, parts, whole, namespace=NAMESPACE)  # type: ignore[arg-type]
