"""Making tensors, converting them, and the forms that write into tensors."""

import copy
import pickle

import numpy as np
import pytest

import stagrad


def test_from_numpy_shares_memory_and_tensor_copies():
    array = np.zeros(2)
    shared, copied = stagrad.from_numpy(array), stagrad.tensor(array)
    shared[0] = 5.0
    assert array.tolist() == [5.0, 0.0]
    assert copied.tolist() == [0.0, 0.0]
    assert stagrad.as_tensor(array).numpy() is array


def test_python_numbers_take_the_default_dtype():
    assert stagrad.tensor(1.0).dtype == stagrad.float32
    assert stagrad.tensor(1).dtype == stagrad.int64
    assert stagrad.tensor([1 + 2j]).dtype == stagrad.complex64
    stagrad.set_default_dtype(stagrad.float64)
    try:
        assert stagrad.tensor(1.0).dtype == stagrad.zeros(1).dtype == stagrad.float64
        assert stagrad.tensor(1j).dtype == stagrad.complex128
    finally:
        stagrad.set_default_dtype(stagrad.float32)
    with pytest.raises(TypeError, match="floating-point"):
        stagrad.set_default_dtype(stagrad.int64)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: stagrad.rand(2, 3),
        lambda: stagrad.randn((4,)),
        lambda: stagrad.randint(0, 9, (5,)),
        lambda: stagrad.randperm(6),
        lambda: stagrad.normal(0.0, stagrad.ones(3)),
        lambda: stagrad.bernoulli(stagrad.full((4,), 0.5)),
        lambda: stagrad.multinomial(stagrad.ones(4), 2),
        lambda: stagrad.zeros(3).uniform_(),
        lambda: stagrad.zeros(3).normal_(),
        lambda: stagrad.rand_like(stagrad.zeros(2)),
        lambda: stagrad.nn.functional.dropout(stagrad.ones(8)),
    ],
)
def test_a_seed_repeats_the_numbers(draw):
    stagrad.manual_seed(3)
    first, second = draw(), draw()
    stagrad.manual_seed(3)
    assert stagrad.equal(draw(), first)
    assert first.shape == second.shape


def test_a_generator_has_a_state_of_its_own():
    generator = stagrad.Generator().manual_seed(1)
    state = generator.get_state()
    first = stagrad.rand(3, generator=generator)
    stagrad.rand(3)
    generator.set_state(state)
    assert stagrad.equal(stagrad.rand(3, generator=generator), first)
    assert generator.initial_seed() == 1


def test_pickles_and_copies_keep_numbers_and_requires_grad():
    x = stagrad.tensor([1.0, 2.0], requires_grad=True)
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert made.requires_grad
        assert made.is_leaf
        assert made.tolist() == [1.0, 2.0]
        assert made.data_ptr() != x.data_ptr()
    assert copy.copy(x).data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="deepcopy"):
        copy.deepcopy(x * 2)


def test_dlpack_goes_both_ways():
    x = stagrad.arange(3.0)
    assert np.from_dlpack(x).tolist() == [0.0, 1.0, 2.0]
    assert stagrad.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="detach"):
        np.from_dlpack(x.requires_grad_())


def test_other_devices_are_refused():
    x = stagrad.ones(1)
    assert str(x.device) == "cpu"
    assert x.to("cpu") is x.cpu() is x
    for ask in (x.cuda, lambda: x.to("cuda:0"), lambda: stagrad.zeros(1, device="cuda")):
        with pytest.raises(TypeError, match="live on the CPU"):
            ask()


def test_out_receives_the_result():
    out = stagrad.empty(2)
    assert stagrad.exp(stagrad.zeros(2), out=out) is out
    assert out.tolist() == [1.0, 1.0]
    values, places = stagrad.empty(1), stagrad.empty(1, dtype=stagrad.int64)
    stagrad.max(stagrad.tensor([[1.0, 3.0]]), 1, out=(values, places))
    assert (values.item(), places.item()) == (3.0, 1)


@pytest.mark.parametrize(
    ("method", "arguments", "label"),
    [
        ("exp_", (), "ExpBackward0"),
        ("mul_", (3.0,), "MulBackward0"),
        ("clamp_", (0.0, 1.0), "ClampBackward1"),
        ("relu_", (), "ReluBackward0"),
        ("masked_fill_", (stagrad.tensor([True, False]), 0.0), "MaskedFillBackward0"),
    ],
)
def test_in_place_forms_write_and_record(method, arguments, label):
    x = stagrad.tensor([1.0, -2.0], requires_grad=True)
    y, z = x * 1, x * 1
    result = getattr(y, method)(*arguments)
    assert result is y
    expected = getattr(z, method[:-1])(*arguments)
    assert y.tolist() == expected.tolist()
    assert y.grad_fn.name() == label
    (found,) = stagrad.autograd.grad(y.sum(), x)
    (wanted,) = stagrad.autograd.grad(expected.sum(), x)
    assert stagrad.equal(found, wanted)


def test_numpy_spellings_of_arguments_are_taken_too():
    x = stagrad.arange(6.0).reshape(2, 3)
    assert stagrad.equal(x.sum(axis=1, keepdims=True), x.sum(dim=1, keepdim=True))
    assert stagrad.equal(stagrad.softmax(x, axis=0), stagrad.softmax(x, dim=0))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: x.view(4), RuntimeError, r"shape '\[4\]' is invalid for input of size 6"),
        (lambda x: x.T.view(6), RuntimeError, "view size is not compatible"),
        (lambda x: x.sum(2), IndexError, r"expected to be in range of \[-2, 1\], but got 2"),
        (lambda x: x @ x, RuntimeError, r"cannot be multiplied \(2x3 and 2x3\)"),
        (lambda x: stagrad.tensor([1, 2]).mean(), RuntimeError, "could not infer output dtype"),
        (lambda x: x.expand(3, 3), RuntimeError, "must match the existing size"),
        (lambda x: stagrad.cat([x, x.T]), RuntimeError, "Sizes of tensors must match"),
        (lambda x: x.topk(5), RuntimeError, "selected index k out of range"),
        (lambda x: x.clamp(), RuntimeError, "At least one of 'min' or 'max'"),
        (lambda x: x.gather(1, stagrad.tensor([[7]])), RuntimeError, "out of bounds"),
        (lambda x: stagrad.zeros(-1), RuntimeError, "negative dimension -1"),
        (lambda x: stagrad.arange(3, 1), RuntimeError, "inconsistent with step sign"),
    ],
)
def test_mistakes_are_named_in_pytorchs_words(call, error, words):
    with pytest.raises(error, match=words):
        call(stagrad.arange(6.0).reshape(2, 3))
