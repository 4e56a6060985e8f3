"""autograd.test_util: derivatives against central differences along one random direction."""

import itertools

import numpy

from tests.cases.outside.autograd_shim import trees

TOLERANCE = 1e-6
STEP = 1e-6


class Checks:
    """The checks over one backend's transforms."""

    def __init__(self, transforms):
        self._transforms = transforms
        self._random = numpy.random.default_rng(0)

    def functions(self):
        """Return the checks by the names autograd exports."""
        return {
            "check_grads": self.check_grads,
            "check_vjp": lambda f, x: self._check(f, (x,), ("rev",), 1, _name(f)),
            "check_jvp": lambda f, x: self._check(f, (x,), ("fwd",), 1, _name(f)),
            "combo_check": self.combo_check,
            "check_equivalent": check_equivalent,
            "scalar_close": scalar_close,
        }

    def check_grads(self, f, argnum=0, modes=("fwd", "rev"), order=2):
        """Return a function that checks f at the arguments it is called with."""

        def check(*arguments, **keywords):
            positions = argnum if isinstance(argnum, tuple | list) else (argnum,)

            def of_chosen(*chosen):
                replaced = list(arguments)
                for position, value in zip(positions, chosen, strict=True):
                    replaced[position] = value
                return f(*replaced, **keywords)

            chosen = tuple(arguments[position] for position in positions)
            self._check(of_chosen, chosen, modes or ("fwd", "rev"), order, _name(f))

        return check

    def combo_check(self, f, *options, **named_options):
        """Return a function that checks f at every combination of the listed arguments."""
        check = self.check_grads(f, *options, **named_options)

        def check_all(*lists, **named_lists):
            for arguments in itertools.product(*lists):
                for values in itertools.product(*named_lists.values()):
                    check(*arguments, **dict(zip(named_lists, values, strict=True)))

        return check_all

    def _check(self, f, arguments, modes, order, name):
        arguments = trees.map_leaves(_as_floating, arguments)

        def of_tree(arguments):
            return f(*arguments)

        output = of_tree(arguments)
        if not {trees.kind(leaf) for leaf in trees.leaves(output)} <= {"f", "c"}:
            return
        direction, cotangent = self._random_like(arguments), self._random_like(output)
        numeric = _inner(cotangent, _central_difference(of_tree, arguments, direction))
        if "fwd" in modes:
            tangent = self._transforms.jvp(of_tree, arguments, direction)
            _expect_close(f"(JVP) check of {name}", _inner(cotangent, tangent), numeric)
        if "rev" in modes:
            _, pull = self._transforms.vjp(of_tree, arguments)
            gradients = pull(cotangent)
            for gradient, x in zip(trees.leaves(gradients), trees.leaves(arguments), strict=True):
                shapes = (
                    f"shape {numpy.shape(gradient)} of a gradient, of its argument {numpy.shape(x)}"
                )
                assert numpy.shape(gradient) == numpy.shape(x), shapes
            _expect_close(f"(VJP) check of {name}", _inner(gradients, direction), numeric)
            if order > 1:

                def of_both(*both):
                    return self._transforms.vjp(of_tree, both[:-1])[1](both[-1])

                both = (*arguments, cotangent)
                self._check(of_both, both, ("rev",), order - 1, f"vjp_{name}")

    def _random_like(self, tree):
        def leaf(x):
            shape = numpy.shape(x)
            real = self._random.standard_normal(shape)
            return real + 1j * self._random.standard_normal(shape) if trees.is_complex(x) else real

        return trees.map_leaves(leaf, tree)


def _as_floating(leaf):
    if isinstance(leaf, int | float | complex) and not isinstance(leaf, numpy.generic):
        return leaf if isinstance(leaf, complex) else float(leaf)
    return numpy.asarray(leaf)


def _central_difference(f, arguments, direction):
    def at(sign):
        return f(trees.map_leaves(lambda x, d: x + sign * STEP / 2 * d, arguments, direction))

    def difference(above, below):
        return (numpy.asarray(above) - numpy.asarray(below)) / STEP

    return trees.map_leaves(difference, at(1), at(-1))


def _inner(first, second):
    """The real part of the sum of products: what autograd's complex gradients are defined by."""
    pairs = zip(trees.leaves(first), trees.leaves(second), strict=True)
    return sum(float(numpy.sum(numpy.asarray(a) * numpy.asarray(b)).real) for a, b in pairs)


def _name(f):
    return getattr(f, "__name__", "function")


def _expect_close(check, got, numeric):
    assert scalar_close(got, numeric), f"{check} failed: {got}, central differences {numeric}"


def scalar_close(a, b):
    """Tell whether two numbers agree as autograd's tests want them to."""
    return abs(a - b) < TOLERANCE or abs(a - b) / max(abs(a + b), 1e-300) < TOLERANCE


def check_equivalent(x, y):
    """Raise AssertionError unless two trees hold the same numbers."""
    for a, b in zip(trees.leaves(x), trees.leaves(y), strict=True):
        a, b = numpy.asarray(a), numpy.asarray(b)
        assert a.shape == b.shape
        assert numpy.allclose(a, b, rtol=1e-6, atol=1e-6)
