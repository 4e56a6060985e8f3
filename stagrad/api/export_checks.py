"""Functions pasted into exported files, where they check arguments: they use nothing of stagrad."""

import numpy as np


def _array(value: object, name: str, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """Return an argument as the array it was exported for; anything else raises."""
    array = np.asarray(value)
    if array.dtype != dtype:
        raise TypeError(
            f"{name} must have dtype {np.dtype(dtype)}, not {array.dtype}; "
            f"convert it with .astype(np.{np.dtype(dtype)}), or export again"
        )
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {array.shape}; or export again")
    return array


def _number(value: object, name: str, kind: type) -> object:
    """Return an argument as the Python number it was exported for."""
    array = np.asarray(value)
    if array.shape != () or not np.can_cast(array.dtype, kind, "same_kind"):
        raise TypeError(f"{name} must be one number, {kind.__name__}, not {value!r}")
    return kind(value)


def _dict(value: object, name: str, keys: tuple[object, ...]) -> dict[object, object]:
    """Return an argument that is a dictionary with exactly these keys."""
    if not isinstance(value, dict) or value.keys() != set(keys):
        raise TypeError(f"{name} must be a dict with the keys {keys}, not {value!r}")
    return value


def _sequence(value: object, name: str, length: int) -> "tuple[object, ...] | list[object]":
    """Return an argument that is a tuple or list of this length."""
    if not isinstance(value, tuple | list) or len(value) != length:
        raise TypeError(f"{name} must be a tuple or list of length {length}, not {value!r}")
    return value


def _fixed(value: object, name: str, exported: object) -> None:
    """Refuse an argument that is not the one the file was exported for."""
    if type(value) is not type(exported) or value != exported:
        raise ValueError(
            f"{name} is fixed at {exported!r}, not {value!r}; export again to change it"
        )
