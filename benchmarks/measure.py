"""Timing two ways to do one thing fairly: turn by turn, medians, on whatever else runs beside."""

import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any


def interleaved(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each way, run one after the other in each round."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def repeated(way: Callable[[], Any], count: int) -> Callable[[], None]:
    """Return a way that does the same `count` times, for what is too short to time once."""

    def run() -> None:
        for _ in range(count):
            way()

    return run


def peak_bytes(way: Callable[[], Any]) -> int:
    """Return the most memory that arrays and objects made by one run hold at a time."""
    tracemalloc.start()
    try:
        way()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
