"""Where the peers live, and how one of them is run in a process of its own.

A peer is a file in `benchmarks/peers` with `VENV`, the environment it runs in, and `build(name,
spec)`, which returns three functions for a workload: one that takes and gives the peer's own kind
of arrays, one that takes and gives NumPy arrays, and one whose results are checked. `build` raises
NotImplementedError for a workload that the peer cannot do.
"""

import ast
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
OURS = ("stagrad_peer", "stagrad_numpy")
BY_HAND = ("numpy_hand", "c_hand")  # no frameworks: never counted as the best rival
REFERENCE = "numpy_hand"
FIRST_LIMIT = 300  # seconds for import, build and first call
# What chooses other kernels in OpenBLAS or other packages than a user's process would see.
FOREIGN = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONPATH")


def _environments() -> dict[str, str]:
    """Return the environment of each peer, read from its file: importing needs that environment."""
    found = {}
    for file in sorted((HERE / "peers").glob("*.py")):
        for line in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "VENV":
                found[file.stem] = ast.literal_eval(line.value)
    return found


ENVIRONMENTS = _environments()


def interpreter(peer: str) -> str:
    """Return the Python of a peer: this one for stagrad, else one in the folder PEERS."""
    if peer in OURS:
        return sys.executable
    return os.path.join(os.environ.get("PEERS", ""), ENVIRONMENTS[peer], "bin", "python")


def installed(peers: list[str]) -> list[str]:
    """Return the peers whose environments are there; say which are not."""
    there = [peer for peer in peers if os.path.exists(interpreter(peer))]
    missing = ", ".join(peer for peer in peers if peer not in there)
    if missing:
        print(f"not installed in the folder PEERS, left out: {missing}", file=sys.stderr)
    return there


def environment(caches: str, threads: int) -> dict[str, str]:
    """Return the variables of a peer's process, with its disk caches in a folder."""
    variables = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    for library in ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "NUMBA", "STAGRAD"):
        variables[f"{library}_NUM_THREADS"] = str(threads)
    variables["STAGRAD_CACHE"] = os.path.join(caches, "stagrad")
    variables["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(caches, "inductor")
    variables["PYTENSOR_FLAGS"] = f"base_compiledir={caches}/pytensor"
    variables["NUMBA_CACHE_DIR"] = os.path.join(caches, "numba")
    return variables


class Worker:
    """A process that holds one peer at one workload and answers commands (see worker.py)."""

    def __init__(self, peer: str, name: str, scratch: str, caches: str, threads: int) -> None:
        self.out = os.path.join(tempfile.mkdtemp(dir=scratch), "out.npz")
        self._log = open(os.environ.get("BENCH_LOG", os.devnull), "a")  # noqa: SIM115
        self._process = subprocess.Popen(
            [interpreter(peer), "-m", "benchmarks.worker", peer, name, self.out],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment(caches, threads),
            cwd=HERE.parent,
        )

    def read(self, timeout: float = 600) -> dict[str, Any]:
        """Return the next answer, or `{"error": why}` where none comes."""
        if not select.select([self._process.stdout], [], [], timeout)[0]:
            self._process.kill()
            return {"error": f"no result after {timeout:.0f} s"}
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"error": f"ended, exit {self._process.wait()}"}

    def ask(self, command: str) -> dict[str, Any]:
        """Send a command and return the answer."""
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"error": f"ended, exit {self._process.wait()}"}
        return self.read()

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._log.close()
