"""Saving tensors, and structures of tensors, as safetensors files; reading them runs no code.

Such a file is eight bytes with the length of a JSON header, the header (dtype, shape and place of
each tensor by name), and the numbers.
"""

import json
import math
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from stagrad.eager.device import check_device
from stagrad.eager.tape import make_tensor
from stagrad.eager.tensor import Tensor

File = str | Path | IO[bytes]

_CODES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32",
    "I32": "int32", "U64": "uint64", "I64": "int64", "F16": "float16", "F32": "float32",
    "F64": "float64", "C64": "complex64",
}  # fmt: skip
_CODE_OF = {name: code for code, name in _CODES.items()}

_STRUCTURE = "stagrad_structure"
"""Where in the metadata of a file stands how its tensors hang together, if they are no plain dict.

Tensors stand there as `{"tensor": name}`, other containers as `{"dict": [[key, value], …]}`,
`{"list": […]}` and `{"tuple": […]}`, and the rest as it is.
"""

MAXIMUM_HEADER = 100_000_000
"""Longer headers are taken for damage, as other readers of the format do."""


def save(obj: Any, f: File) -> None:
    """Write a tensor, a state dict, or nested dicts, lists and tuples of them to a file.

    Besides tensors and arrays, such structures may hold None, booleans, numbers and strings. A dict
    of tensors by name (a `state_dict()`) makes a plain safetensors file that other programs read.
    Raises TypeError, before anything is written, for anything else.

    >>> import io, stagrad
    >>> file = io.BytesIO()
    >>> stagrad.save({"weight": stagrad.ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> stagrad.load(file)
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    arrays: dict[str, np.ndarray] = {}
    metadata = {}
    is_plain = isinstance(obj, Mapping) and all(
        isinstance(key, str) and key != "__metadata__" and isinstance(value, Tensor | np.ndarray)
        for key, value in obj.items()
    )
    if is_plain:
        arrays = {name: _array(value, name) for name, value in obj.items()}
    else:
        metadata = {_STRUCTURE: json.dumps(_described(obj, "", arrays))}
    _write(arrays, metadata, f)


def load(f: File, map_location: Any = None, weights_only: bool = True) -> Any:
    """Read what `save` wrote, or any safetensors file; return it with tensors of their own memory.

    A plain safetensors file gives an ordered dict of tensors by name. bfloat16 is read as float32.
    Raises ValueError where the file is damaged or of another format.
    """
    check_device(map_location)
    content = Path(f).read_bytes() if isinstance(f, str | Path) else f.read()
    header, start = _header_of(content)
    metadata = header.pop("__metadata__", {})
    body = memoryview(content)[start:]
    tensors = OrderedDict(
        (name, make_tensor(_read(name, entry, body), None)) for name, entry in header.items()
    )
    if _STRUCTURE not in metadata:
        return tensors
    return _rebuilt(json.loads(metadata[_STRUCTURE]), tensors)


def _array(value: Any, name: str) -> np.ndarray:
    array = np.asarray(value._array if isinstance(value, Tensor) else value)
    if array.dtype.name not in _CODE_OF:
        raise TypeError(
            f"save: {name or 'the tensor'} has dtype {array.dtype.name}, which the format lacks; "
            f"it has {', '.join(_CODE_OF)}. Save the real and the imaginary part of complex128"
        )
    return array


def _described(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Return the description of a structure, and enter its tensors under dotted names."""
    if isinstance(value, Tensor | np.ndarray):
        key = name or "tensor"
        while key in arrays:
            key += "'"
        arrays[key] = _array(value, name)
        return {"tensor": key}
    prefix = f"{name}." if name else ""
    if isinstance(value, Mapping):
        pairs = [
            [_key(key, name), _described(part, f"{prefix}{key}", arrays)]
            for key, part in value.items()
        ]
        return {"dict": pairs}
    if isinstance(value, list | tuple):
        parts = [_described(part, f"{prefix}{place}", arrays) for place, part in enumerate(value)]
        return {"list" if isinstance(value, list) else "tuple": parts}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        f"save: {name or 'the object'} is a {type(value).__name__}; tensors, arrays, numbers, "
        "strings, None, and dicts, lists and tuples of them can be saved. Save a module's "
        "state_dict()"
    )


def _key(key: Any, name: str) -> Any:
    if key is None or isinstance(key, bool | int | float | str):
        return key
    raise TypeError(
        f"save: a key of {name or 'the dict'} is a {type(key).__name__}; keys are strings or "
        "numbers"
    )


def _rebuilt(described: Any, tensors: Mapping[str, Tensor]) -> Any:
    if not isinstance(described, dict):
        return described
    ((kind, content),) = described.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: _rebuilt(part, tensors) for key, part in content}
    parts = [_rebuilt(part, tensors) for part in content]
    return tuple(parts) if kind == "tuple" else parts


def _write(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str], f: File) -> None:
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    chunks, at = [], 0
    for name, array in arrays.items():
        chunk = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        header[name] = {
            "dtype": _CODE_OF[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [at, at + len(chunk)],
        }
        chunks.append(chunk)
        at += len(chunk)
    text = json.dumps(header, separators=(",", ":")).encode()
    # The numbers begin at a multiple of eight, so that a reader may map them into memory.
    text += b" " * (-len(text) % 8)
    content = b"".join([len(text).to_bytes(8, "little"), text, *chunks])
    if isinstance(f, str | Path):
        Path(f).write_bytes(content)
    else:
        f.write(content)


def _header_of(content: bytes) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(len(content) - 8, MAXIMUM_HEADER):
        raise ValueError(
            "load: this is no safetensors file, or its end is missing. Files of torch.save hold "
            "Python code and are not read; write them with safetensors.torch.save_file"
        )
    try:
        header = json.loads(content[8 : 8 + length])
    except ValueError as error:
        raise ValueError(f"load: the header of the file is damaged: {error}") from error
    if not isinstance(header, dict):
        raise ValueError("load: the header of the file is damaged: it is no JSON object")
    return header, 8 + length


def _read(name: str, entry: Any, body: memoryview) -> np.ndarray:
    try:
        code, shape = entry["dtype"], tuple(map(int, entry["shape"]))
        begin, end = map(int, entry["data_offsets"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"load: the entry of tensor {name!r} is damaged: {entry!r}") from error
    stored = np.dtype("uint16" if code == "BF16" else _CODES.get(code, "V1")).newbyteorder("<")
    if stored.kind == "V":
        raise ValueError(f"load: tensor {name!r} has dtype {code}, which NumPy lacks")
    size = math.prod(shape) * stored.itemsize
    if min(shape, default=0) < 0 or not 0 <= begin <= end <= len(body) or end - begin != size:
        raise ValueError(
            f"load: tensor {name!r} ({code}, shape {list(shape)}) takes {size} bytes, but stands "
            f"at {begin} to {end} of {len(body)}"
        )
    array = np.frombuffer(body[begin:end], stored).reshape(shape)
    if code == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(stored.newbyteorder("="))
