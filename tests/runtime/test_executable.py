"""Loading emitted text: tracebacks show it, and it is forgotten with the function."""

import gc
import linecache
import traceback

import numpy as np
import pytest

from stagrad.runtime import load

TEXT = "def half(x):\n    y = x / 2\n    return (y,)\n"


def test_tracebacks_show_the_emitted_line() -> None:
    half = load(TEXT, "half")
    with pytest.raises(TypeError) as caught:
        half("six")
    lines = traceback.format_exception(caught.value)
    assert any("y = x / 2" in line for line in lines)


def test_the_text_comes_with_the_function() -> None:
    half = load(TEXT, "half")
    assert half.source == TEXT  # type: ignore[attr-defined]
    assert half(np.float64(3.0)) == (1.5,)


def test_the_text_is_forgotten_with_the_function() -> None:
    before = set(linecache.cache)
    half = load(TEXT, "half")
    (file,) = set(linecache.cache) - before
    assert linecache.getline(file, 2) == "    y = x / 2\n"
    linecache.checkcache()
    assert linecache.getline(file, 2) == "    y = x / 2\n"
    del half
    gc.collect()
    assert file not in linecache.cache
