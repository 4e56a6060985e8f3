"""A compiled program as a Python function: its memory, constants, callbacks and conversions."""

import ctypes
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.errors import DTypeError, ShapeError
from stagrad.ir.aval import PYTHON_SCALARS, Aval
from stagrad.ir.native import Callback, NativeProgram
from stagrad.ir.primitive import module_namespace
from stagrad.runtime.native.blas import symbol_addresses
from stagrad.runtime.native.build import function_address, load_object
from stagrad.runtime.native.support import HEADERS, support

_WEAK_KINDS = {"i": 1, "f": 2, "c": 3}


class _Array(ctypes.Structure):
    """The structure `Array` of support.c."""

    _fields_ = (
        ("dtype", ctypes.c_void_p),
        ("scalar_type", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("ndim", ctypes.c_int64),
        ("itemsize", ctypes.c_int64),
        ("kind", ctypes.c_int64),
    )


class _Callback(ctypes.Structure):
    """The structure `Callback` of support.c."""

    _fields_ = (
        ("arrays", ctypes.c_void_p),
        ("operands", ctypes.c_int64),
        ("results", ctypes.c_int64),
        ("in_place", ctypes.c_int64),
        ("function", ctypes.c_void_p),
    )


class _Description(ctypes.Structure):
    """The structure `Description` of support.c."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("entry", ctypes.c_void_p),
        ("inputs", ctypes.c_void_p),
        ("outputs", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("input_count", ctypes.c_int64),
        ("output_count", ctypes.c_int64),
        ("constant_count", ctypes.c_int64),
        ("workspace_bytes", ctypes.c_int64),
        ("sizes", ctypes.c_void_p),
        ("numbers", ctypes.c_void_p),
        ("symbols", ctypes.c_void_p),
        ("callbacks", ctypes.c_void_p),
        ("release", ctypes.c_int64),
        ("convert", ctypes.c_void_p),
        ("miss", ctypes.c_void_p),
        ("keeper", ctypes.c_void_p),
    )


def load_native(program: NativeProgram, miss: object = None) -> Callable[..., Any]:
    """Return the function that runs a program: its inputs in order, a tuple of its outputs back.

    Inputs are arrays of the avals' shapes and dtypes, or numbers for 0-d ones; an array that is not
    contiguous, aligned and of native byte order is copied. 0-d outputs are NumPy scalars. The
    function may be called by several threads at once. Raises CompilerError where the text cannot
    be compiled, and the call ShapeError or DTypeError for an array the program is not for. With
    `miss`, the call answers that instead, for whatever is not exactly of the type, shape and dtype
    of an input, and so tells which program to run in the time that running it takes.
    """
    library = support()
    loaded = load_object(program.text, program.name, [HEADERS])
    memory = _Memory()
    description = _Description(
        name=memory.text(program.name),
        entry=function_address(loaded, program.name),
        inputs=memory.arrays(program.inputs),
        outputs=memory.arrays(program.outputs),
        constants=memory.pointers([memory.address(each.array) for each in program.constants]),
        input_count=len(program.inputs),
        output_count=len(program.outputs),
        constant_count=len(program.constants),
        workspace_bytes=program.workspace,
        sizes=memory.address(np.array(program.sizes, np.int64)),
        numbers=memory.address(np.array(program.numbers, np.float64)),
        symbols=memory.pointers(symbol_addresses(program.symbols)) if program.symbols else 0,
        callbacks=memory.callbacks(program.callbacks),
        release=program.long,
        convert=memory.hold(_converter(program, miss)),
        miss=memory.hold(object() if miss is None else miss),
        keeper=id(memory.kept),
    )
    memory.hold(loaded)
    function: Callable[..., Any] = library.sg_new_program(ctypes.byref(description))
    return function


class _Memory:
    """Gives out addresses, and owns what they point to for as long as the program lives."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def hold(self, value: object) -> int:
        """Return the address of a Python object."""
        self.kept.append(value)
        return id(value)

    def text(self, value: str) -> bytes:
        """Return bytes whose memory stays where it is."""
        encoded = value.encode()
        self.kept.append(encoded)
        return encoded

    def address(self, array: np.ndarray) -> int:
        """Return the address of an array's elements."""
        self.kept.append(array)
        return array.ctypes.data

    def pointers(self, addresses: Sequence[int]) -> int:
        """Return the address of a table of addresses."""
        return self.address(np.array(addresses, np.uintp))

    def arrays(self, avals: Sequence[Aval]) -> int:
        """Return the address of a table of structures `Array`."""
        table = (_Array * len(avals))(*map(self._array, avals))
        self.kept.append(table)
        return ctypes.addressof(table)

    def _array(self, aval: Aval) -> _Array:
        # NumPy has one object for each native dtype, which the glue compares by identity.
        dtype = np.dtype(aval.dtype.type)
        return _Array(
            dtype=self.hold(dtype),
            scalar_type=self.hold(dtype.type),
            shape=self.address(np.array(aval.shape, np.intp)),
            ndim=aval.ndim,
            itemsize=dtype.itemsize,
            kind=_WEAK_KINDS.get(dtype.kind, 0) if aval.weak else 0,
        )

    def callbacks(self, callbacks: Sequence[Callback]) -> int:
        """Return the address of a table of structures `Callback`."""
        table = (_Callback * len(callbacks))(*map(self._callback, callbacks))
        self.kept.append(table)
        return ctypes.addressof(table)

    def _callback(self, callback: Callback) -> _Callback:
        return _Callback(
            arrays=self.arrays([*callback.operands, *callback.results]),
            operands=len(callback.operands),
            results=len(callback.results),
            in_place=callback.in_place,
            function=self.hold(_runner(callback)),
        )


def _converter(program: NativeProgram, miss: object) -> Callable[[int, Any], Any]:
    """Return what makes an array as the program wants it of a value that is none."""

    def convert(position: int, value: Any) -> Any:
        aval = program.inputs[position]
        array = value if type(value) is np.ndarray else np.asarray(value)
        given, wanted = array.dtype.newbyteorder("="), np.dtype(aval.dtype.type)
        if miss is not None:
            exact = array is value and not aval.weak and given == wanted
            return _plain(array, wanted) if exact and array.shape == aval.shape else miss
        number = array.ndim == 0 and (aval.weak or type(value) in PYTHON_SCALARS)
        where = f"{program.name}: input {position} is"
        if given != wanted and not (number and np.can_cast(given, wanted, "same_kind")):
            raise DTypeError(f"{where} of dtype {given}; this program is for {wanted}")
        if array.shape != aval.shape:
            raise ShapeError(f"{where} of shape {array.shape}; this program is for {aval.shape}")
        return _plain(array, wanted)

    return convert


def _plain(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return an array contiguous, aligned and of native byte order, a copy only where needed."""
    # A dtype may equal the native one and be another object, which the glue does not take for it.
    plain = np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])
    return plain if plain.dtype is dtype else plain.view(dtype)


def _runner(callback: Callback) -> Callable[..., None]:
    """Return what runs a step in Python on arrays: its operands, then its results to fill in."""
    primitive, params, count = callback.primitive, callback.params, len(callback.operands)
    update = _update(callback) if callback.in_place else None

    def compute(operands: tuple[np.ndarray, ...], results: tuple[np.ndarray, ...]) -> None:
        if update is not None:
            update(*operands)
            return
        values = primitive.evaluate(operands, params)
        for result, value in zip(results, values if primitive.multiple else [values], strict=True):
            result[...] = np.reshape(value, result.shape)

    def run(*arrays: np.ndarray) -> None:
        try:
            with np.errstate(all="ignore"):
                compute(arrays[:count], arrays[count:])
        except BaseException as error:
            # The arrays lie in the program's memory, which a traceback must not hold on to.
            del arrays
            traceback.clear_frames(error.__traceback__)
            raise

    return run


def _update(callback: Callback) -> Callable[..., None]:
    """Return the function that changes operand 0 into the result."""
    primitive = callback.primitive
    names = tuple(f"a{position}" for position in range(len(callback.operands)))
    statement = primitive.update_statement(names, callback.params)
    namespace = module_namespace() | {helper.__name__: helper for helper in primitive.helpers}
    exec(f"def update({', '.join(names)}):\n    {statement}\n", namespace)
    return namespace["update"]  # type: ignore[no-any-return]
