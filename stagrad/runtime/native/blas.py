"""BLAS and LAPACK as addresses of functions: those that SciPy brings along for Cython."""

import ctypes
import functools
import importlib

from stagrad.runtime.native.support import capsule_pointer

_MODULES = {"": "scipy.linalg.cython_blas", "lapack": "scipy.linalg.cython_lapack"}


@functools.cache
def symbol_address(name: str) -> int:
    """Return the address of a function such as `dgemm`, or `lapack.dpotrf`.

    Its arguments are pointers, as in Fortran, with `int` for sizes. Raises KeyError for a name that
    SciPy does not have.
    """
    library, _, function = name.rpartition(".")
    capsules = importlib.import_module(_MODULES[library]).__pyx_capi__
    capsule = capsules[function]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return capsule_pointer(capsule, get_name(capsule))
