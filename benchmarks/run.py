"""Measure stagrad and its rivals on the same work: `python -m benchmarks.run --help`.

    PEERS=FOLDER python -m benchmarks.run --workloads rosen_10,mlp --rounds 5 --json results.json

PEERS is the folder of the rivals' environments, made by make_peers.sh. For a workload, each peer
starts in a process of its own, one after the other, so that compilers do not compete; then they are
measured in turn, A B C A B C. What others use of the machine meanwhile is read from /proc/stat, and
medians are over the rounds in which it was little. Every result is checked against numpy_hand.
"""

import argparse
import json
import os
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks import rivals, workloads
from benchmarks.report import QUIET, workload_table


def agreement(out: str, reference: str, rtol: float) -> tuple[float, bool]:
    """Return the largest max|a - b| / max|b| of the results, and whether it is within rtol."""
    worst = 0.0
    with np.load(out) as ours, np.load(reference) as theirs:
        if ours.files != theirs.files:
            return float("inf"), False
        for key in theirs.files:
            got, want = ours[key].astype("f8"), theirs[key].astype("f8")
            if got.shape != want.shape:
                return float("inf"), False
            error = np.max(np.abs(got - want)) / (np.max(np.abs(want)) + 1e-300)
            worst = max(worst, float(error)) if np.isfinite(error) else float("inf")
    return worst, worst <= rtol


def busy_seconds() -> float:
    """Return the CPU seconds used on the whole machine since its start, by anybody."""
    try:
        with open("/proc/stat") as lines:
            ticks = [int(text) for text in lines.readline().split()[1:9]]
    except OSError:
        return 0.0
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def used_by_others(start: tuple[float, float], own: float) -> float:
    """Return the share of the machine used by others since `start`, its clock and busy seconds."""
    passed = time.monotonic() - start[0]
    return max(0.0, busy_seconds() - start[1] - own) / passed / (os.cpu_count() or 1)


def wait_quiet(patience: float) -> None:
    """Wait until others use little of the machine, at most `patience` seconds."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        start = time.monotonic(), busy_seconds()
        time.sleep(0.1)
        if used_by_others(start, 0.0) < QUIET:
            return


def start_all(
    name: str, peers: list[str], scratch: str, caches: dict[str, str], threads: int
) -> tuple[dict[str, dict[str, Any]], dict[str, rivals.Worker]]:
    """Start each peer and wait for its first result: what that cost, and who is ready."""
    results, ready = {}, {}
    for peer in peers:
        worker = rivals.Worker(peer, name, scratch, caches[peer], threads)
        results[peer] = worker.read(rivals.FIRST_LIMIT)
        if "first_s" in results[peer]:
            ready[peer] = worker
        else:
            worker.close()
    return results, ready


def run_workload(name: str, peers: list[str], caches: dict[str, str], options: Any) -> Any:
    """Measure one workload; return the results of each peer."""
    rtol = workloads.make(name).rtol
    with tempfile.TemporaryDirectory() as scratch:
        results, ready = start_all(name, peers, scratch, caches, options.threads)
        reference = ready.get(rivals.REFERENCE)
        for peer, worker in ready.items():
            if reference is not None:
                error, right = agreement(worker.out, reference.out, rtol)
                results[peer].update(deviation=error, right=right)
            results[peer]["rounds"] = []
            for _ in range(2):  # warm up, and find how many calls make a batch
                worker.ask(f"measure {options.budget / 8}")
        for _ in range(options.rounds):
            for peer, worker in ready.items():
                wait_quiet(options.patience)
                start = time.monotonic(), busy_seconds()
                measured = worker.ask(f"measure {options.budget}")
                if "error" not in measured:
                    measured["foreign"] = used_by_others(start, measured["cpu"])
                    results[peer]["rounds"].append(measured)
        for peer, worker in ready.items():
            results[peer].update(worker.ask("end"))
            worker.close()
    return results


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=",".join(rivals.ENVIRONMENTS))
    parser.add_argument("--workloads", default=",".join(workloads.REGISTRY))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--budget", type=float, default=0.25, help="seconds a peer and round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--patience", type=float, default=0.0, help="seconds to wait for a quiet machine, each time"
    )
    parser.add_argument("--json", help="file for the results, for benchmarks.report")
    return parser.parse_args()


def main(options: argparse.Namespace) -> None:
    peers = rivals.installed(options.peers.split(","))
    everything: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        caches = {peer: os.path.join(folder, peer) for peer in peers}
        for name in options.workloads.split(","):
            everything[name] = run_workload(name, peers, caches, options)
            print(workload_table(name, everything[name]), flush=True)
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump(everything, file)
    errors = [
        f"{name}: {peer}"
        for name, results in everything.items()
        for peer, result in results.items()
        if not result.get("right", True) or ("error" in result and "rounds" in result)
    ]
    if errors:
        raise SystemExit("wrong or failed: " + ", ".join(errors))


if __name__ == "__main__":
    main(parsed())
