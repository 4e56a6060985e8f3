"""NumPy's errors in PyTorch's kinds and words, where a function lets one through."""

import re
from collections.abc import Sequence

import numpy as np

from stagrad.errors import ShapeError, SizeError

_SHAPE = re.compile(r"\((\d*(?:,\d+)*),?\)")
_NOT_BROADCAST = ("operands could not be broadcast together", "shape mismatch: objects cannot be")


class LinAlgError(np.linalg.LinAlgError, RuntimeError):
    """A matrix is not what a decomposition or a solution needs; `torch.linalg.LinAlgError`."""


def translated(error: ValueError, name: str, shapes: Sequence[tuple[int, ...]]) -> Exception:
    """Return the error to raise in place of one that a function of this name let through.

    `shapes` are those of the function's tensors. An error nothing is known of is returned itself.
    """
    text = str(error)
    if isinstance(error, np.exceptions.AxisError):
        if error.axis is None or error.ndim is None:
            return error
        extent = max(error.ndim, 1)
        return np.exceptions.AxisError(
            f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], but "
            f"got {error.axis})"
        )
    if isinstance(error, np.linalg.LinAlgError):
        return LinAlgError(_of_matrices(text, name, shapes))
    if text.startswith(_NOT_BROADCAST):
        return SizeError(_of_sizes(text, shapes))
    if type(error) is ShapeError:
        return SizeError(text)
    if text.startswith("zero-size array to reduction operation"):
        return SizeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    if text.startswith("repeated axis"):
        return SizeError(f"{name}(): duplicate dims are not allowed.")
    return error


def _of_matrices(text: str, name: str, shapes: Sequence[tuple[int, ...]]) -> str:
    if "must be square" in text and shapes:
        rows, columns = shapes[0][-2:]
        return (
            f"linalg.{name}: A must be batches of square matrices, but they are {rows} by "
            f"{columns} matrices"
        )
    if text.startswith("Singular matrix"):
        if name == "solve":
            return "torch.linalg.solve: The solver failed because the input matrix is singular."
        return f"linalg.{name}: the input matrix is singular."
    if "not positive definite" in text:
        return (
            f"linalg.{name}: The factorization could not be completed because the input is not "
            "positive-definite"
        )
    return f"linalg.{name}: {text}"


def _of_sizes(text: str, shapes: Sequence[tuple[int, ...]]) -> str:
    """Return PyTorch's text for the first two shapes that do not fit each other."""
    found = [tuple(map(int, filter(None, part.split(",")))) for part in _SHAPE.findall(text)]
    for first in range(len(found)):
        for second in range(first + 1, len(found)):
            told = size_mismatch(found[first], found[second])
            if told:
                return told
    return text if not shapes else f"{text} (shapes of the tensors: {list(map(list, shapes))})"


def size_mismatch(first: tuple[int, ...], second: tuple[int, ...]) -> str:
    """Return PyTorch's words for shapes that do not broadcast, nothing where they do."""
    for place in range(1, min(len(first), len(second)) + 1):
        a, b = first[-place], second[-place]
        if a != b and 1 not in (a, b):
            axis = max(len(first), len(second)) - place
            return (
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {axis}"
            )
    return ""


def index_error(error: IndexError, shape: tuple[int, ...]) -> IndexError:
    """Return the error for an index that a tensor of this shape does not have."""
    text = str(error)
    if text.startswith("too many indices"):
        if not shape:
            return IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to "
                "a number"
            )
        return IndexError(f"too many indices for tensor of dimension {len(shape)}")
    if text.startswith("only integers"):
        return IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            "valid indices"
        )
    return IndexError(text.replace("for axis", "for dimension"))
