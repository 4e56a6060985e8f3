"""How tensors print: PyTorch's text, character for character.

Numbers get four digits, all of a tensor the same form: integers with a dot, fixed point, or powers
of ten where magnitudes differ by more than a thousand, exceed 1e8 or fall below 1e-4. Tensors of
more than a thousand elements show three at each end of every axis.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stagrad.eager.dtypes import default_dtype, dtype_text


@dataclass(frozen=True)
class Options:
    """What `set_printoptions` sets.

    - precision: digits after the point; threshold: elements from which a tensor is summarised.
    - edgeitems: what a summary shows at each end; linewidth: characters to a line.
    - sci_mode: True or False force powers of ten on or off, None decides by the numbers.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}
_current = {"options": _PROFILES["default"]}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print; what is not given stays, `sci_mode` returns to automatic.

    `profile` is "default", "short" or "full" and sets all the others first.

    >>> import stagrad
    >>> stagrad.set_printoptions(precision=2)
    >>> stagrad.tensor([1.23456])
    tensor([1.23])
    >>> stagrad.set_printoptions(profile="default")
    """
    options = _current["options"]
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(
                f"set_printoptions: profile is one of {', '.join(_PROFILES)}, got {profile!r}"
            )
        options = _PROFILES[profile]
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems,
        "linewidth": linewidth,
    }  # fmt: skip
    changes: Any = {name: value for name, value in given.items() if value is not None}
    _current["options"] = replace(options, sci_mode=sci_mode, **changes)


def tensor_text(tensor: Any) -> str:
    """Return a tensor as text: its numbers, its dtype if unusual, and where it came from."""
    options, array = _current["options"], tensor._array
    opening = "tensor("
    suffixes = []
    default = default_dtype()
    if not array.size:
        numbers = "[]"
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        usual: tuple[np.dtype, ...] = (default,)
    else:
        numbers = _numbers(array, len(opening), options)
        pair = np.result_type(default, np.complex64)
        usual = (default, pair, np.dtype(np.int64), np.dtype(np.bool_))
    if array.dtype not in usual:
        suffixes.append(f"dtype={dtype_text(array.dtype)}")
    node = tensor.grad_fn
    if node is not None:
        suffixes.append(f"grad_fn=<{node.label}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return _with_suffixes(opening + numbers, suffixes, len(opening), options.linewidth)


def _with_suffixes(text: str, suffixes: list[str], indent: int, linewidth: int) -> str:
    """Return the text with its suffixes, each on the last line if it fits there."""
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"


def _numbers(array: np.ndarray, indent: int, options: Options) -> str:
    is_summary = array.size > options.threshold
    shown = _summary(array, options.edgeitems) if is_summary else array
    if array.dtype.kind == "c":
        parts = [_Formatter(shown.real, options), _Formatter(shown.imag, options)]
    else:
        parts = [_Formatter(shown, options)]
    return _nested(array, indent, parts, options, is_summary)


def _summary(array: np.ndarray, edge: int) -> np.ndarray:
    """Return the elements that a summary shows."""
    for axis, extent in enumerate(array.shape):
        if extent > 2 * edge:
            places = [*range(edge), *range(extent - edge, extent)]
            array = np.take(array, places, axis)
    return array


class _Formatter:
    """One form for all numbers of a tensor."""

    def __init__(self, array: np.ndarray, options: Options) -> None:
        self.precision = options.precision
        self.is_float = array.dtype.kind == "f"
        self.is_whole, self.is_scientific, self.width = True, False, 1
        if not self.is_float:
            self.width = max((len(str(value)) for value in array.ravel().tolist()), default=1)
            return
        # In float64 as PyTorch compares: 1e-4 of float32 lies below the limit.
        values = array.astype(np.float64).ravel()
        values = values[np.isfinite(values) & (values != 0)]
        if not values.size:
            return
        self.is_whole = bool(np.all(values == np.ceil(values)))
        largest, smallest = np.abs(values).max(), np.abs(values).min()
        with np.errstate(over="ignore"):
            spread = largest / smallest
        is_uneven = bool(spread > 1000 or largest > 1e8 or smallest < 1e-4)
        self.is_scientific = is_uneven if options.sci_mode is None else options.sci_mode
        self.width = max(len(self._text(value)) for value in values.tolist())

    def _text(self, value: Any) -> str:
        if not self.is_float:
            return str(value)
        if self.is_scientific:
            return f"{value:.{self.precision}e}"
        if self.is_whole:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{self.precision}f}"

    def text(self, value: Any) -> str:
        """Return a number as text, padded to the width of the widest."""
        return self._text(value).rjust(self.width)


def _element(value: Any, formatters: list[_Formatter]) -> str:
    if len(formatters) == 1:
        return formatters[0].text(value)
    real = formatters[0].text(value.real)
    imag = formatters[1].text(value.imag).lstrip() + "j"
    return real + imag if imag[0] in "+-" else f"{real}+{imag}"


def _nested(
    array: np.ndarray, indent: int, formatters: list[_Formatter], options: Options, short: bool
) -> str:
    """Return the numbers in nested brackets, one row of the last axis to a line or several."""
    if array.ndim == 0:
        return _element(array.item(), formatters)
    edge = options.edgeitems
    is_cut = short and len(array) > 2 * edge
    places = [*range(edge), *range(len(array) - edge, len(array))] if is_cut else range(len(array))
    if array.ndim > 1:
        rows = [_nested(array[place], indent + 1, formatters, options, short) for place in places]
        if is_cut:
            rows.insert(edge, "...")
        return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(rows) + "]"
    cells = [_element(array[place].item(), formatters) for place in places]
    if is_cut:
        cells.insert(edge, " ...")
    width = sum(formatter.width for formatter in formatters) + len(formatters) + 1
    fitting = max(1, (options.linewidth - indent) // width)
    lines = [", ".join(cells[at : at + fitting]) for at in range(0, len(cells), fitting)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
