"""The process in which one program runs: `program_child KIND TARGET COUNT TREE LIBRARY`.

The last line it prints is a JSON object: the summaries of the derivatives, and the error, if any.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import types
import warnings
from pathlib import Path

import numpy

from tests.cases.outside.autograd_shim import BACKENDS, install

RANDOM_STATE = numpy.random.RandomState
OPERATORS = (
    "grad value_and_grad elementwise_grad jacobian hessian grad_and_aux hessian_vector_product "
    "hessian_tensor_product multigrad_dict deriv"
)


class EnoughResultsError(BaseException):
    """Ends a program; not an Exception, lest the program catch it."""


class SeededState:
    """RandomState, its seed 0 where the program leaves it open.

    It holds a RandomState instead of being one, which stagrad would refuse to see in a function
    that it traces: the shim traces at every call, so that what is drawn belongs to the call.
    """

    def __init__(self, seed=0):
        self._state = RANDOM_STATE(seed)

    def __getattr__(self, name):
        return getattr(self._state, name)


def main(kind: str, target: str, count: str, tree: str, library: str) -> None:
    """Run the program and print what it computed."""
    warnings.simplefilter("ignore")
    numpy.random.RandomState = SeededState
    if library != "autograd":
        install(BACKENDS[library]())
    log, error = [], None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            if kind == "snippet":
                log.append([float(number) for number in numpy.ravel(SNIPPETS[target]())])
            else:
                record_operators(log, int(count))
                run_example(Path(tree, target))
    except EnoughResultsError:
        pass
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"
    print("\n" + json.dumps({"log": log, "error": error}))


def run_example(path: Path) -> None:
    """Execute an example, with stubs for its plots and for the images it would download."""
    stub_plotting()
    images = types.ModuleType("data_mnist")
    images.mnist = random_images
    sys.modules["data_mnist"] = images
    numpy.random.seed(0)  # noqa: NPY002 - the generator that the examples draw from
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    os.chdir(path.parent)
    runpy.run_path(str(path), run_name="__main__")


def random_images():
    """Return training and test images and labels in the form of MNIST."""
    random = SeededState(0)
    parts = []
    for count in (256, 64):
        parts.append(random.randint(0, 256, (count, 28, 28)).astype("uint8"))
        parts.append(random.randint(0, 10, count))
    return tuple(parts)


class Anything:
    """Stands in for whatever a plotting library returns."""

    def __init__(self, *arguments, **keywords): ...

    def __call__(self, *arguments, **keywords):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):  # what Python asks for, to learn what an object is
            raise AttributeError(name)
        return Anything()

    def __getitem__(self, key):
        return Anything()

    def __iter__(self):
        return iter([Anything(), Anything()])


def stub_plotting() -> None:
    """Replace matplotlib by modules that do nothing, but still read images."""
    from matplotlib.image import imread

    submodules = ("pyplot", "image", "cm")
    names = ["matplotlib", *(f"matplotlib.{name}" for name in submodules)]
    for name in [*names, "mpl_toolkits", "mpl_toolkits.mplot3d"]:
        module = types.ModuleType(name)
        module.__getattr__ = lambda _name: Anything()
        module.__path__ = []
        sys.modules[name] = module
    sys.modules["matplotlib.pyplot"].imread = imread


def record_operators(log: list, count: int) -> None:
    """Make autograd's operators log the results of their outermost calls."""
    import autograd

    depth = 0

    def recording(operator):
        def make(function, *options, **named_options):
            differentiated = operator(function, *options, **named_options)
            if not callable(differentiated):
                return differentiated

            def call(*arguments, **keywords):
                nonlocal depth
                depth += 1
                try:
                    result = differentiated(*arguments, **keywords)
                finally:
                    depth -= 1
                arrays = concrete_leaves(result) if depth == 0 else None
                if arrays is not None:
                    log.append(summary(arrays))
                    if len(log) >= count:
                        raise EnoughResultsError
                return result

            return call

        return make

    for name in OPERATORS.split():
        setattr(autograd, name, recording(getattr(autograd, name)))


def concrete_leaves(tree):
    """Return the numeric arrays of a result, None if something else is among them."""
    if isinstance(tree, dict):
        return concrete_leaves([tree[key] for key in sorted(tree)])
    if isinstance(tree, tuple | list):
        parts = [concrete_leaves(part) for part in tree]
        return None if None in parts else [leaf for part in parts for leaf in part]
    if isinstance(tree, float | int | numpy.ndarray | numpy.generic):
        array = numpy.asarray(tree)
        return [array] if array.dtype.kind in "fiu" else None
    return None


def summary(arrays) -> list[float]:
    """Return size, sum, norm and the inner product with a fixed random vector."""
    flat = [numpy.ravel(numpy.asarray(array, float)) for array in arrays]
    x = numpy.concatenate(flat) if flat else numpy.zeros(0)
    weights = SeededState(x.size).randn(x.size)
    return [
        x.size,
        *map(float, (numpy.sum(x), numpy.sqrt(numpy.sum(x * x)), numpy.sum(weights * x))),
    ]


def fit_lifetimes(model: str):
    """Fit a parametric survival model of lifelines to a data set it brings."""
    import lifelines
    from lifelines.datasets import load_rossi, load_waltons

    fitter = getattr(lifelines, model)()
    if model == "WeibullAFTFitter":
        fitter.fit(load_rossi(), "week", "arrest")
    else:
        data = load_waltons()
        fitter.fit(data["T"], data["E"])
    return numpy.append(fitter.params_.values, fitter.log_likelihood_)


def largest_eigenvalue():
    """Find the largest eigenvalue of a matrix by pymanopt's trust regions on the sphere."""
    import pymanopt

    matrix = SeededState(3).randn(8, 8)
    matrix = matrix + matrix.T
    sphere = pymanopt.manifolds.Sphere(8)

    @pymanopt.function.autograd(sphere)
    def cost(x):
        return -x @ matrix @ x

    numpy.random.seed(0)  # noqa: NPY002 - the generator that pymanopt draws its start from
    optimizer = pymanopt.optimizers.TrustRegions(verbosity=0)
    result = optimizer.run(pymanopt.Problem(sphere, cost))
    return numpy.array([result.cost, -numpy.max(numpy.linalg.eigvalsh(matrix))])


SNIPPETS = {
    "lifelines_weibull": lambda: fit_lifetimes("WeibullFitter"),
    "lifelines_weibull_aft": lambda: fit_lifetimes("WeibullAFTFitter"),
    "pymanopt_eig": largest_eigenvalue,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
