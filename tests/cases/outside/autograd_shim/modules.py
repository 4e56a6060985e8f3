"""The tree of modules."""

import builtins
import functools
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy

from tests.cases.outside.autograd_shim import optimizers
from tests.cases.outside.autograd_shim.backends import Backend
from tests.cases.outside.autograd_shim.checks import Checks
from tests.cases.outside.autograd_shim.transforms import Transforms, in_any_argument

DISTRIBUTIONS = "norm t gamma beta poisson dirichlet multivariate_normal chi2"
CONTAINERS = ("tuple", "list", "dict", "isinstance", "type")


class Box:
    """autograd's class of traced values, of which the shim has none."""


class ForwardingModule(ModuleType):
    """A module whose names are those of another namespace at the time they are asked for.

    A library may replace NumPy's functions while it traces; a copy would miss that.
    """

    def __init__(self, name: str, target: Any):
        super().__init__(name)
        self.__dict__["_target"] = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_target"], name)


def install(backend: Backend) -> None:
    """Put the tree into `sys.modules`."""
    transforms = Transforms(backend)
    operators = transforms.operators()
    containers = {name: getattr(builtins, name) for name in CONTAINERS}
    _add("autograd", **operators, **containers, __version__="shim")
    _add("autograd.differential_operators", **operators)
    _add("autograd.builtins", **containers, DictBox=Box, ListBox=Box, SequenceBox=Box)
    _add("autograd.wrap_util", unary_to_nary=in_any_argument)
    _add("autograd.test_util", **Checks(transforms).functions())
    _add_namespaces(backend)
    _add_extension_modules(backend, transforms)
    _add_miscellany(optimizers.Flattening(backend.numpy))


def _add_namespaces(backend):
    _add("autograd.numpy", backend.numpy, **backend.additions)
    _add("autograd.numpy.fft", backend.numpy.fft)
    _add("autograd.numpy.linalg", backend.numpy.linalg, **backend.linalg_additions)
    # A copy: stagrad refuses random numbers in a function that it traces once and keeps. The shim
    # traces at every call, as autograd does, and what is drawn then belongs to that call.
    _add("autograd.numpy.random", SimpleNamespace(**vars(numpy.random)))
    _add("autograd.numpy.numpy_boxes", ArrayBox=Box)
    _add("autograd.numpy.numpy_vjps", unbroadcast_f=_absent("unbroadcast_f"))
    _add("autograd.scipy")
    for name, target in backend.scipy.items():
        _add(f"autograd.scipy.{name}", target)
    for name in DISTRIBUTIONS.split():
        _add(f"autograd.scipy.stats.{name}", getattr(backend.scipy["stats"], name))
    _add("autograd.scipy.misc", logsumexp=backend.scipy["special"].logsumexp)


def _add_extension_modules(backend, transforms):
    rules = {"primitive": backend.primitive, "defvjp": backend.defvjp}
    _add("autograd.extend", **rules, Box=Box, VSpace=Box, defjvp=_absent("defjvp"))
    _add(
        "autograd.tracer",
        primitive=backend.primitive,
        notrace_primitive=lambda function: function,
        isbox=lambda value: not isinstance(value, int | float | numpy.ndarray | numpy.generic),
        getval=lambda value: value,
    )
    _add(
        "autograd.core",
        make_vjp=transforms.make_vjp,
        vspace=_absent("vspace"),
        primitive_vjps={},
        defvjp=backend.defvjp,
    )


def _add_miscellany(flattening):
    misc = _add("autograd.misc", const_graph=functools.partial)
    flatten, flatten_func = flattening.flatten, flattening.flatten_func
    _add("autograd.misc.flatten", flatten=flatten, flatten_func=flatten_func)
    misc.flatten = flatten  # autograd, too, hides the module behind the function
    _add(
        "autograd.misc.optimizers",
        sgd=optimizers.sgd,
        rmsprop=optimizers.rmsprop,
        adam=optimizers.adam,
    )
    _add("autograd.misc.tracers", const_graph=functools.partial)
    _add("autograd.misc.fixed_points", fixed_point=_absent("fixed_point"))


def _add(name: str, target: Any = None, /, **attributes: Any) -> ModuleType:
    """Add one module, with the names of a target namespace or with the attributes given."""
    module = ModuleType(name) if target is None else ForwardingModule(name, target)
    module.__path__ = []
    module.__dict__.update(attributes)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
    return module


def _absent(name: str):
    def raise_error(*_arguments, **_keywords):
        raise NotImplementedError(f"the shim has no {name}")

    return raise_error
