"""SciPy's distributions on traced values: `scipy.stats.norm.logpdf(x, loc, scale)` and its kin.

SciPy's own methods sort their arguments by conditions on the numbers, which a trace cannot follow.
A distribution's standard form, `_logpdf` and the like, is plain array code; around it stand
location, scale and support, here as selections.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagrad.ops.define import FUNCTIONS, UFUNCS, implements_scipy

# Method -> (value below the support, value above it, how the scale enters).
_CONTINUOUS: dict[str, tuple[float, float, str]] = {
    "pdf": (0.0, 0.0, "density"),
    "logpdf": (-np.inf, -np.inf, "log density"),
    "cdf": (0.0, 1.0, "probability"),
    "logcdf": (-np.inf, 0.0, "probability"),
    "sf": (1.0, 0.0, "probability"),
    "logsf": (0.0, -np.inf, "probability"),
}
_DISCRETE: dict[str, tuple[float, float]] = {
    "pmf": (0.0, 0.0),
    "logpmf": (-np.inf, -np.inf),
    "cdf": (0.0, 1.0),
    "logcdf": (-np.inf, 0.0),
    "sf": (1.0, 0.0),
    "logsf": (0.0, -np.inf),
}


def _where(condition: Any, x: Any, y: Any) -> Any:
    return FUNCTIONS[np.where](condition, x, y)


def _supported(value: Any, y: Any, support: tuple[Any, Any], outside: tuple[float, float]) -> Any:
    """Return `value` where y lies in the support, the given constants below and above it."""
    low, high = support
    value = _where(UFUNCS["less"](y, low), outside[0], value)
    return _where(UFUNCS["greater"](y, high), outside[1], value)


def _continuous(name: str) -> Callable[..., Any]:
    below, above, scaling = _CONTINUOUS[name]

    def method(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        shapes, loc, scale = self._parse_args(*args, **kwds)
        y = (x - loc) / scale
        value = getattr(self, f"_{name}")(y, *shapes)
        if scaling == "density":
            value = value / scale
        elif scaling == "log density":
            value = value - UFUNCS["log"](scale)
        value = _supported(value, y, self._get_support(*shapes), (below, above))
        return _where(UFUNCS["greater"](scale, 0), value, np.nan)

    return method


def _discrete(name: str) -> Callable[..., Any]:
    outside = _DISCRETE[name]

    def method(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
        shapes, loc, _ = self._parse_args(*args, **kwds)
        k = k - loc
        value = getattr(self, f"_{name}")(k, *shapes)
        value = _supported(value, k, self._get_support(*shapes), outside)
        if name in ("pmf", "logpmf"):
            value = _where(UFUNCS["equal"](k, UFUNCS["floor"](k)), value, outside[0])
        return value

    return method


def _ppf(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = self._parse_args(*args, **kwds)
    return self._ppf(q, *shapes) * scale + loc


@implements_scipy("scipy._lib.array_api_extra._lib._funcs.apply_where")
def apply_where(
    cond: Any, args: Any, f1: Any, f2: Any = None, /, *, fill_value: Any = None, xp: Any = None
) -> Any:
    """Compute `f1` where the condition holds, `f2` or a fill value elsewhere, as SciPy does."""
    args = args if isinstance(args, tuple | list) else (args,)
    return _where(cond, f1(*args), fill_value if f2 is None else f2(*args))


for _name in _CONTINUOUS:
    implements_scipy(f"scipy.stats.rv_continuous.{_name}")(_continuous(_name))
for _name in _DISCRETE:
    implements_scipy(f"scipy.stats.rv_discrete.{_name}")(_discrete(_name))
implements_scipy("scipy.stats.rv_continuous.ppf")(_ppf)
