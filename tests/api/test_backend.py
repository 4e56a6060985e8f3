"""The target of a program: what is asked for, what the machine has, what the program needs."""

import numpy as np
import pytest

import stagrad
from stagrad.api import backend
from stagrad.errors import CompilerError, UnsupportedError


def double(x):
    return np.sum(2 * x)


@pytest.fixture
def unheard():
    backend.warn_once.cache_clear()
    yield
    backend.warn_once.cache_clear()


def lowered(asked, dtype="f64"):
    return stagrad.compile(double, backend=asked).lower(stagrad.aval(f"{dtype}[3]"))


def test_an_unknown_backend_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"'fortran'.*'auto', 'c', 'numpy'"):
        stagrad.compile(double, backend="fortran")


def test_the_environment_decides_what_auto_means(monkeypatch):
    monkeypatch.setenv("STAGRAD_BACKEND", "numpy")
    assert lowered("auto").backend == "numpy"
    monkeypatch.setenv("STAGRAD_BACKEND", "pascal")
    with pytest.raises(ValueError, match="pascal"):
        _ = lowered("auto").backend


@pytest.mark.compiler
def test_auto_is_c_where_there_is_a_compiler(monkeypatch):
    monkeypatch.setenv("STAGRAD_BACKEND", "auto")
    assert lowered("auto").backend == "c"
    assert lowered("auto").to("numpy").backend == "numpy"
    assert stagrad.compile(double)(np.ones(3)) == 6.0


@pytest.mark.compiler
def test_a_dtype_that_c_lacks_goes_to_numpy_unless_c_was_asked_for(monkeypatch):
    monkeypatch.setenv("STAGRAD_BACKEND", "auto")
    x = np.ones(3, np.longdouble)
    assert stagrad.compile(double).lower(x).backend == "numpy"
    with pytest.raises(UnsupportedError, match=r"backend 'c' does not compute with"):
        stagrad.compile(double, backend="c")(x)


def test_without_a_compiler_auto_warns_once_and_is_numpy(monkeypatch, unheard):
    monkeypatch.setenv("STAGRAD_BACKEND", "auto")
    monkeypatch.setattr(backend, "native_complaint", lambda: "there is no compiler")
    with pytest.warns(RuntimeWarning, match=r"to NumPy.*there is no compiler"):
        assert lowered("auto").backend == "numpy"
    assert lowered("auto").backend == "numpy"
    with pytest.raises(UnsupportedError, match="there is no compiler"):
        _ = lowered("c").backend


@pytest.mark.compiler
def test_a_compiler_that_fails_is_reported_once_and_numpy_runs(monkeypatch, unheard):
    monkeypatch.setenv("STAGRAD_BACKEND", "auto")

    def fail(program):
        raise CompilerError("it ran out of memory")

    monkeypatch.setattr("stagrad.api.lowering.load_native", fail)
    with pytest.warns(RuntimeWarning, match="out of memory"):
        assert stagrad.compile(double)(np.ones(3)) == 6.0
    with pytest.raises(CompilerError):
        stagrad.compile(double, backend="c")(np.ones(3))
