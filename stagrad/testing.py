"""Checking derivatives against differences of the function itself."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from stagrad.api.jvp import jvp
from stagrad.api.vjp import vjp
from stagrad.trace.trees import flatten, unflatten

Leaves = tuple[np.ndarray, ...]

MODES = ("forward", "reverse")

# Half-widths of the two central differences that are extrapolated: their error is of the order of
# STEP**4, the rounding error of 1e-16 / STEP.
STEP = 2e-4


def check_grads(
    fn: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Iterable[str] = MODES,
    rtol: float = 1e-5,
    seed: int = 0,
) -> None:
    """Check the derivatives of `fn(*args)` against differences of its values, up to an order.

    Every float and complex leaf of `args` is differentiated, in double precision. Along one random
    direction v, and for one random weight u of the results, three numbers must agree: the change of
    <u, fn> by central differences, <u, jvp(v)> ("forward") and <vjp(u), v> ("reverse"). Beyond the
    first order the derivative just checked is itself put to the same test, with v, or u, as further
    arguments.

    One direction is enough. Both sides are linear in v and in u, so a rule that is wrong anywhere
    makes their difference a linear function that is not zero; it vanishes for a random v and u with
    probability zero, whatever the number of elements. What one direction cannot show is an error
    smaller than `rtol` of the whole, or an error at a point that `args` does not touch.

    For complex leaves <a, b> is Re(sum conj(a) b), by which the gradient of a real value L is
    dL/dRe + i dL/dIm. The function must be smooth near `args`: a kink closer than about 1e-3 shows
    as an error.

    Raises AssertionError naming the order, the mode and both numbers; ValueError for a mode that
    does not exist or arguments that hold nothing to differentiate.

    >>> import numpy as np
    >>> from stagrad.testing import check_grads
    >>> check_grads(lambda x: np.sin(x) * x[0], (np.array([0.5, 2.0]),))
    """
    modes = tuple(modes)
    if not modes or not set(modes) <= set(MODES):
        raise ValueError(f"check_grads: modes={modes!r}; choose among {MODES}")
    function, leaves = _flat(fn, tuple(args))
    _check(function, leaves, order, modes, rtol, np.random.default_rng(seed), "")


def _flat(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Callable[..., Leaves], Leaves]:
    """Return `fn` as a function from its inexact leaves to its inexact results, and the leaves."""
    given, spec = flatten(args)
    places = [place for place, leaf in enumerate(given) if np.asarray(leaf).dtype.kind in "fc"]
    if not places:
        raise ValueError("check_grads: args hold no float or complex number to differentiate")

    def function(*leaves: Any) -> Leaves:
        merged = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in given]
        for place, leaf in zip(places, leaves, strict=True):
            merged[place] = leaf * 1.0  # fn may write into its arguments
        results, _ = flatten(fn(*unflatten(spec, merged)))
        return tuple(_as_array(result) for result in results if _is_inexact(result))

    return function, tuple(_double(given[place]) for place in places)


def _is_inexact(result: Any) -> bool:
    dtype = getattr(result, "dtype", None)
    return isinstance(result, float | complex) if dtype is None else dtype.kind in "fc"


def _as_array(result: Any) -> Any:
    """Return a result that is no array, and so does not depend on the leaves, as one."""
    return np.asarray(result) if isinstance(result, float | complex | np.generic) else result


def _double(leaf: Any) -> np.ndarray:
    array = np.asarray(leaf)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _check(
    function: Callable[..., Leaves],
    leaves: Leaves,
    order: int,
    modes: tuple[str, ...],
    rtol: float,
    rng: np.random.Generator,
    of: str,
) -> None:
    """Check one order, then the derivative itself for the orders that remain."""
    if order < 1:
        return
    direction = _random_like(leaves, rng)
    results = _numbers(function(*leaves))
    weights = _random_like(results, rng)
    change, noise = _numeric_change(function, leaves, direction)
    found = {"differences": _inner(weights, change)}
    scale = _inner(map(np.abs, weights), [abs(part) for part in change])
    if "forward" in modes:
        found["forward"] = _inner(weights, _numbers(jvp(function, leaves, direction)[1]))
    if "reverse" in modes:
        found["reverse"] = _inner(_numbers(vjp(function, *leaves)[1](weights)), direction)
    _require_agreement(found, max(rtol * scale, noise * rtol), of)
    if order > 1:
        name, derivative, arguments = _derivative(function, leaves, direction, weights, modes)
        _check(derivative, arguments, order - 1, modes, rtol, rng, f"{of}{name} derivative of ")


def _derivative(
    function: Callable[..., Leaves],
    leaves: Leaves,
    direction: Leaves,
    weights: Leaves,
    modes: tuple[str, ...],
) -> tuple[str, Callable[..., Leaves], Leaves]:
    """Return the first derivative as a function that can be checked as `function` was."""
    count = len(leaves)

    def reverse(*arguments: Any) -> Leaves:
        return tuple(vjp(function, *arguments[:count])[1](arguments[count:]))

    def forward(*arguments: Any) -> Leaves:
        return tuple(jvp(function, arguments[:count], arguments[count:])[1])

    if "reverse" in modes:
        return "reverse", reverse, (*leaves, *weights)
    return "forward", forward, (*leaves, *direction)


def _numeric_change(
    function: Callable[..., Leaves], leaves: Leaves, direction: Leaves
) -> tuple[list[np.ndarray], float]:
    """Return the directional derivative by differences, and a size below which it is noise."""

    def central(step: float) -> list[np.ndarray]:
        ahead, behind = (
            _numbers(
                function(*(x + sign * step * v for x, v in zip(leaves, direction, strict=True)))
            )
            for sign in (1.0, -1.0)
        )
        return [(high - low) / (2 * step) for high, low in zip(ahead, behind, strict=True)]

    with np.errstate(all="ignore"):
        pairs = zip(central(STEP), central(STEP / 2), strict=True)
        change = [(4 * fine - coarse) / 3 for coarse, fine in pairs]
        values = _numbers(function(*leaves))
    sizes = (float(np.max(np.abs(value), initial=0.0)) for value in (*leaves, *values))
    return change, 1e-3 * max(sizes)


def _random_like(leaves: Iterable[np.ndarray], rng: np.random.Generator) -> Leaves:
    def draw(leaf: np.ndarray) -> np.ndarray:
        real = rng.uniform(-1.0, 1.0, leaf.shape)
        if leaf.dtype.kind != "c":
            return np.asarray(real)
        return np.asarray(real + 1j * rng.uniform(-1.0, 1.0, leaf.shape))

    return tuple(map(draw, leaves))


def _numbers(results: Iterable[Any]) -> Leaves:
    return tuple(map(_double, results))


def _inner(left: Iterable[np.ndarray], right: Iterable[np.ndarray]) -> float:
    """Return Re(sum conj(a) b) over pairs of arrays."""
    pairs = zip(left, right, strict=True)
    return float(sum(np.sum(np.conj(a) * b).real for a, b in pairs))


def _require_agreement(found: dict[str, float], tolerance: float, of: str) -> None:
    for (name, number), (other, against) in itertools.combinations(found.items(), 2):
        if not abs(number - against) <= tolerance:
            raise AssertionError(
                f"the derivative of {of}the function: {other} gives {against!r}, {name} "
                f"{number!r}; they may differ by {tolerance:.1e}"
            )
