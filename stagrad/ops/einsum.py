"""einsum: reading its subscripts, and taking it apart into transposes, sums and matrix products."""

import string
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from stagrad.errors import ShapeError, UnsupportedError
from stagrad.ir import aval_of, bind
from stagrad.ops.contraction import arrange, contract
from stagrad.ops.convert import as_value, is_traced
from stagrad.ops.define import FUNCTIONS, implements
from stagrad.ops.movement import astype, broadcast_to, reshape

Label = Hashable
Labels = list[Label]
Term = tuple[Any, Labels]


@implements(np.einsum)
def einsum(
    *operands: Any,
    out: None = None,
    optimize: Any = False,
    dtype: Any = None,
    **keywords: Any,
) -> Any:
    """Sum of products over labelled axes, as `numpy.einsum`, in every form it takes.

    The contraction is taken apart into pairs in a cheap order, whatever `optimize` says; a path
    given there is followed.
    """
    keywords.pop("casting", None), keywords.pop("order", None)
    if keywords:
        raise TypeError(f"einsum: unknown arguments {', '.join(keywords)}")
    values, inputs, output = read_subscripts(operands)
    common = np.result_type(*(aval_of(value).dtype for value in values))
    values = [astype(value, common if dtype is None else dtype) for value in values]
    extents = _extents(values, inputs)
    terms = [
        _without_stretched(_diagonal(value, labels), extents)
        for value, labels in zip(values, inputs, strict=True)
    ]
    for positions in _path(terms, output, extents, optimize):
        chosen = [terms[position] for position in positions]
        rest = [term for position, term in enumerate(terms) if position not in positions]
        needed = set(output).union(*(labels for _, labels in rest))
        terms = [*rest, _contract_all(chosen, needed, output)]
    value, labels = terms[0]
    present = [label for label in output if label in labels]
    shape = tuple(extents[label] if label in labels else 1 for label in output)
    result = reshape(arrange(value, labels, present), shape)
    return broadcast_to(result, tuple(extents[label] for label in output))


def read_subscripts(operands: Sequence[Any]) -> tuple[list[Any], list[Labels], Labels]:
    """Return the operands, the labels of their axes and the labels of the result.

    Both forms are read: `("ij,jk->ik", a, b)` and `(a, [0, 1], b, [1, 2], [0, 2])`. An ellipsis
    becomes labels of its own, counted from the right as broadcasting does.
    """
    values, inputs, output = _split_arguments(operands)
    avals = [aval_of(value) for value in values]
    hidden = [
        _hidden_axes(position, labels, aval.ndim)
        for position, (labels, aval) in enumerate(zip(inputs, avals, strict=True))
    ]
    shown = [list(_spell_out(labels, count)) for labels, count in zip(inputs, hidden, strict=True)]
    widest = max(hidden)
    if output is None:
        counts = Counter(label for labels in inputs for label in labels if label is not Ellipsis)
        single = sorted(label for label, count in counts.items() if count == 1)  # type: ignore[type-var]
        output = [*([Ellipsis] if widest else []), *single]
    elif widest and Ellipsis not in output:
        raise ShapeError(
            "einsum: an operand has axes under its ellipsis, so the output needs an ellipsis too"
        )
    result = list(_spell_out(output, widest))
    known = {label for labels in shown for label in labels}
    if len(set(result)) < len(result) or not known.issuperset(result):
        raise ShapeError(
            f"einsum: output labels {_names(result)} must each occur once there, and in some input"
        )
    return values, shown, result


def _split_arguments(operands: Sequence[Any]) -> tuple[list[Any], list[Labels], Labels | None]:
    if not operands:
        raise ShapeError("einsum: must specify the einstein sum subscripts and an operand")
    if not isinstance(operands[0], str):
        pairs = len(operands) // 2
        values = [as_value(operands[2 * place]) for place in range(pairs)]
        inputs = [list(operands[2 * place + 1]) for place in range(pairs)]
        return values, inputs, list(operands[-1]) if len(operands) % 2 else None
    text = operands[0].replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands) - 1:
        raise ShapeError(
            f"einsum: {operands[0]!r} names {len(terms)} operands; {len(operands) - 1} are given"
        )
    inputs = [_read_term(term, operands[0]) for term in terms]
    values = [as_value(operand) for operand in operands[1:]]
    return values, inputs, _read_term(right, operands[0]) if arrow else None


def _read_term(term: str, whole: str) -> Labels:
    before, dots, after = term.partition("...")
    labels: Labels = [*before, *([Ellipsis] if dots else []), *after]
    for label in labels:
        if label is not Ellipsis and not str(label).isalpha():
            raise ShapeError(f"einsum: {label!r} in {whole!r} is neither a letter nor an ellipsis")
    return labels


def _hidden_axes(position: int, labels: Labels, ndim: int) -> int:
    """Return how many axes an operand's ellipsis stands for."""
    count = ndim - len(labels) + labels.count(Ellipsis)
    if count < 0 or labels.count(Ellipsis) > 1 or (count > 0 and Ellipsis not in labels):
        raise ShapeError(
            f"einsum: operand {position} has {ndim} axes, which the {len(labels)} subscripts "
            f"{_names(labels)} do not fit"
        )
    return count


def _names(labels: Labels) -> str:
    return repr("".join("..." if label is Ellipsis else str(label) for label in labels))


def _spell_out(labels: Labels, count: int) -> Iterator[Label]:
    for label in labels:
        if label is Ellipsis:
            yield from (("...", place) for place in range(count, 0, -1))
        else:
            yield label


def _extents(values: Sequence[Any], inputs: Sequence[Labels]) -> dict[Label, int]:
    """Return the extent of every label; an axis of extent one fits any."""
    extents: dict[Label, int] = {}
    for position, (value, labels) in enumerate(zip(values, inputs, strict=True)):
        for label, extent in zip(labels, aval_of(value).shape, strict=True):
            known = extents.setdefault(label, extent)
            if known == 1:
                extents[label] = extent
            elif extent not in (1, known):
                raise ShapeError(
                    f"einsum: label {label!r} of operand {position} has extent {extent}, "
                    f"but {known} in another place"
                )
    return extents


def _diagonal(value: Any, labels: Labels) -> Term:
    """Take the diagonal over every label that an operand repeats."""
    labels = list(labels)
    for label in [label for label, count in Counter(labels).items() if count > 1]:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            shape = aval_of(value).shape
            if shape[first] != shape[second]:
                raise ShapeError(
                    f"einsum: the repeated label {label!r} names axes of extents {shape[first]} "
                    f"and {shape[second]} of one operand"
                )
            value = FUNCTIONS[np.diagonal](value, 0, first, second)
            del labels[second], labels[first]
            labels.append(label)
    return value, labels


def _without_stretched(term: Term, extents: dict[Label, int]) -> Term:
    """Drop axes of extent one whose label is longer elsewhere: they would only be repeated."""
    value, labels = term
    shape = aval_of(value).shape
    kept = [
        (label, extent)
        for label, extent in zip(labels, shape, strict=True)
        if extent == extents[label]
    ]
    return reshape(value, tuple(extent for _, extent in kept)), [label for label, _ in kept]


def _path(
    terms: Sequence[Term], output: Labels, extents: dict[Label, int], optimize: Any
) -> list[tuple[int, ...]]:
    """Return which terms to contract, step by step; results are appended at the end."""
    if len(terms) <= 2:
        return [tuple(range(len(terms)))]
    if isinstance(optimize, bool) or optimize is None:
        optimize = "greedy"
    letters = dict(zip(extents, string.ascii_letters, strict=False))
    sides = [
        "".join(letters[label] for label in labels)
        for labels in (*(labels for _, labels in terms), output)
    ]
    shapes = [aval_of(value).shape for value, _ in terms]
    dummies = [np.broadcast_to(np.float32(0), shape) for shape in shapes]
    try:
        subscripts = f"{','.join(sides[:-1])}->{sides[-1]}"
        path, _ = np.einsum_path(subscripts, *dummies, optimize=optimize)
    except ValueError as error:
        raise UnsupportedError(f"einsum: optimize={optimize!r} gives no path: {error}") from error
    return [tuple(sorted(positions)) for positions in path[1:]]


def _contract_all(terms: Sequence[Term], needed: set[Label], output: Labels) -> Term:
    """Multiply some terms, from left to right, and sum over the labels nothing else needs."""
    first, *others = terms
    for place, second in enumerate(others):
        needed_later = needed.union(*(labels for _, labels in others[place + 1 :]))
        first = _contract_pair(first, second, needed_later, output)
    return _summed(first, needed)


def _contract_pair(first: Term, second: Term, needed: set[Label], output: Labels) -> Term:
    value_a, labels_a = _summed(first, needed.union(second[1]))
    value_b, labels_b = _summed(second, needed.union(labels_a))
    free = [label for label in (*labels_a, *labels_b) if label in needed]
    wanted = [label for label in output if label in free]
    kept = [*wanted, *(label for label in dict.fromkeys(free) if label not in wanted)]
    return contract(value_a, labels_a, value_b, labels_b, kept)


def _summed(term: Term, needed: set[Label]) -> Term:
    """Sum a term over the labels that nothing else needs."""
    from stagrad.ops.reduction import sum_p

    value, labels = term
    axes = tuple(axis for axis, label in enumerate(labels) if label not in needed)
    if not axes:
        return term
    return bind(sum_p, value, axis=axes), [label for label in labels if label in needed]


@implements(np.einsum_path)
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """Return the order of contraction, as `numpy.einsum_path`: it depends on the shapes alone."""
    stand_ins: list[Any] = [
        np.broadcast_to(np.float64(0), aval_of(operand).shape) if is_traced(operand) else operand
        for operand in operands
    ]
    return np.einsum_path(*stand_ins, optimize=optimize)
