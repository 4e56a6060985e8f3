"""NPBench's NumPy kernels: loops, stores and all, differentiated as they stand.

`data/npbench.npz` holds inputs, outputs, cotangents and the derivatives of sum(cotangent * output)
for 23 kernels. Those marked "complex" come from the complex step, exact to rounding and independent
of any differentiation tool; those marked "fd" from a Richardson-extrapolated central difference,
where a kernel is not analytic. Large inputs have directional derivatives instead ("dir").
"""

import json
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy

from tests.cases import DATA
from tests.cases.library import Library
from tests.cases.outside.outcome import Outcome, attempt, expect_close

TOLERANCES = {"complex": 1e-9, "fd": 1e-5}


class InDoublePrecision:
    """A NumPy namespace whose float32 is float64, for kernels that hard-code float32 buffers."""

    def __init__(self, base: Any):
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, "float64" if name == "float32" else name)


def run(library: Library, tree: Path) -> Iterator[Outcome]:
    """Differentiate each kernel of the tree that has recorded derivatives."""
    kernels = json.loads((DATA / "npbench.json").read_text())["kernels"]
    with numpy.load(DATA / "npbench.npz") as numbers:
        for name, record in kernels.items():
            info = json.loads((tree / "bench_info" / f"{name}.json").read_text())["benchmark"]
            yield attempt(name, check, name, record, info, numbers, library, tree)


def check(name, record, info, numbers, library, tree) -> None:
    """Raise AssertionError unless value and derivatives of one kernel are as recorded."""
    kernel = load_kernel(tree, info, library.np)
    arguments = {
        key: numbers[f"{name}/{key}"] if value == "array" else value
        for key, value in record["args"].items()
    }
    used = [position for position, counts in enumerate(record["outs"]) if counts]
    cotangents = {position: numbers[f"{name}/ct{position}"] for position in used}
    inputs = list(record["inputs"])

    def weighted(*values):
        fresh = {
            key: value.copy() if hasattr(value, "copy") else value
            for key, value in {**arguments, **dict(zip(inputs, values, strict=True))}.items()
        }
        outputs = outputs_of(kernel, info, fresh)
        terms = [library.np.sum(outputs[at] * cotangent) for at, cotangent in cotangents.items()]
        return sum(terms, start=0.0)

    values = [arguments[key] for key in inputs]
    want = sum(numpy.sum(cotangents[at] * numbers[f"{name}/out{at}"]) for at in used)
    expect_close("value", weighted(*values), want, 1e-9)
    gradients = library.grad(weighted, len(values))(*values)
    for key, gradient in zip(inputs, gradients, strict=True):
        details = record["inputs"][key]
        if details["kind"] == "full":
            got, want = gradient, numbers[f"{name}/grad/{key}"]
        else:
            directions, want = (
                numbers[f"{name}/dir/{key}"].astype(float),
                numbers[f"{name}/dd/{key}"],
            )
            got = [numpy.sum(gradient * direction) for direction in directions]
        expect_close(f"d/d{key}", got, want, TOLERANCES[details["how"]])


def load_kernel(tree: Path, info: dict[str, Any], np: Any) -> Any:
    """Execute a kernel's module and give it the library's NumPy under the names it uses."""
    folder = tree / "npbench/benchmarks" / info["relative_path"]
    path = folder / f"{info['module_name']}_numpy.py"
    module = types.ModuleType(info["module_name"])
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    for name, value in list(vars(module).items()):
        if value is numpy:
            setattr(module, name, InDoublePrecision(np))
    return getattr(module, info["func_name"])


def outputs_of(kernel, info, arguments) -> list[Any]:
    """Call a kernel; return the arguments it writes its results to, and what it returns."""
    returned = kernel(*(arguments[name] for name in info["input_args"]))
    outputs = [arguments[name] for name in info["output_args"] if name in arguments]
    if returned is not None:
        return outputs + (list(returned) if isinstance(returned, tuple | list) else [returned])
    return outputs or [arguments[name] for name in info["array_args"]]
