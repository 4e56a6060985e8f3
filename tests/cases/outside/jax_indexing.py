"""JAX's tables of index expressions, read (`x[i]`) and stored through (`y[i] = v`).

Only the literal tables are evaluated. What is right comes from NumPy: the value is `x[i]`, and the
cotangent of x is the cotangent of `x[i]` added up by `np.add.at`. Every other entry is used.
"""

import ast
import collections
import typing
from collections.abc import Iterator
from pathlib import Path

import numpy

from tests.cases.library import Library
from tests.cases.outside.outcome import Outcome, attempt, expect_close

IndexSpec = collections.namedtuple("IndexSpec", "shape indexer out_shape", defaults=[None])
TABLES = "tests/lax_numpy_indexing_test.py"


def run_reads(library: Library, tree: Path) -> Iterator[Outcome]:
    """Differentiate `x[i]`."""
    return _run(library, tree, check_read)


def run_stores(library: Library, tree: Path) -> Iterator[Outcome]:
    """Differentiate `y[i] = v`, for indices that name no place twice."""
    return _run(library, tree, check_store)


def _run(library, tree, check):
    number = 0
    for name, shape, indexer in entries(tree):
        random = numpy.random.default_rng(number)
        x = random.standard_normal(shape)
        hits = numpy.zeros(shape)
        try:
            numpy.add.at(hits, indexer, 1.0)
        except IndexError:  # an index that JAX accepts and NumPy does not
            continue
        if check is check_store and hits.size and hits.max() > 1:
            continue
        number += 1
        yield attempt(f"{name} {shape} {indexer}", check, x, indexer, random, library)


def check_read(x, indexer, random, library) -> None:
    """Raise AssertionError unless the gradient of a read is right."""
    cotangent = random.standard_normal(x[indexer].shape)
    want = numpy.zeros(x.shape)
    numpy.add.at(want, indexer, cotangent)
    (gradient,) = library.grad(lambda t: library.np.sum(t[indexer] * cotangent), 1)(x)
    expect_close("gradient", gradient, want, 1e-12)


def check_store(x, indexer, random, library) -> None:
    """Raise AssertionError unless both gradients of a store are right."""
    value, cotangent = random.standard_normal(x[indexer].shape), random.standard_normal(x.shape)

    def store(t, v):
        copy = t.copy()
        copy[indexer] = v
        return library.np.sum(copy * cotangent)

    of_array, of_value = library.grad(store, 2)(x, value)
    kept = cotangent.copy()
    kept[indexer] = 0.0
    expect_close("gradient of the array", of_array, kept, 1e-12)
    expect_close("gradient of the value", of_value, cotangent[indexer], 1e-12)


def entries(tree: Path) -> list[tuple[str, tuple[int, ...], typing.Any]]:
    """Return every other distinct entry of the tables: name, shape, index."""
    found = {}
    for name, spec in _specs((tree / TABLES).read_text()):
        found.setdefault(repr((spec.shape, spec.indexer)), (name, spec.shape, spec.indexer))
    return [(name, shape, _as_numpy(indexer)) for name, shape, indexer in list(found.values())[::2]]


def _specs(source: str) -> Iterator[tuple[str, IndexSpec]]:
    names = {"np": numpy, "IndexSpec": IndexSpec, "typing": typing}
    for statement in ast.parse(source).body:
        if not isinstance(statement, ast.Assign):
            continue
        target = ast.unparse(statement.targets[0])
        if not target.endswith("_TESTS"):
            continue
        try:
            rows = eval(compile(ast.Expression(statement.value), TABLES, "eval"), dict(names))
        except NameError:  # a table of other tests, made of JAX's own objects
            continue
        names[target] = rows
        for title, specs in (row[:2] for row in rows):
            specs = [specs] if isinstance(specs, IndexSpec) else specs
            entries = specs if isinstance(specs, list | tuple) else []
            yield from ((f"{target}/{title}", s) for s in entries if isinstance(s, IndexSpec))


def _as_numpy(indexer):
    """Write the lists that JAX's tables use for index arrays as arrays."""
    if isinstance(indexer, list):
        return numpy.array(indexer, dtype=None if indexer else int)
    if isinstance(indexer, tuple):
        return tuple(_as_numpy(part) if isinstance(part, list) else part for part in indexer)
    return indexer
