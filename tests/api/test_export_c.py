"""Exported C files compile without a warning, alone, and give what NumPy gives."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import scipy.special

import stagrad
from stagrad.errors import UnsupportedError

COMPILER = shutil.which("cc") or shutil.which("gcc") or "cc"
STRICT = ["-Wall", "-Wextra", "-Werror", "-O1"]
# Integers wrap around and complex infinities multiply as NumPy's do.
FLAGS = ["-fwrapv", "-fcx-fortran-rules"]
SANITIZED = [*FLAGS, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

R = np.random.default_rng(4)
X = R.normal(size=(7, 5))
V = R.normal(size=40)
I = np.arange(-6, 6).reshape(3, 4)  # noqa: E741
B = V > 0
Z = X + 1j * X[::-1]
WEIGHTS = {"first": R.normal(size=(5, 70)), "second": [R.normal(size=(70, 3)), R.normal(size=3)]}
PLACES = np.array([0, 6, -1, 2, 2])
TABLE = R.normal(size=(4, 5))


def built(folder, source, test, *flags):
    """Compile an exported file and its test, and return what the test said."""
    command = [COMPILER, "-std=gnu11", *STRICT, *flags, source.name, test.name, "-o", "run"]
    done = subprocess.run(
        [*command, "-lm"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return subprocess.run(["./run"], cwd=folder, capture_output=True, text=True, check=False)


def run_exported(folder, function, *args, flags=SANITIZED, **options):
    """Export a function to C and hold it to its own test program."""
    path = stagrad.export(function, *args, path=folder / "f.c", **options)
    done = built(folder, path, folder / "f_test.c", *flags)
    assert (done.stdout, done.stderr, done.returncode) == ("ok\n", "", 0)
    return path.read_text(encoding="utf-8")


def mlp(weights, x):
    hidden = np.tanh(x @ weights["first"])
    return hidden @ weights["second"][0] + weights["second"][1]


def loss(weights, x):
    return -np.mean(np.log(softmax(mlp(weights, x)))[:, 0])


def softmax(x):
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def attention(q, k, v):
    return softmax((q @ k.T) / 2.5) @ v


class Pair(NamedTuple):
    low: np.ndarray
    high: np.ndarray


@dataclass
class Line:
    slope: float
    offset: np.ndarray


def half(x):
    return np.sqrt(np.abs(x)).astype(np.float16) * np.float16(0.3)


def doubled_in_place(x, scale):
    x *= scale
    x[1:3] += 1
    return np.sum(x)


def hypotenuse(x):
    return np.hypot(x[1:], x[:-1]) + x[1:] * x[:-1]


FUNCTIONS = {
    "elementwise": (lambda x: np.exp(-(x**2)) * np.sin(3.7 * x) + np.arctan2(x, 1.3), V),
    "special": (lambda x: scipy.special.erf(x) + scipy.special.expit(x), V),
    "captured": (lambda x: x * TABLE[2] + TABLE.sum(axis=0), X),
    "scalars": (lambda a, b, x: a * x + b, 0.5, np.float32(2.5), V),
    "reductions": (lambda x: (x.sum(), x.mean(axis=0), x.max(axis=1), x.min(), x.prod()), X),
    "variance": (lambda x: (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1)[:, None], X),
    "softmax": (softmax, X),
    "mlp": (mlp, WEIGHTS, X),
    "attention": (attention, X, X[::-1].copy(), X * 2),
    "products": (lambda a, b: (a @ b, b.T @ a.T, a @ b[:, 0], a[0] @ b), X, R.normal(size=(5, 9))),
    "stacks": (np.matmul, R.normal(size=(2, 3, 4, 66)), R.normal(size=(3, 66, 67))),
    "no depth": (np.matmul, np.zeros((2, 0)), np.zeros((0, 3))),
    "slices": (lambda x: x[1:, ::2] - x[:-1, 1:4], X),
    "stencil": (hypotenuse, V),
    "joined": (lambda x, y: np.concatenate([x.T, y], axis=1)[::-1], X, R.normal(size=(5, 2))),
    "positions": (lambda t, i: (t[i], t[:, i % 5], t[i, 2], np.argmax(t, axis=0)), X, PLACES),
    "running": (lambda x: (np.cumsum(x, axis=0), np.cumprod(x, axis=1)), X),
    "integers": (lambda i: (i * i * 3000000019, i // 3, i % 5, i << 2, i.sum(axis=0)), I),
    "overflow": (lambda i: i * i + i, np.array([2**62 + 3, -(2**63), 2**63 - 1])),
    "narrow": (lambda i: (i + i, ~i, i > 3), np.array([1, 100, 250], np.uint8)),
    "bools": (lambda b, x: (b & (x < 1), ~b, np.where(b, x, -x), b.any(), b.sum()), B, V),
    "complex": (lambda z: (z * z.conj() + np.exp(z), z @ z.T, abs(z), z.real), Z),
    "float32": (lambda x: np.log1p(np.exp(x)) / np.float32(3), V.astype(np.float32)),
    "float32 product": (lambda x: np.tanh(x @ x.T), X.astype(np.float32)),
    "complex64": (lambda z: z @ z.T * np.complex64(2j), Z.astype(np.complex64)),
    "float16": (half, V),
    "not finite": (lambda x: (x + 1, x * 0, np.maximum(x, 2)), np.array([np.inf, np.nan, -0.0])),
    "complex infinities": (lambda z: z * z, np.array([complex(1, np.inf), complex(np.inf, 1)])),
    "integer extrema": (lambda i: np.fmax.reduce(i, axis=1), I),
    "empty": (lambda x: (x * 2, x.sum()), np.zeros((0, 3))),
    "containers": (lambda p: Pair(p.low * 2, {"k": p.high}), Pair(X, V)),
    "dataclass": (lambda line: line.slope * line.offset, Line(2.0, V)),
    "unused": (lambda x, unused: x + 1, V, X),
    "fixed": (lambda x, words: (x * 2, words, None), V, "words"),
    "same": (lambda x: (x, x), V),
    "changed": (doubled_in_place, V[:8].copy(), 1.5),
    "names": (lambda double, index, n, c: double + index * n - c, X, X, X, 2.0),
}  # fmt: skip

GRADIENTS = {
    "elementwise": (lambda x: np.sum(np.exp(-(x**2)) * np.sin(x)), V),
    "loss": (loss, WEIGHTS, X),
    "attention": (lambda q, k, v: np.sum(attention(q, k, v) ** 2), X, X + 1, X * 2),
    "slices": (lambda x: np.sum((x[1:] - x[:-1]) ** 2 * x[::-1][1:]), V),
    "positions": (lambda t, i: np.sum(np.cumsum(t[i] ** 2, axis=0)), X, PLACES),
    "maximum": (lambda x: np.max(x, axis=0).sum() + np.sum(np.maximum(x, 0.1)), X),
    "variance": (lambda x: np.sum(np.var(x, axis=0) ** 2), X),
    "float32": (lambda x: np.sum(np.sqrt(x * x + 1)), V.astype(np.float32)),
    "float32 inside": (lambda x: np.exp(np.sum(x * 3, dtype=np.float32)) / 7, np.abs(X[0])),
    "complex": (lambda z: np.sum(np.abs(np.exp(z) @ z.T) ** 2), Z),
}


@pytest.mark.compiler
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gives_in_c_what_numpy_gives(tmp_path, name):
    run_exported(tmp_path, *FUNCTIONS[name])


@pytest.mark.compiler
@pytest.mark.parametrize("name", GRADIENTS)
def test_a_gradient_gives_in_c_what_numpy_gives(tmp_path, name):
    run_exported(tmp_path, *GRADIENTS[name], grad=0)


@pytest.mark.compiler
def test_the_command_in_the_header_compiles(tmp_path):
    text = run_exported(tmp_path, loss, WEIGHTS, X, grad=(0, 1))
    header = (tmp_path / "f.h").read_text(encoding="utf-8")
    command = re.search(r"cc (-std=gnu11 .*) -c f\.c", header)
    assert command is not None
    done = built(tmp_path, tmp_path / "f.c", tmp_path / "f_test.c", *command[1].split())
    assert done.stdout == "ok\n"
    assert "Python" not in text
    assert "rt->symbols" not in text
    assert re.findall("SG_(?:PYTHON|PRODUCT|CUMULATE)", text) == [], "only what it needs"
    inline = re.findall(r"^static inline .*?(\w+)\(", text, re.MULTILINE)
    assert [name for name in inline if len(re.findall(rf"\b{name}\(", text)) < 2] == []


@pytest.mark.compiler
def test_an_index_outside_of_its_array_is_a_failure(tmp_path):
    path = stagrad.export(lambda t, i: t[i] * 2, X, PLACES, path=tmp_path / "f.c")
    test = tmp_path / "f_test.c"
    given = test.read_text(encoding="utf-8")
    assert "{0, 6, -1, 2, 2}" in given
    test.write_text(given.replace("{0, 6, -1, 2, 2}", "{0, 7, -1, 2, 2}"), encoding="utf-8")
    done = built(tmp_path, path, test, *SANITIZED)
    assert (done.stdout, done.stderr, done.returncode) == ("failed\n", "", 1)


@pytest.mark.compiler
def test_a_test_program_notices_a_wrong_number(tmp_path):
    path = stagrad.export(loss, WEIGHTS, X, path=tmp_path / "f.c", grad=0)
    text = path.read_text(encoding="utf-8")
    assert " = tanh(" in text
    path.write_text(text.replace(" = tanh(", " = 1e-7 + tanh("), encoding="utf-8")
    done = built(tmp_path, path, tmp_path / "f_test.c")
    assert done.returncode == 1
    assert re.match(r"result_0, element 0: \S+, not \S+\n$", done.stdout)


# What the exported file needs of BLAS, as its reference has it.
BLAS = """
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b,
            const int *ldb, const double *beta, double *c, const int *ldc)
{
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *m; i++) {
            double sum = 0;
            for (int l = 0; l < *k; l++)
                sum += (*ta == 'N' ? a[i + l * *lda] : a[l + i * *lda])
                       * (*tb == 'N' ? b[l + j * *ldb] : b[j + l * *ldb]);
            c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
        }
}

void dgemv_(const char *t, const int *m, const int *n, const double *alpha, const double *a,
            const int *lda, const double *x, const int *by, const double *beta, double *y,
            const int *step)
{
    for (int i = 0; i < (*t == 'N' ? *m : *n); i++) {
        double sum = 0;
        for (int l = 0; l < (*t == 'N' ? *n : *m); l++)
            sum += (*t == 'N' ? a[i + l * *lda] : a[l + i * *lda]) * x[l * *by];
        y[i * *step] = *alpha * sum + (*beta == 0 ? 0 : *beta * y[i * *step]);
    }
}
"""


@pytest.mark.compiler
def test_products_call_blas_where_it_is_asked_for(tmp_path):
    (tmp_path / "blas.c").write_text(BLAS, encoding="utf-8")
    x, flags = R.normal(size=(30, 50)), [*SANITIZED, "blas.c"]
    text = run_exported(
        tmp_path, lambda x: (x @ x.T, x[:, 3] @ x, x @ x[4]), x, flags=flags, blas=True
    )
    assert "extern sg_gemm_double dgemm_;" in text
    assert "sg_product_complex_double" not in text


def test_the_header_says_what_the_pointers_are(tmp_path):
    stagrad.export(loss, WEIGHTS, X, path=tmp_path / "f.c", grad=0)
    header = (tmp_path / "f.h").read_text(encoding="utf-8")
    assert "/* grad_loss: exported by stagrad from loss (test_export_c.py:" in header
    assert re.search(
        r"const double \*weights_first, +/\* weights\['first'\]: float64 \(5, 70\)", header
    )
    assert re.search(r"double \*result_0, +/\* float64 \(5, 70\) \*/", header)
    assert "returns {'first': result_0, 'second': [result_1, result_2]}." in header


def test_avals_give_a_file_without_a_test(tmp_path):
    stagrad.export(np.sin, stagrad.aval("f64[3]"), path=tmp_path / "f.c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.c", "f.h"]


def spectrum(x):
    y = x * 2
    return np.abs(np.fft.fft(y)) ** 2


@pytest.mark.parametrize("grad", [None, 0])
def test_what_only_python_runs_is_refused_with_the_line(tmp_path, grad):
    line = spectrum.__code__.co_firstlineno + 2
    function = spectrum if grad is None else lambda x: np.sum(spectrum(x))
    with pytest.raises(UnsupportedError, match=rf"fft.*test_export_c.py:{line}\).*no form in C"):
        stagrad.export(function, V, path=tmp_path / "f.c", grad=grad)
    assert list(tmp_path.iterdir()) == []


def test_dtypes_that_c_lacks_are_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="C has no"):
        stagrad.export(np.sin, np.ones(3, np.longdouble), path=tmp_path / "f.c")


def test_blas_is_for_c(tmp_path):
    with pytest.raises(ValueError, match=r"named \.c, and not for f\.py"):
        stagrad.export(np.sin, V, path=tmp_path / "f.py", blas=True)
