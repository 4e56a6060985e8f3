"""autograd's differential operators, made of a backend's vjp and jvp."""

import functools
import inspect
from typing import Any

import numpy

from tests.cases.outside.autograd_shim import trees


def in_any_argument(unary):
    """Turn operator(f, x) into operator(f, argnum)(*arguments), the form autograd gives its own."""

    @functools.wraps(unary)
    def operator(f, argnum=0, *options, **named_options):
        @functools.wraps(f, updated=())
        def differentiated(*arguments, **keywords):
            many = isinstance(argnum, tuple | list)
            positions = [n % len(arguments) for n in (argnum if many else (argnum,))]
            chosen = tuple(arguments[position] for position in positions)

            def of_chosen(x):
                replaced = list(arguments)
                for position, value in zip(positions, x if many else (x,), strict=True):
                    replaced[position] = value
                return f(*replaced, **keywords)

            return unary(of_chosen, chosen if many else chosen[0], *options, **named_options)

        return differentiated

    return operator


class Transforms:
    """The operators over one backend.

    Gradients of complex arguments follow autograd: df/dRe - i df/dIm, the conjugate of stagrad's.
    """

    def __init__(self, backend):
        self._backend = backend
        self._np = backend.numpy  # plain NumPy's functions need not take what a library traces

    def operators(self) -> dict[str, Any]:
        """Return the operators by the names autograd exports."""
        unary = (
            "grad elementwise_grad value_and_grad grad_and_aux holomorphic_grad make_vjp make_jvp "
            "make_jvp_reversemode deriv jacobian hessian"
        )
        whole = "hessian_tensor_product tensor_jacobian_product make_hvp make_ggnvp multigrad_dict"
        found = {name: in_any_argument(getattr(self, name)) for name in unary.split()}
        found |= {name: getattr(self, name) for name in whole.split()}
        found["hessian_vector_product"] = self.hessian_tensor_product
        found["vector_jacobian_product"] = self.tensor_jacobian_product
        found["checkpoint"] = lambda f: f
        return found

    def vjp(self, f, x):
        """Return f(x) and the function from its cotangent to that of x."""
        output, pull = self._backend.vjp(f, x)
        return output, lambda ct: self._conjugated(pull(self._conjugated(ct))[0])

    def _conjugated(self, tree):
        return trees.map_leaves(lambda x: self._np.conj(x) if trees.is_complex(x) else x, tree)

    def jvp(self, f, x, tangent):
        """Return the tangent of f(x)."""
        return self._backend.jvp(f, (x,), (tangent,))[1]

    def _scalar_vjp(self, name, f, x):
        output, pull = self.vjp(f, x)
        if numpy.size(output) != 1 or trees.kind(output) in "bc":
            raise TypeError(f"{name} only applies to real scalar-output functions")
        return output, pull(trees.ones_like(output))

    def grad(self, f, x):
        return self._scalar_vjp("grad", f, x)[1]

    def value_and_grad(self, f, x):
        return self._scalar_vjp("value_and_grad", f, x)

    def elementwise_grad(self, f, x):
        output, pull = self.vjp(f, x)
        if trees.is_complex(output):
            raise TypeError("elementwise_grad only applies to real-output functions")
        return pull(trees.ones_like(output))

    def holomorphic_grad(self, f, x):
        if not trees.is_complex(x):
            raise TypeError("holomorphic_grad only applies to complex arguments")
        output, pull = self.vjp(f, x)
        return pull(trees.map_leaves(lambda leaf: numpy.ones(numpy.shape(leaf)) + 0j, output))

    def grad_and_aux(self, f, x):
        (output, auxiliary), pull = self.vjp(f, x)
        ignored = trees.map_leaves(lambda leaf: numpy.zeros(numpy.shape(leaf)), auxiliary)
        return pull((trees.ones_like(output), ignored)), auxiliary

    def make_vjp(self, f, x):
        output, pull = self.vjp(f, x)
        return pull, output

    def make_jvp(self, f, x):
        return lambda tangent: (f(x), self.jvp(f, x, tangent))

    def make_jvp_reversemode(self, f, x):
        return lambda tangent: self.jvp(f, x, tangent)

    def deriv(self, f, x):
        return self.jvp(f, x, trees.ones_like(x))

    def jacobian(self, f, x):
        output, pull = self.vjp(f, x)
        shape = numpy.shape(output)
        rows = [pull(unit.reshape(shape)) for unit in numpy.eye(numpy.size(output))]
        return self._np.reshape(self._np.stack(rows), shape + numpy.shape(x))

    def hessian(self, f, x):
        return self.jacobian(lambda x: self.jacobian(f, x), x)

    def hessian_tensor_product(self, f, argnum=0):
        gradient = in_any_argument(self.grad)(f, argnum)

        def product(*arguments, **keywords):
            *arguments, vector = arguments

            def along(*arguments):
                axes = numpy.ndim(vector)
                return self._np.tensordot(gradient(*arguments, **keywords), vector, axes)

            return in_any_argument(self.grad)(along, argnum)(*arguments)

        return product

    def tensor_jacobian_product(self, f, argnum=0):
        def product(*arguments, **keywords):
            *arguments, vector = arguments

            def along(*arguments):
                axes = numpy.ndim(vector)
                return self._np.tensordot(vector, f(*arguments, **keywords), axes)

            return in_any_argument(self.jacobian)(along, argnum)(*arguments)

        return product

    def make_hvp(self, f, argnum=0):
        gradient = in_any_argument(self.grad)(f, argnum)
        return in_any_argument(self.make_vjp)(gradient, argnum)

    def make_ggnvp(self, f, g=None, f_argnum=0):
        outer_hessian = self.hessian_tensor_product(g or self._half_square)

        def at(f, x):
            output, pull = self.vjp(f, x)
            return lambda vector: pull(outer_hessian(output, self.jvp(f, x, vector)))

        return in_any_argument(at)(f, f_argnum)

    def _half_square(self, x):
        return 0.5 * self._np.sum(x**2, axis=-1)

    def multigrad_dict(self, f):
        signature = inspect.signature(f)
        variable = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]

        def gradients(*arguments, **keywords):
            bound = signature.bind(*arguments, **keywords)
            bound.apply_defaults()
            by_name = dict(bound.arguments)
            for name in variable:
                by_name.update(by_name.pop(name, {}))
            return self.vjp(lambda values: f(**values), by_name)[1](1.0)

        return gradients
