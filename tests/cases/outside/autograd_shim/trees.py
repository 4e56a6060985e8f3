"""Nested tuples, lists and dicts of numbers, which autograd differentiates as one value."""

import numpy


def leaves(tree):
    """Return the leaves in order, a dict's by sorted key."""
    if isinstance(tree, tuple | list):
        return [leaf for branch in tree for leaf in leaves(branch)]
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    return [] if tree is None else [tree]


def map_leaves(function, tree, *others):
    """Apply a function to the leaves of trees of one structure."""
    if isinstance(tree, tuple | list):
        parts = [map_leaves(function, *branches) for branches in zip(tree, *others, strict=True)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    if isinstance(tree, dict):
        return {key: map_leaves(function, tree[key], *(o[key] for o in others)) for key in tree}
    return None if tree is None else function(tree, *others)


def ones_like(tree):
    """Return a tree of ones, plain floats for scalars."""
    return map_leaves(lambda leaf: numpy.ones(numpy.shape(leaf)) if numpy.ndim(leaf) else 1.0, tree)


def kind(leaf):
    """Return the kind ("f", "c", "i", ...) of a leaf, traced or not."""
    return numpy.dtype(getattr(leaf, "dtype", type(leaf))).kind


def is_complex(leaf):
    """Tell whether a leaf, traced or not, is complex."""
    return kind(leaf) == "c"
