"""The array API standard on tensors, and the dtypes that users see."""

import copy
import pickle

import numpy as np
import pytest

import stagrad
from stagrad import array_api as xp


def test_tensors_name_the_namespace():
    x = stagrad.ones(2)
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match="api_version='1999'"):
        x.__array_namespace__(api_version="1999")
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="no streams"):
        x.to_device("cpu", stream=1)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: xp.max(x, axis=1), [3.0, 2.0]),
        (lambda x: xp.sort(x, axis=1, descending=True), [[3.0, 1.0], [2.0, 0.0]]),
        (lambda x: xp.argsort(xp.asarray([1.0, 2.0, 1.0]), descending=True), [1, 0, 2]),
        (lambda x: xp.sum(x, axis=(0, 1), keepdims=True), [[6.0]]),
        (lambda x: xp.equal(x, x), [[True, True], [True, True]]),
        (lambda x: xp.take(x, xp.asarray([1]), axis=0), [[2.0, 0.0]]),
        (lambda x: xp.unique_values(xp.asarray([2, 1, 2])), [1, 2]),
        (lambda x: xp.mean(x, axis=()), [[1.0, 3.0], [2.0, 0.0]]),
        (lambda x: xp.clip(x, 1.0), [[1.0, 3.0], [2.0, 1.0]]),
        (lambda x: xp.arange(3, 1), []),
        (lambda x: xp.eye(2, k=1), [[0.0, 1.0], [0.0, 0.0]]),
        (lambda x: xp.linspace(0.0, 1.0, 2, endpoint=False), [0.0, 0.5]),
        (lambda x: xp.meshgrid(x[0], x[1], x[1])[1][0][1], [2.0, 2.0]),
        (lambda x: xp.linalg.trace(x), 1.0),
        (lambda x: xp.fft.ifft(xp.fft.fft(x))[1].real, [2.0, 0.0]),
        (lambda x: xp.fft.fftfreq(2), [0.0, -0.5]),
    ],
)
def test_functions_mean_what_the_standard_says(call, expected):
    found = call(stagrad.tensor([[1.0, 3.0], [2.0, 0.0]]))
    assert isinstance(found, stagrad.Tensor)
    assert np.allclose(found.numpy(), expected)


def test_functions_of_the_standard_are_recorded():
    x = stagrad.tensor([[1.0, 3.0], [2.0, 0.0]], requires_grad=True)
    (xp.max(x, axis=1).sum() + xp.linalg.trace(x) + xp.sort(x, descending=True)[0, 1]).backward()
    assert x.grad.tolist() == [[2.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "full"])
def test_creation_takes_the_default_dtype_and_a_shape(name):
    value = (7,) if name == "full" else ()
    made = getattr(xp, name)((2, 1), *value, dtype=xp.float32)
    assert (made.shape, made.dtype) == ((2, 1), xp.float32)
    if name != "full":
        assert getattr(stagrad, name)(shape=(2, 1)).shape == (2, 1)
        with pytest.raises(TypeError, match="unexpected keyword argument 'shap'"):
            getattr(stagrad, name)(shap=(2, 1))


def test_asarray_copies_as_asked():
    array = np.ones(2)
    assert np.shares_memory(xp.asarray(array).numpy(), array)
    assert np.shares_memory(xp.asarray(array, copy=False).numpy(), array)
    assert not np.shares_memory(xp.asarray(array, copy=True).numpy(), array)
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(array, dtype=xp.float32, copy=False)


def test_info():
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == stagrad.float32
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert len(info.dtypes()) == 13
    assert info.default_device() in info.devices()
    assert info.capabilities()["boolean indexing"]
    assert xp.isdtype(xp.float32, ("integral", "real floating"))
    assert not xp.isdtype(xp.float32, xp.float64)
    assert xp.can_cast(xp.int8, xp.int16)
    assert not xp.can_cast(xp.float64, xp.float32)


@pytest.mark.parametrize("name", ["float16", "float64", "int32", "bool", "complex64"])
def test_a_dtype_stands_for_that_of_numpy(name):
    seen, known = getattr(stagrad, name), np.dtype(name)
    assert repr(seen) == str(seen) == f"{seen}" == f"torch.{name}"
    assert isinstance(seen, stagrad.dtype)
    assert seen == known
    assert known == seen
    assert seen == known.type
    assert known.type == seen
    assert seen != np.dtype("int8")
    assert seen is not None
    assert seen != "no dtype"
    assert hash(seen) == hash(known)
    assert np.zeros(2, seen).dtype == np.ones(2).astype(seen).dtype == known
    assert (seen.itemsize, seen.kind) == (known.itemsize, known.kind)
    assert stagrad.zeros(2, dtype=seen).dtype is seen
    assert pickle.loads(pickle.dumps(seen)) is copy.deepcopy(seen) is seen
    assert (seen.is_floating_point, seen.is_complex) == (known.kind == "f", known.kind == "c")


def test_dtypes_of_parts_and_of_signs():
    assert stagrad.complex64.to_real() is stagrad.float32
    assert stagrad.float64.to_complex() is stagrad.complex128
    assert stagrad.int8.is_signed
    assert not stagrad.uint8.is_signed
    assert stagrad.float is stagrad.float32


def test_limits():
    assert repr(stagrad.finfo(stagrad.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
        "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)"
    )
    assert (
        repr(stagrad.iinfo(stagrad.int32))
        == "iinfo(min=-2.14748e+09, max=2.14748e+09, dtype=int32)"
    )
    assert type(stagrad.finfo(stagrad.float32).eps) is float
    assert stagrad.finfo(stagrad.complex64).bits == 32
    with pytest.raises(TypeError, match="floating point"):
        stagrad.finfo(stagrad.int8)
    with pytest.raises(TypeError, match="integer"):
        stagrad.iinfo(stagrad.float32)
    assert stagrad.result_type(stagrad.int8, stagrad.ones(2), 3) is stagrad.float32
    assert stagrad.promote_types(stagrad.int8, stagrad.uint8) is stagrad.int16


def test_every_name_is_the_function_not_a_module_of_that_name():
    for name in stagrad.eager.__all__:
        assert getattr(stagrad, name) is getattr(stagrad.eager, name)
    assert stagrad.trace(stagrad.eye(3)).item() == 3


def test_eigenvalues_are_complex_whatever_the_matrix():
    x = stagrad.tensor([[2.0, 0.0], [1.0, 3.0]], requires_grad=True)
    values = stagrad.linalg.eigvals(x)
    assert values.dtype is stagrad.linalg.eig(x).eigenvectors.dtype is stagrad.complex64
    values.real.sum().backward()
    assert np.allclose(x.grad, np.eye(2))


def test_names_of_the_standard_among_those_of_pytorch():
    x = stagrad.tensor([[1, 2, 0], [3, 0, 4]])
    assert stagrad.count_nonzero(x, axis=1, keepdims=True).tolist() == [[2], [2]]
    assert stagrad.max(x, keepdims=True).tolist() == [[4]]
    assert stagrad.concat([x[0], x], axis=None).shape == (9,)
    assert stagrad.flip(x, axis=None)[0].tolist() == [4, 0, 3]
    assert stagrad.roll(x, 1, axis=1)[0].tolist() == [0, 1, 2]
    assert stagrad.triu(x, k=1)[1].tolist() == [0, 0, 4]
    assert stagrad.eye(2, k=1).tolist() == [[0, 1], [0, 0]]
    assert stagrad.linalg.vecdot(x.to(stagrad.uint8), x.to(stagrad.uint8)).dtype == np.uint8
    assert stagrad.linalg.cross(stagrad.eye(3), stagrad.eye(3)[[1, 2, 0]]).tolist() == [
        [0, 0, 1],
        [1, 0, 0],
        [0, 1, 0],
    ]


def test_dlpack():
    x = stagrad.arange(3.0)
    assert np.shares_memory(np.from_dlpack(x), x.numpy())
    assert not np.shares_memory(stagrad.from_dlpack(x, copy=True).numpy(), x.numpy())
    with pytest.raises(BufferError, match="detach"):
        stagrad.from_dlpack(x.clone().requires_grad_())
