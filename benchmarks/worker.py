"""One peer at one workload, in a process of its own: commands on stdin, answers as lines of JSON.

    python -m benchmarks.worker PEER WORKLOAD OUT.npz
    -> {"import_s", "first_s", "rss_import", "rss_peak_first"}, or {"skip"} or {"error"}
    measure SECONDS -> {"native": [median, minimum, CPU], "numpy": the same, "cpu": CPU seconds}
    end -> {"rss_steady"}

Times are seconds a call, memory is MiB. `rss_import` has the inputs and what the peer imports;
`rss_peak_first` is the peak up to the first result, `rss_steady` that of three more calls.
"""

import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import workloads

BATCH = 0.002  # seconds; short enough that some batches are interrupted by nobody


def memory(key: str) -> float:
    """Return a line of this process's memory status in MiB, NaN where the system has none."""
    try:
        with open("/proc/self/status") as lines:
            for line in lines:
                if line.startswith(key + ":"):
                    return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    return float("nan")


def forget_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


class Timer:
    """Times a function over batches of about 2 ms, or of one call where that is longer."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._calls = 1

    def measure(self, budget: float) -> tuple[float, float, float]:
        """Return median and minimum wall seconds, and median CPU seconds, of one call."""
        function, calls = self._function, self._calls
        clock, cpu = time.perf_counter, time.process_time
        wall, used, start = [], [], clock()
        while not wall or clock() - start < budget:
            cpu_start, wall_start = cpu(), clock()
            for _ in range(calls):
                function()
            wall.append((clock() - wall_start) / calls)
            used.append((cpu() - cpu_start) / calls)
        wall.sort()
        used.sort()
        self._calls = max(1, int(BATCH / (wall[0] + 1e-9)))
        return wall[len(wall) // 2], wall[0], used[len(used) // 2]


def start(peer: str, name: str, out: str) -> tuple[dict[str, Any], tuple[Any, Any] | None]:
    """Return what the first call cost, and the functions to time where there are any."""
    spec = workloads.make(name)
    begin = time.perf_counter()
    try:
        module = importlib.import_module(f"benchmarks.peers.{peer}")
        imported = time.perf_counter()
        rss_import = memory("VmRSS")
        native, numpy, checked = module.build(name, spec)
        native()
        first = time.perf_counter()
        peak = memory("VmHWM")
        np.savez(out, *[np.asarray(result) for result in checked()])
    except NotImplementedError as error:
        return {"skip": str(error)}, None
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {str(error)[:200]}"}, None
    costs = {"import_s": imported - begin, "first_s": first - imported}
    return {**costs, "rss_import": rss_import, "rss_peak_first": peak}, (native, numpy)


def main(peer: str, name: str, out: str) -> None:
    answers = os.dup(1)
    os.dup2(2, 1)  # what a peer prints goes to stderr

    def say(answer: dict[str, Any]) -> None:
        os.write(answers, (json.dumps(answer) + "\n").encode())

    if os.environ["OMP_NUM_THREADS"] == "1" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    costs, functions = start(peer, name, out)
    say(costs)
    if functions is None:
        return
    native, numpy = functions
    timers = Timer(native), Timer(numpy)
    for line in sys.stdin:
        command, *rest = line.split()
        if command == "measure":
            cpu_start = time.process_time()
            own = timers[0].measure(float(rest[0]))
            plain = own if native is numpy else timers[1].measure(float(rest[0]))
            say({"native": own, "numpy": plain, "cpu": time.process_time() - cpu_start})
        else:
            forget_peak()
            for _ in range(3):
                native()
            say({"rss_steady": memory("VmHWM")})
            return


if __name__ == "__main__":
    main(*sys.argv[1:4])
