"""The differentiation libraries that the cases can be put to, all behind one face.

stagrad is the one under test. HIPS autograd, where it is installed, shows that a case can be passed
and gives the score to compare with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy
import scipy.special


@dataclass(frozen=True)
class Library:
    """What the cases ask of a library."""

    name: str
    np: ModuleType  # the namespace that a user's code is written in
    special: ModuleType
    # grad(function, count)(*arguments) is the list of the derivatives of the scalar
    # function(*arguments) with respect to its `count` arguments, and can be differentiated again.
    grad: Callable[[Callable[..., Any], int], Callable[..., list[Any]]]
    # vjp(function, *arguments) is the output and a function from its cotangent to theirs.
    vjp: Callable[..., tuple[Any, Callable[[Any], tuple[Any, ...]]]]

    def jacobian_rows(self, function, *arguments):
        """Return the output, flat, and for each of its elements the derivatives end to end."""
        output, pull = self.vjp(function, *arguments)
        rows = []
        for unit in numpy.eye(numpy.size(output)):
            cotangents = pull(unit.reshape(numpy.shape(output)))
            rows.append(numpy.concatenate([numpy.ravel(cotangent) for cotangent in cotangents]))
        return numpy.ravel(output), numpy.stack(rows)


def stagrad() -> Library:
    """Return stagrad, which traces plain NumPy and SciPy."""
    import stagrad

    def grad(function, count):
        gradients = stagrad.grad(function, argnums=tuple(range(count)))
        return lambda *arguments: list(gradients(*arguments))

    return Library("stagrad", numpy, scipy.special, grad, stagrad.vjp)


def autograd() -> Library:
    """Return HIPS autograd, which has a NumPy namespace of its own."""
    import autograd
    import autograd.numpy
    import autograd.scipy.special

    def grad(function, count):
        gradients = autograd.grad(lambda arguments: function(*arguments))
        return lambda *arguments: list(gradients(list(arguments)))

    def vjp(function, *arguments):
        pull, output = autograd.make_vjp(lambda arguments: function(*arguments))(arguments)
        return output, pull

    return Library("autograd", autograd.numpy, autograd.scipy.special, grad, vjp)


LIBRARIES = {"stagrad": stagrad, "autograd": autograd}
