"""autograd.scipy.signal: convolution over chosen axes, written in NumPy."""

from string import ascii_letters

import numpy


def convolve(first, second, axes=None, dot_axes=((), ()), mode="full"):
    """Convolve over pairs of axes and sum over others.

    The result's axes are the remaining ones of the first array, those of the second, and the
    convolved ones.
    """
    convolved = axes or (tuple(range(first.ndim)), tuple(range(second.ndim)))
    extents = [(first.shape[a], second.shape[b]) for a, b in zip(*convolved, strict=True)]
    if mode == "valid" and any(size < window for size, window in extents):
        if any(size > window for size, window in extents):
            raise ValueError("one array must be larger than the other along all convolved axes")
        swapped = convolve(second, first, convolved[::-1], dot_axes[::-1], mode)
        own, others = (
            array.ndim - len(convolved[k]) - len(dot_axes[k])
            for k, array in enumerate((first, second))
        )
        order = [*range(others, others + own), *range(others), *range(own + others, swapped.ndim)]
        return numpy.transpose(swapped, order)
    return _slide(first, second, convolved, dot_axes, mode)


def _slide(first, second, axes, dot_axes, mode):
    """Gather the first array's windows, flip the second, and contract."""
    letters = iter(ascii_letters)
    labels = [next(letters) for _ in range(first.ndim)]
    second_labels = [next(letters) for _ in range(second.ndim)]
    own = [label for n, label in enumerate(labels) if n not in (*axes[0], *dot_axes[0])]
    others = [label for n, label in enumerate(second_labels) if n not in (*axes[1], *dot_axes[1])]
    for a, b in zip(*dot_axes, strict=True):
        second_labels[b] = labels[a]
    places = []
    windows = numpy.pad(first, _padding(first, second, axes, mode))
    for label, b in zip([labels[a] for a in axes[0]], axes[1], strict=True):
        axis, window = labels.index(label), second.shape[b]
        count = windows.shape[axis] - window + 1
        index = numpy.arange(count)[:, None] + numpy.arange(window)
        windows = numpy.take(windows, index, axis=axis)
        places.append(next(letters))
        labels[axis : axis + 1] = [places[-1], second_labels[b]]
    operands = "".join(labels), "".join(second_labels)
    subscripts = f"{','.join(operands)}->{''.join([*own, *others, *places])}"
    return numpy.einsum(subscripts, windows, numpy.flip(second, tuple(axes[1])))


def _padding(first, second, axes, mode):
    padding = [(0, 0)] * first.ndim
    for a, b in zip(*axes, strict=True):
        excess = second.shape[b] - 1
        if mode == "full":
            padding[a] = excess, excess
        elif mode == "same":
            padding[a] = excess - excess // 2, excess // 2
    return padding
