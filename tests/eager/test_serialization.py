"""Tensors and structures of them come back from safetensors files as they were, or not at all."""

import io
import json
from collections import OrderedDict

import numpy as np
import pytest

import stagrad
from stagrad import nn


def round_trip(value):
    file = io.BytesIO()
    stagrad.save(value, file)
    file.seek(0)
    return stagrad.load(file)


def made(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return io.BytesIO(len(text).to_bytes(8, "little") + text + body)


@pytest.mark.parametrize(
    "dtype",
    ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16",
     "float32", "float64", "complex64"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_every_dtype_and_shape(dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
    loaded = round_trip({"x": stagrad.tensor(array)})["x"].numpy()
    assert loaded.dtype == array.dtype
    np.testing.assert_array_equal(loaded, array)


def test_bytes_are_those_of_the_format():
    file = io.BytesIO()
    stagrad.save({"w": stagrad.tensor([1.0, 2.0])}, file)
    content = file.getvalue()
    length = int.from_bytes(content[:8], "little")
    assert (8 + length) % 8 == 0
    entry = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    assert json.loads(content[8 : 8 + length]) == entry
    assert content[8 + length :] == np.array([1, 2], "<f4").tobytes()


def test_views_and_parameters_are_saved_by_their_elements(tmp_path):
    x = stagrad.arange(6.0).reshape(2, 3)
    state = OrderedDict(turned=x.t(), row=x[1], parameter=nn.Parameter(x))
    stagrad.save(state, tmp_path / "state.safetensors")
    loaded = stagrad.load(str(tmp_path / "state.safetensors"), map_location="cpu")
    assert list(loaded) == list(state)
    for name, tensor in state.items():
        np.testing.assert_array_equal(loaded[name].numpy(), tensor.detach().numpy())
    assert type(loaded["parameter"]) is stagrad.Tensor
    loaded["row"][0] = 9.0
    assert loaded["turned"][0, 1] == 3.0


def test_structures():
    value = {
        "epoch": 3, "loss": [0.5, float("inf"), None], 7: (True, "text"), "empty": {},
        "nested": {"a.b": stagrad.ones(2), "a": {"b": stagrad.zeros(1)}},
    }  # fmt: skip
    loaded = round_trip(value)
    assert str(loaded) == str(value)
    assert loaded[7] == (True, "text")
    np.testing.assert_array_equal(round_trip(stagrad.ones(2)).numpy(), [1, 1])


def test_a_checkpoint_resumes_training():
    def training(model, optimizer, steps):
        x = stagrad.linspace(-1, 1, 8).reshape(-1, 1)
        for _ in range(steps):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), x * x).backward()
            optimizer.step()

    def build():
        model = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
        return model, stagrad.optim.Adam(model.parameters(), lr=0.01)

    first, second = build(), build()
    training(*first, 3)
    saved = round_trip({"model": first[0].state_dict(), "optimizer": first[1].state_dict()})
    second[0].load_state_dict(saved["model"])
    second[1].load_state_dict(saved["optimizer"])
    training(*first, 3)
    training(*second, 3)
    for one, other in zip(first[0].parameters(), second[0].parameters(), strict=True):
        np.testing.assert_array_equal(one.detach().numpy(), other.detach().numpy())


def test_bfloat16_is_read_as_float32():
    entry = {"x": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}
    loaded = stagrad.load(made(entry, np.array([0x3F80, 0xC040], "<u2").tobytes()))
    assert loaded["x"].tolist() == [1.0, -3.0]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"f": print}, "f is a builtin_function"),
        ({"a": [stagrad.ones(1), object()]}, r"a\.1 is a object"),
        ({(1, 2): stagrad.ones(1)}, "a key of the dict is a tuple"),
        ({"z": stagrad.tensor([1j], dtype=stagrad.complex128)}, "z has dtype complex128"),
    ],
)
def test_what_cannot_be_saved_writes_nothing(tmp_path, value, words):
    with pytest.raises(TypeError, match=words):
        stagrad.save(value, tmp_path / "file")
    assert not (tmp_path / "file").exists()


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "file",
    [
        io.BytesIO(b""),
        io.BytesIO(b"PK\x03\x04 a pickle in a zip"),
        made(b"{not json"),
        made([1]),
        made({"x": ENTRY}, b"1234"),
        made({"x": {**ENTRY, "shape": [3]}}, bytes(8)),
        made({"x": {**ENTRY, "shape": [-1, -2]}}, bytes(8)),
        made({"x": {**ENTRY, "data_offsets": [-8, 0]}}, bytes(8)),
        made({"x": {**ENTRY, "dtype": "F8_E4M3"}}, bytes(8)),
        made({"x": {"dtype": "F32"}}, bytes(8)),
        made({"x": 3}),
    ],
)
def test_damaged_files(file):
    with pytest.raises(ValueError, match=r"^load: "):
        stagrad.load(file)
