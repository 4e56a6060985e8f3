"""Samples of operators from PyTorch's OpInfo tables, with the derivatives PyTorch has for them.

`data/opinfo.json` holds 950 samples of 276 operators, `data/opinfo.npz` their arrays, float64.
Each sample has the arguments, the outputs, a cotangent per output and the resulting cotangents
of the inputs, a tangent per input and the resulting tangents of the outputs, and the directional
derivative of the cotangents along those tangents (second order). Most operators have a spelling in
NumPy, given as source text. A sample that sits on a kink or a tie counts for its value alone.
"""

import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import DATA
from tests.cases.library import Library

FLOATS, INTEGERS, BOOLEANS = "fib"


class Sample:
    """One operator with one set of arguments, and what its outputs and derivatives must be."""

    def __init__(
        self,
        number: int,
        record: dict[str, Any],
        operator: dict[str, Any],
        arrays: Callable[[int], np.ndarray],
    ):
        self.number = number
        self.operator = record["op"]
        self.call = operator["call"]  # in PyTorch
        self.has_spelling = record["np"]
        self.is_smooth = record.get("smooth", True)
        self.tolerance = operator.get("tol", 1e-9)
        self._record = record
        self._details = operator
        self._stored = {key: arrays(key) for key in _keys(record)}

    def _array(self, key: int) -> np.ndarray:
        return self._stored[key].copy()

    def __str__(self) -> str:
        return f"{self.number}-{self.operator}"

    @property
    def leaves(self) -> list[np.ndarray]:
        """The arrays to differentiate with respect to."""
        found: dict[int, np.ndarray] = {}
        trees = [self._record["args"], list(self._record.get("kwargs", {}).values())]
        self._decoded(trees, found.setdefault)
        return [found[position] for position in range(len(found))]

    def wanted(self, what: str) -> list[np.ndarray | None]:
        """Return the arrays recorded under `what`: out, ct, vjp, dir, jvp or hvp.

        None stands for an output that is not differentiable. The second-order records write 0 for
        an array of zeros of the input's shape.
        """
        if what == "hvp":
            zeros = [np.zeros(leaf.shape) for leaf in self.leaves]
            recorded = zip(self._record[what], zeros, strict=True)
            return [self._array(key) if key else zero for key, zero in recorded]
        return [None if key is None else self._array(key) for key in self._record[what]]

    def has(self, what: str) -> bool:
        """Tell whether arrays are recorded under `what`."""
        return what in self._record

    def outputs(self, spelling, np, leaves, constant=lambda array: array) -> list[Any]:
        """Return the outputs for these leaves, in the form in which they are recorded.

        `constant` makes an argument of an array that is not differentiated.
        """

        def decoded(tree):
            return self._decoded(tree, lambda position, _: leaves[position], constant)

        arguments = decoded(self._record["args"])
        keywords = {name: decoded(tree) for name, tree in self._record.get("kwargs", {}).items()}
        if self._details.get("pre") == "sym":
            arguments[0] = (arguments[0] + np.swapaxes(arguments[0], -1, -2)) / 2
        outputs = list(_flat(spelling(*arguments, **keywords)))
        return _POSTPROCESSING[self._details.get("post")](np, outputs)

    def _decoded(self, tree, leaf, constant=lambda array: array) -> Any:
        match tree:
            case {"T": key, "d": position}:
                return leaf(position, self._array(key))
            case {"T": key}:
                return constant(self._array(key))
            case {"tuple": items}:
                return tuple(self._decoded(item, leaf, constant) for item in items)
            case {"slice": bounds}:
                return slice(*bounds)
            case {"ellipsis": _}:
                return Ellipsis
            case {"f": text}:
                return float(text)
            case list():
                return [self._decoded(item, leaf, constant) for item in tree]
        return tree

    def spelling(self, library: Library) -> Any:
        """Return the operator as a function written in the library's NumPy."""
        return _spelling(self._details["np"], library.np, library.special)


def _keys(record: dict[str, Any]) -> set[int]:
    """Return the numbers of the arrays that a sample's record speaks of."""
    named = {
        key for what in ("out", "ct", "vjp", "dir", "jvp", "hvp") for key in record.get(what, ())
    }
    pending = [record["args"], *record.get("kwargs", {}).values()]
    while pending:
        tree = pending.pop()
        if isinstance(tree, dict):
            named.add(tree.get("T"))
            pending += tree.values()
        elif isinstance(tree, list):
            pending += tree
    return named - {None}


# What PyTorch returns beyond what is recorded, or leaves undetermined, is dropped: the indices of a
# sort, the signs of singular vectors. Complex outputs are recorded as pairs of reals.
_POSTPROCESSING = {
    None: lambda np, outputs: outputs,
    "first": lambda np, outputs: outputs[:1],
    "abs": lambda np, outputs: [np.abs(output) for output in outputs],
    "abs1": lambda np, outputs: outputs[:1] + [np.abs(output) for output in outputs[1:]],
    "reim": lambda np, outputs: [np.stack([np.real(o), np.imag(o)], -1) for o in outputs],
}


def _flat(results):
    if isinstance(results, tuple | list):
        for result in results:
            yield from _flat(result)
    else:
        yield results


@functools.cache
def _spelling(source: str, np, special):
    names = {"np": np, "sp": special}
    if source.startswith("def "):
        exec(source, names)
        return names["spell"]
    return eval(source, names)


@functools.cache
def samples() -> list[Sample]:
    """Return all samples, spelled or not, in the order of the file."""
    table = json.loads((DATA / "opinfo.json").read_text())
    with np.load(DATA / "opinfo.npz") as archive:
        buffers = {kind: archive[kind] for kind in (FLOATS, INTEGERS, BOOLEANS)}

    def arrays(key):
        kind, offset, shape = table["arrays"][key]
        size = int(np.prod(shape, dtype=int))
        return buffers[kind][offset : offset + size].reshape(shape)

    return [
        Sample(number, record, table["ops"][record["op"]], arrays)
        for number, record in enumerate(table["cases"])
    ]


def check(sample: Sample, library: Library, spelling: Any = None) -> None:
    """Raise AssertionError, saying what differs, unless the library gives what PyTorch gave."""
    np, leaves = library.np, sample.leaves
    outputs = functools.partial(sample.outputs, spelling or sample.spelling(library), np)
    expect("output", outputs(leaves), sample.wanted("out"), sample.tolerance)
    if not sample.is_smooth:
        return

    def weighted(*leaves):
        terms = zip(outputs(leaves), sample.wanted("ct"), strict=True)
        return sum((np.sum(out * ct) for out, ct in terms if ct is not None), start=0.0)

    gradients = library.grad(weighted, len(leaves))
    expect("gradient", gradients(*leaves), sample.wanted("vjp"), sample.tolerance)
    if not sample.has("hvp"):
        return

    def directional(*leaves):
        terms = zip(gradients(*leaves), sample.wanted("dir"), strict=True)
        return sum((np.sum(gradient * tangent) for gradient, tangent in terms), start=0.0)

    second = library.grad(directional, len(leaves))(*leaves)
    expect("second derivative", second, sample.wanted("hvp"), 10 * max(sample.tolerance, 1e-8))


def expect(what: str, got, want, tolerance: float) -> None:
    """Raise AssertionError unless the arrays agree relative to the largest number expected."""
    for position, (array, wanted) in enumerate(zip(got, want, strict=True)):
        if wanted is None:
            continue
        array = np.asarray(array)
        assert array.shape == wanted.shape, f"{what} {position}: {array.shape} != {wanted.shape}"
        scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
        error = float(np.max(np.abs(array - wanted), initial=0.0)) / scale
        assert error <= tolerance, f"{what} {position}: error {error:.1e}"
