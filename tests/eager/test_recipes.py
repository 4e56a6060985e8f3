"""Functions called again run by their recipes, with the results they have as written."""

import numpy as np
import pytest

import stagrad as torch
from stagrad.eager.recipe import RecipeNode

F = torch.nn.functional
CALLS = 3
"""Calls of one signature after which it is run by its recipe."""

FUNCTIONS = {
    "relu": F.relu,
    "sum": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(1, keepdim=True),
    "mean": lambda x: x.mean(0),
    "view": lambda x: x.view(4, 3),
    "transpose": lambda x: x.t(),
    "softmax": lambda x: F.softmax(x, 1),
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "logsumexp": lambda x: x.logsumexp(0),
    "linear": lambda x: F.linear(x, torch.ones(2, 4, dtype=x.dtype), torch.ones(2, dtype=x.dtype)),
    "the same twice": lambda x: torch.matmul(x, x.t()),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "gelu": F.gelu,
    "var": lambda x: x.var(),
    "norm": lambda x: x.norm(),
    "normalize": lambda x: F.normalize(x),
    "cat": lambda x: torch.cat([x, x * 2]),
    "floor": lambda x: x.floor(),
    "mse_loss": lambda x: F.mse_loss(x, x.detach() + 1),
}


def as_written():
    """Run compositions themselves: hooks on what is saved have to see all of it."""
    return torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)


def leaf(dtype):
    numbers = np.random.default_rng(3).normal(size=(3, 4))
    return torch.tensor(numbers, dtype=dtype, requires_grad=True)


def derivatives(function, x):
    """Return the result, its gradient and the gradient of that one's square sum."""
    out = function(x)
    weights = torch.tensor(np.arange(1.0, out.numel() + 1).reshape(out.shape), dtype=x.dtype)
    (first,) = torch.autograd.grad((out * out * weights).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((first * first).sum(), x, allow_unused=True)
    return [out, first] + ([] if second is None else [second])


def is_by_recipe(node):
    return isinstance(node, RecipeNode)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_as_written(name, dtype):
    x, function = leaf(dtype), FUNCTIONS[name]
    with as_written():
        wanted = derivatives(function, x)
        label = function(x).grad_fn.name()
    for _ in range(CALLS):
        found = derivatives(function, x)
    node = function(x).grad_fn
    assert node.name() == label
    assert is_by_recipe(node) or name == "floor"
    assert len(found) == len(wanted)
    tolerance = 1e-4 if dtype == torch.float32 else 1e-10
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), tolerance, tolerance)


def test_options_of_equal_hash_are_told_apart():
    x = leaf(torch.float64)
    for _ in range(CALLS):
        assert x.sum(1, False).shape == (3,)
        assert x.sum(1, True).shape == (3, 1)
        assert (x * 0).clamp(min=0.0).shape == x.shape


def test_random_numbers_are_drawn_again():
    x = torch.ones(100, requires_grad=True)
    drawn = [F.dropout(x, 0.5).detach().numpy().tobytes() for _ in range(CALLS + 2)]
    assert len(set(drawn)) == len(drawn)


def test_masks_and_indices_are_read_at_each_call():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for place in (0, 1, 2, 0, 2):
        mask = torch.arange(3) == place
        assert x.masked_fill(mask, 9.0)[place].item() == 9.0
        assert x.index_select(0, torch.tensor([place])).item() == place + 1


def test_what_was_overwritten_is_noticed():
    for _ in range(CALLS):
        x = leaf(torch.float64)
        y = x * 1
        out = F.softmax(y, 1).sum() + (y.norm() * 2)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.backward()


def test_writes_through_views_are_differentiated():
    for _ in range(CALLS):
        x = torch.zeros(2, 3, requires_grad=True)
        y = x * 2
        y.view(6).mul_(3)
        y.t().mul_(5)
        y.sum().backward()
        assert x.grad.tolist() == [[30.0] * 3] * 2


def test_views_of_scattered_elements_are_refused():
    x = leaf(torch.float64)
    for _ in range(CALLS):
        x.view(12)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        x.t().view(12)


def test_a_second_pass_needs_what_was_freed():
    x = leaf(torch.float64)
    for _ in range(CALLS):
        out = F.softmax(x, 1).norm()
    out.backward()
    with pytest.raises(RuntimeError, match="second time"):
        out.backward()


def test_errors_stay():
    x = leaf(torch.float64)
    for _ in range(CALLS):
        with pytest.raises(IndexError, match="Dimension out of range"):
            x.sum(5)
