"""The C text of elementwise records, compiled and held against their Python text."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

import stagrad
from stagrad.errors import DTypeError
from stagrad.ir import PRIMITIVES, Kind
from tests.op_cases.compare import difference
from tests.op_cases.points import BOOLS, INTEGERS, SPECIAL

pytestmark = [
    pytest.mark.compiler,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

# What a record with params is called with; the printer itself makes casts.
PARAMS = {
    "round": {"decimals": 2},
    "integer_power": {"exponent": 3},
    "astype": None,
    "sinc": {"order": 0},
    "exprel": {"order": 0},
}
# C's own function and SciPy's differ far from where anybody uses them.
DOMAINS = {
    "gammaln": lambda x: ~(x < -100) & ~(abs(x) < 1e-300),
    **dict.fromkeys(("j0", "j1", "y0", "y1"), lambda x: ~((abs(x) > 1e9) & np.isfinite(x))),
}
HEADERS = Path(stagrad.__file__).parent / "codegen" / "c" / "include"
SMOOTH = np.linspace(-3.1, 3.3, 23)
COMPLEX = (SMOOTH[:, None] + 1j * SMOOTH[::3]).ravel()
VALUES = {
    "f": np.concatenate([SPECIAL, SMOOTH]),
    "i": INTEGERS,
    "u": np.array([0, 1, 2, 3, 100, 255], np.uint8),
    "b": BOOLS,
    "c": COMPLEX,
}
TYPES = {"f8": "double", "f4": "float", "i8": "int64_t", "i4": "int32_t", "u1": "uint8_t",
         "b1": "bool", "c16": "double _Complex", "i1": "int8_t"}  # fmt: skip
HEADER = '#include "stagrad.h"\n'


def examples():
    """Yield every elementwise record with C text, and the operand dtypes to try it with."""
    for record in PRIMITIVES.values():
        params = PARAMS.get(record.name, {})
        if record.kind is not Kind.ELEMENTWISE or params is None or record.c is None:
            continue
        seen = set()
        for kind in record.dtypes:
            try:
                dtypes, result = record.loop((VALUES[kind].dtype,) * len(record.vjps))
            except DTypeError:
                continue
            text = record.c_template(dtypes[0].kind, params)
            known = all(dtype.str[1:] in TYPES for dtype in (*dtypes, result))
            if text is not None and known and dtypes not in seen:
                seen.add(dtypes)
                yield record, dtypes, result, params, text


EXAMPLES = list(examples())


def operands_of(dtypes):
    """Return every combination of awkward values of these dtypes."""
    values = [VALUES[dtype.kind][:: 1 if len(dtypes) < 3 else 5] for dtype in dtypes]
    return tuple(
        np.ascontiguousarray(grid.ravel(), dtype)
        for grid, dtype in zip(np.meshgrid(*values, indexing="ij"), dtypes, strict=True)
    )


def function_text(number, dtypes, result, text):
    names = [TYPES[dtype.str[1:]] for dtype in dtypes]
    arguments = "".join(f", const {name} *a{place}" for place, name in enumerate(names))
    loads = "".join(f"const {name} x{place} = a{place}[i]; " for place, name in enumerate(names))
    expression = text.format(*(f"x{place}" for place in range(len(names))))
    return (
        f"void f{number}(long n{arguments}, {TYPES[result.str[1:]]} *out) {{\n"
        f"  for (long i = 0; i < n; i++) {{ {loads}out[i] = {expression}; }}\n}}\n"
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    source = HEADER + "".join(
        function_text(number, dtypes, result, text)
        for number, (_, dtypes, result, _, text) in enumerate(EXAMPLES)
    )
    (folder / "ops.c").write_text(source)
    flags = ["-std=gnu11", "-O1", "-fwrapv", "-fno-math-errno", "-ffp-contract=off", f"-I{HEADERS}"]
    command = ["cc", *flags, "-shared", "-fPIC", "ops.c", "-lm", "-o", "ops.so"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return ctypes.CDLL(str(folder / "ops.so"))


@pytest.mark.parametrize(
    "number",
    range(len(EXAMPLES)),
    ids=[f"{record.name}-{','.join(map(str, dtypes))}" for record, dtypes, *_ in EXAMPLES],
)
def test_c_text_means_what_the_python_text_means(library, number):
    record, dtypes, result, params, _ = EXAMPLES[number]
    operands = operands_of(dtypes)
    want = np.asarray(record.evaluate(operands, params))
    got = np.empty(want.shape, result)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*operands, got)]
    getattr(library, f"f{number}")(ctypes.c_long(want.size), *pointers)
    if record.name in DOMAINS:
        inside = DOMAINS[record.name](*operands)
        got, want = got[inside], want[inside]
    is_complex = dtypes[0].kind == "c"  # processors differ in fusing the products of parts
    atol = 1e-11 if is_complex else 1e-300
    complaint = difference(got, want, rtol=1e-13, atol=atol, signs=not is_complex)
    assert not complaint
