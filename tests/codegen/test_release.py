"""Large values are let go of once nothing reads them, and only if they have a name to let go of."""

import numpy as np

import stagrad


def test_a_large_value_written_inside_an_expression_is_not_released():
    def f(x, w):
        y = np.transpose(np.reshape(x @ w, (64, 64, 64)), (2, 0, 1)) + 1.0
        z = np.cumsum(y, axis=0)
        return np.cumsum(z, axis=1)

    x, w = np.ones((4096, 64)), np.linspace(0.0, 1.0, 64 * 64).reshape(64, 64)
    compiled = stagrad.compile(f)
    source = compiled.lower(x, w).source
    assert "np.reshape(x @ w" in source
    assert "del " in source
    np.testing.assert_allclose(compiled(x, w), f(x, w))
