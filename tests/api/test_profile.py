"""`stagrad.profile` names every step of a program and says how long it took."""

import numpy as np
import pytest

import stagrad

pytestmark = pytest.mark.compiler


def loss(w, x):
    return np.sum(np.tanh(x @ w) ** 2)


def test_profile_names_each_kernel_with_its_line_and_time():
    w, x = np.ones((30, 20)), np.ones((50, 30))
    result = stagrad.profile(stagrad.grad(loss), w, x)
    names = [operation for item in result.kernels for operation in item.info.operations]
    assert names.count("matmul") == 2
    assert "tanh" in names
    assert all(item.seconds >= 0 for item in result.kernels)
    assert 0 < result.seconds < 10
    text = str(result)
    assert "test_profile.py:12" in text
    assert text.splitlines()[-1].startswith("whole call")


def test_profile_refuses_dtypes_that_c_lacks():
    with pytest.raises(stagrad.errors.UnsupportedError, match=r"longdouble|float128"):
        stagrad.profile(np.sin, np.ones(3, np.longdouble))
