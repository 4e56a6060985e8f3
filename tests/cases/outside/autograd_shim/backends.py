"""What the shim needs of a library, and the libraries that provide it."""

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy
import scipy.linalg
import scipy.special

from tests.cases.outside.autograd_shim import additions, distributions, signal
from tests.cases.outside.autograd_shim.trees import is_complex, leaves, map_leaves


@dataclass(frozen=True)
class Backend:
    """One library, with gradients of complex arguments as stagrad has them (df/dRe + i df/dIm)."""

    numpy: Any
    additions: dict[str, Any]  # to `numpy`, what autograd's has beyond it or defines otherwise
    linalg_additions: dict[str, Any]
    vjp: Callable[..., tuple[Any, Callable[[Any], tuple[Any, ...]]]]
    jvp: Callable[..., tuple[Any, Any]]  # jvp(function, primals, tangents) is (output, tangent)
    scipy: dict[str, Any]  # the namespaces below autograd.scipy
    primitive: Callable[..., Any]
    defvjp: Callable[..., None]


class Primitive:
    """A function that has no derivative until rules are defined for it."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self._has_rules = False
        functools.update_wrapper(self, function)

    def define_rules(self, *_rules: Any, **_options: Any) -> None:
        self._has_rules = True

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        plain = (int, float, complex, str, numpy.ndarray, numpy.generic)
        traced = [x for x in leaves((arguments, keywords)) if not isinstance(x, plain)]
        if traced and not self._has_rules:
            raise NotImplementedError(f"no derivative is defined for {self._function}")
        return self._function(*arguments, **keywords)


def stagrad() -> Backend:
    """Return stagrad over plain NumPy and SciPy.

    A function marked as a primitive is traced like any other once it has a rule; the rule is not
    asked for.
    """
    import stagrad

    namespaces = {
        "linalg": scipy.linalg,
        "special": scipy.special,
        "signal": signal,
        "stats": distributions,
        "integrate": ModuleType("integrate"),
    }
    return Backend(
        numpy,
        additions.NUMPY,
        additions.LINALG,
        stagrad.vjp,
        stagrad.jvp,
        namespaces,
        Primitive,
        Primitive.define_rules,
    )


def autograd() -> Backend:
    """Return autograd itself, which shows what the shim gets right.

    It leaves `sys.modules`, where the shim is about to take its names.
    """
    import autograd.builtins
    import autograd.extend
    import autograd.numpy
    import autograd.scipy
    from autograd.scipy import integrate, linalg, signal, special, stats

    boxes = {kind: getattr(autograd.builtins, kind.__name__) for kind in (tuple, list, dict)}
    make_vjp, make_jvp = autograd.make_vjp, autograd.make_jvp
    for name in [name for name in sys.modules if name.split(".")[0] == "autograd"]:
        del sys.modules[name]

    def unboxed(x):
        """Return the plain container of what a traced one holds."""
        if autograd.builtins.isinstance(x, dict):
            return {key: unboxed(x[key]) for key in x}
        for kind in (tuple, list):
            if autograd.builtins.isinstance(x, kind):
                return kind(unboxed(x[position]) for position in range(len(x)))
        return x

    def boxed(x):
        """Return the container that autograd can trace of a plain one."""
        if isinstance(x, dict):
            return boxes[dict]({key: boxed(value) for key, value in x.items()})
        return boxes[type(x)]([boxed(value) for value in x]) if type(x) in boxes else x

    def on_boxes(function):
        return lambda arguments: boxed(function(*unboxed(arguments)))

    def vjp(function, *arguments):
        pull, output = make_vjp(on_boxes(function))(arguments)
        return output, lambda ct: conjugated(unboxed(pull(boxed(conjugated(ct)))))

    def conjugated(tree):
        return map_leaves(lambda x: autograd.numpy.conj(x) if is_complex(x) else x, tree)

    def jvp(function, primals, tangents):
        return make_jvp(on_boxes(function))(primals)(tangents)

    modules = (integrate, linalg, signal, special, stats)
    namespaces = {module.__name__.rsplit(".")[-1]: module for module in modules}
    extend = autograd.extend
    return Backend(autograd.numpy, {}, {}, vjp, jvp, namespaces, extend.primitive, extend.defvjp)


BACKENDS = {"stagrad": stagrad, "autograd": autograd}
