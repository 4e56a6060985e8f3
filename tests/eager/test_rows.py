"""Every row of the operation table on tensors: NumPy's values and the compiler's gradients.

What a tensor cannot take part in is refused, for NumPy would make an array of it; no row may give
another number.
"""

import numpy as np
import pytest

import stagrad
from stagrad.errors import DerivativeError
from stagrad.trace.trees import flatten, unflatten
from tests.op_cases import families

# Methods that mean PyTorch's on a tensor, attributes that only arrays have, private ufuncs of SciPy
# behind its Python functions, and what a pass of the compiler alone recognises.
OTHERWISE = {
    "Python scalars adapt", "NumPy functions of Python scalars are double", "fill",
    "take along an axis", "as_strided", "as_strided of a part", "ravel",
    "flatten in Fortran's order", "transpose method", "repeat along an axis",
    "max and min over axes", "scipy circulant", "sort in place", "zeta", "lambertw",
    "lambertw of another branch", "hermitian product of equal eigenvalues", "var",
    "var with a given mean and dtype", "std",
}  # fmt: skip

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

CASES = [
    case
    for cases in families().values()
    for case in cases
    if case.order >= 1 and case.name not in OTHERWISE
]


def tensor(leaf):
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc":
        return stagrad.tensor(leaf.copy(), requires_grad=True)
    return leaf


def seed_like(value, random):
    value = np.asarray(value)
    if value.dtype.kind not in "fc":
        return np.zeros(value.shape, value.dtype)
    seed = random.normal(size=value.shape)
    if value.dtype.kind == "c":
        seed = seed + 1j * random.normal(size=value.shape)
    return np.asarray(seed, value.dtype)


def same(got, want, rtol):
    got = got.detach().numpy() if isinstance(got, stagrad.Tensor) else got
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_row(case):
    leaves, spec = flatten(case.operands)
    tensors = [tensor(leaf) for leaf in leaves]
    # A row may write into its operands, which leaves that require grad do not allow.
    given = [t.clone() if isinstance(t, stagrad.Tensor) else t for t in tensors]
    try:
        outputs = flatten(case.function(*unflatten(spec, given)))[0]
    except RuntimeError as error:
        if "Can't call numpy()" not in str(error):
            raise
        return
    copies = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
    wanted = flatten(case.function(*unflatten(spec, copies)))[0]
    for got, want in zip(outputs, wanted, strict=True):
        same(got, want, 1e-9)
    random = np.random.default_rng(0)
    try:
        value, pullback = stagrad.vjp(case.function, *case.operands)
    except DerivativeError:
        return
    values, output_spec = flatten(value)
    seeds = [seed_like(value, random) for value in values]
    roots = [
        (output, stagrad.tensor(seed))
        for output, seed in zip(outputs, seeds, strict=True)
        if isinstance(output, stagrad.Tensor) and output.requires_grad
    ]
    if not roots:
        return
    chosen = [t for t in tensors if isinstance(t, stagrad.Tensor)]
    found = stagrad.autograd.grad(
        [output for output, _ in roots],
        chosen,
        [seed for _, seed in roots],
        materialize_grads=True,
    )
    wanted = flatten(pullback(unflatten(output_spec, seeds)))[0]
    for got, want in zip(found, wanted, strict=True):
        same(got, want, 1e-7)
