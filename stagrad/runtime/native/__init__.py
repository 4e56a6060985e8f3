"""Emitted C to callable: the compiler, the cache of objects, threads and the call itself."""

from stagrad.runtime.native.executable import load_native
from stagrad.runtime.native.support import native_complaint
from stagrad.runtime.native.toolchain import find_compiler

__all__ = ["find_compiler", "load_native", "native_complaint"]
