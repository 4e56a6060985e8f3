"""BLAS and LAPACK as addresses of functions: those that SciPy brings along for Cython.

Products are divided among the threads of stagrad's own pool, which sleep between calls; the threads
of OpenBLAS spin for milliseconds, and beside a busy process take a core from those that compute. So
SciPy's BLAS is held to one thread while a program that calls it runs.
"""

import ctypes
import functools
import importlib
from collections.abc import Sequence
from typing import Any

from stagrad.errors import CompilerError
from stagrad.runtime.native.support import capsule_pointer, support

_MODULES = {"": "scipy.linalg.cython_blas", "lapack": "scipy.linalg.cython_lapack"}
_PREFIXES = ("scipy_openblas_", "openblas_", "scipy_openblas64_", "openblas64_")


def symbol_addresses(names: Sequence[str]) -> list[int]:
    """Return the addresses of functions such as `dgemm`, or `lapack.dpotrf`.

    Their arguments are pointers, as in Fortran, with `int` for sizes. Raises CompilerError for a
    name that SciPy does not have.
    """
    _hold_to_one_thread()
    return [_address(name) for name in names]


@functools.cache
def _address(name: str) -> int:
    library, _, function = name.rpartition(".")
    capsules = importlib.import_module(_MODULES[library]).__pyx_capi__
    if function not in capsules:
        raise CompilerError(f"{_MODULES[library]} has no function {function!r}")
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return capsule_pointer(capsules[function], get_name(capsules[function]))


@functools.cache
def _hold_to_one_thread() -> None:
    """Tell the glue how to set the number of threads of SciPy's BLAS, where it is an OpenBLAS."""
    found = _openblas()
    if found is not None:
        get, set_ = (ctypes.cast(function, ctypes.c_void_p) for function in found)
        support().sg_setup_blas(get, set_)


def _openblas() -> tuple[Any, Any] | None:
    """Return OpenBLAS's functions that get and set its number of threads."""
    # A name is looked for in what the module is linked with too.
    library = ctypes.CDLL(importlib.import_module(_MODULES[""]).__file__)
    for prefix in _PREFIXES:
        get = getattr(library, f"{prefix}get_num_threads", None)
        set_ = getattr(library, f"{prefix}set_num_threads", None)
        if get is not None and set_ is not None:
            return get, set_
    return None
