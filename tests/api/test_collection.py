"""Compiling pauses the collector of cycles, and leaves it as it found it."""

import gc
import threading
from typing import Any

import numpy as np
import pytest

import stagrad
from stagrad.api.collection import collection_paused


def test_it_is_paused_while_tracing_and_back_afterwards() -> None:
    seen = []

    def function(x: Any) -> Any:
        seen.append(gc.isenabled())
        return np.sin(x)

    stagrad.compile(function)(np.ones(2))
    assert seen == [False]
    assert gc.isenabled()


def test_it_comes_back_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        stagrad.compile(lambda x: x * (1 // 0))(np.ones(2))
    assert gc.isenabled()


def test_who_has_it_off_keeps_it_off() -> None:
    gc.disable()
    try:
        stagrad.grad(lambda x: np.sum(x * x))(np.ones(2))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_of_several_threads_brings_it_back() -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collection_paused():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=other)
    with collection_paused():
        thread.start()
        assert entered.wait(30)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
