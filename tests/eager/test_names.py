"""The names of nodes and the words of errors: what PyTorch 2.13 answers to the same lines."""

import numpy as np
import pytest

import stagrad


def leaf(*values):
    return stagrad.tensor(np.array(values, float), requires_grad=True)


def written(b, part):
    b[0:2] *= 2
    return (b, part)[1]


NAMES = [
    ("AddBackward0", lambda a: a + 1),
    ("AddBackward0", lambda a: 1 + a),
    ("SubBackward0", lambda a: a - 1),
    ("RsubBackward1", lambda a: 1 - a),
    ("MulBackward0", lambda a: a * a),
    ("DivBackward0", lambda a: a / 2),
    ("MulBackward0", lambda a: 1 / a),
    ("PowBackward0", lambda a: a**2),
    ("PowBackward1", lambda a: a**a),
    ("PowBackward2", lambda a: 2**a),
    ("NegBackward0", lambda a: -a),
    ("AbsBackward0", abs),
    ("RemainderBackward0", lambda a: a % 2),
    ("DotBackward0", lambda a: a @ a),
    ("MmBackward0", lambda a: a.view(2, 2) @ a.view(2, 2)),
    ("MvBackward0", lambda a: a.view(2, 2) @ a[:2]),
    ("UnsafeViewBackward0", lambda a: a.view(1, 2, 2) @ a.view(1, 2, 2)),
    ("SelectBackward0", lambda a: a[0]),
    ("SliceBackward0", lambda a: a[1:3]),
    ("UnsqueezeBackward0", lambda a: a[None]),
    ("AliasBackward0", lambda a: a[...]),
    ("IndexBackward0", lambda a: a[[0, 1]]),
    ("IndexBackward0", lambda a: a[a > 2]),
    ("ViewBackward0", lambda a: a.view(2, 2)),
    ("CloneBackward0", lambda a: a.clone()),
    ("SumBackward0", lambda a: a.sum()),
    ("MeanBackward0", lambda a: a.mean()),
    ("AddBackward0", lambda a: (a * 1).__iadd__(1)),
    ("PowBackward0", lambda a: (a * 1).__ipow__(2)),
    ("torch::autograd::CopySlices", lambda a: written(b := a * 1, b)),
    ("AsStridedBackward0", lambda a: written(b := a * 1, b[0:2])),
]


@pytest.mark.parametrize(("name", "function"), NAMES)
def test_node_names(name, function):
    assert function(leaf(1, 2, 3, 4)).grad_fn.name() == name


def test_integers_do_not_require_grad():
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        stagrad.tensor(np.array([1, 2])).requires_grad_()


def test_flags_of_results_are_fixed():
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
        (leaf(1) * 1).requires_grad = False


def test_gradients_of_another_size_are_refused():
    with pytest.raises(RuntimeError, match=r"assign a gradient of size '\[1\]'"):
        leaf(1, 2).grad = stagrad.tensor([1.0])


def test_shapes_that_do_not_match():
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match .* b \(3\)"):
        leaf(1, 2) + leaf(1, 2, 3)


def test_results_of_another_type_are_not_written():
    counts = stagrad.tensor(np.array([1, 2]))
    with pytest.raises(RuntimeError, match=r"result type Double can't be cast .* type Long"):
        counts += leaf(1, 2)
