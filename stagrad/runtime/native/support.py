"""The part of the runtime that is C: thread pool and glue, compiled once for each machine."""

import ctypes
import functools
import importlib
from pathlib import Path
from typing import Any

import numpy as np

from stagrad.config import on_num_threads
from stagrad.errors import CompilerError
from stagrad.runtime.native.build import load_object, require_compiler
from stagrad.runtime.native.toolchain import Compiler, find_compiler

FOLDER = Path(__file__).parent
HEADERS = Path(__file__).parents[2] / "codegen" / "c" / "include"
"""The headers that emitted programs include."""

_NUMPY_ABI = 2


class _Host(ctypes.Structure):
    """The structure `Host` of host.h."""

    _fields_ = (
        ("header", ctypes.c_ssize_t),
        ("ndarray", ctypes.c_void_p),
        ("int_type", ctypes.c_void_p),
        ("float_type", ctypes.c_void_p),
        ("complex_type", ctypes.c_void_p),
        ("type_error", ctypes.c_void_p),
        ("numpy", ctypes.c_void_p),
    )


@functools.cache
def support() -> ctypes.PyDLL:
    """Return the loaded support object, ready to make programs.

    Raises CompilerError without a compiler, or with a NumPy of another binary interface.
    """
    text = (FOLDER / "support.c").read_text(encoding="utf-8")
    library = load_object(text, "sg_new_program", [FOLDER, HEADERS])
    host = _Host(
        object.__basicsize__,
        *map(id, (np.ndarray, int, float, complex, TypeError)),
        capsule_pointer(_numpy_table(), None),
    )
    library.sg_setup.restype = ctypes.c_uint
    version = library.sg_setup(ctypes.byref(host)) >> 24
    if version != _NUMPY_ABI:
        raise CompilerError(
            f"compiled programs know arrays of NumPy {_NUMPY_ABI}, and NumPy {np.__version__} has "
            f"binary interface {version}"
        )
    library.sg_new_program.restype = ctypes.py_object
    library.sg_set_threads.argtypes = [ctypes.c_int64]
    library.sg_set_threads.restype = None
    on_num_threads(library.sg_set_threads)
    return library


def native_complaint() -> str:
    """Return why no program can be compiled on this machine, nothing where it can.

    It looks at the compiler that is there now, and the first time tries it.
    """
    return _complaint(find_compiler())


@functools.cache
def _complaint(compiler: Compiler | None) -> str:
    try:
        require_compiler()
        support()
    except CompilerError as error:
        return str(error)
    return ""


def _numpy_table() -> Any:
    """Return the capsule that extension modules find NumPy's functions by."""
    return importlib.import_module("numpy._core._multiarray_umath")._ARRAY_API


def capsule_pointer(capsule: Any, name: bytes | None) -> int:
    """Return the pointer that a capsule of the given name holds."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address: int = get(capsule, name)
    return address
