"""Large values are let go of once nothing reads them, and only if they have a name to let go of."""

import numpy as np

import stagrad


def test_a_large_value_written_inside_an_expression_is_not_released():
    def f(x, w):
        y = np.transpose(np.reshape(x @ w, (4, -1, 64)), (2, 0, 1)) + 1.0
        return np.max(np.sin(y), axis=1) * 2.0

    x, w = np.ones((4096, 64)), np.linspace(0.0, 1.0, 64 * 64).reshape(64, 64)
    compiled = stagrad.compile(f)
    assert "del " in compiled.lower(x, w).source
    np.testing.assert_allclose(compiled(x, w), f(x, w))
