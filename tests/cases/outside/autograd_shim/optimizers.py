"""autograd.misc: trees as flat vectors, and the optimisers that autograd's examples use."""

import functools

import numpy

from tests.cases.outside.autograd_shim import trees


class Flattening:
    """Conversion of trees to vectors and back by the functions of one NumPy namespace."""

    def __init__(self, np):
        self._np = np

    def flatten(self, tree):
        """Return a tree's numbers as one vector, and the function back."""
        np, parts = self._np, trees.leaves(tree)
        shapes = [numpy.shape(part) for part in parts]
        template = _with_sorted_keys(tree)

        def unflatten(vector):
            def pieces():
                start = 0
                for shape in shapes:
                    size = int(numpy.prod(shape))
                    yield np.reshape(vector[start : start + size], shape)
                    start += size

            numbers = pieces()
            return trees.map_leaves(lambda _leaf: next(numbers), template)

        vector = np.concatenate([np.ravel(part) for part in parts]) if parts else numpy.zeros(0)
        return vector, unflatten

    def flatten_func(self, function, example):
        """Return a function of vectors, the function back from them, and the example's vector."""
        vector, unflatten = self.flatten(example)

        def of_vector(vector, *arguments, **keywords):
            return self.flatten(function(unflatten(vector), *arguments, **keywords))[0]

        return of_vector, unflatten, vector


def _with_sorted_keys(tree):
    if isinstance(tree, dict):
        return {key: _with_sorted_keys(tree[key]) for key in sorted(tree)}
    if isinstance(tree, tuple | list):
        return type(tree)(_with_sorted_keys(branch) for branch in tree)
    return tree


def _of_trees(optimize):
    @functools.wraps(optimize)
    def optimize_tree(gradient, start, callback=None, num_iters=100, *options, **named_options):
        flatten = Flattening(numpy).flatten
        vector, unflatten = flatten(start)

        def step(x, iteration):
            g = numpy.asarray(flatten(gradient(unflatten(x), iteration))[0])
            if callback:
                callback(unflatten(x), iteration, unflatten(g))
            return g

        options = (num_iters, *options)
        return unflatten(optimize(step, numpy.array(vector), *options, **named_options))

    return optimize_tree


@_of_trees
def sgd(step, x, num_iters, step_size=0.1, mass=0.9):
    """Gradient descent with momentum."""
    velocity = numpy.zeros_like(x)
    for iteration in range(num_iters):
        velocity = mass * velocity - (1.0 - mass) * step(x, iteration)
        x = x + step_size * velocity
    return x


@_of_trees
def rmsprop(step, x, num_iters, step_size=0.1, gamma=0.9, eps=1e-8):
    """Gradient descent scaled by a running mean of squares."""
    squares = numpy.ones_like(x)
    for iteration in range(num_iters):
        g = step(x, iteration)
        squares = squares * gamma + g**2 * (1 - gamma)
        x = x - step_size * g / (numpy.sqrt(squares) + eps)
    return x


@_of_trees
def adam(step, x, num_iters, step_size=0.001, b1=0.9, b2=0.999, eps=1e-8):
    """Adam, with its correction for the first steps."""
    mean, squares = numpy.zeros_like(x), numpy.zeros_like(x)
    for iteration in range(num_iters):
        g = step(x, iteration)
        mean = (1 - b1) * g + b1 * mean
        squares = (1 - b2) * g**2 + b2 * squares
        corrected = numpy.sqrt(squares / (1 - b2 ** (iteration + 1))) + eps
        x = x - step_size * (mean / (1 - b1 ** (iteration + 1))) / corrected
    return x
