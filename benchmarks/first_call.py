"""What a first result costs in a new process: imports, cold and warm disk caches, peak memory.

    PEERS=FOLDER python -m benchmarks.first_call --workloads mlp,attn --peers stagrad_peer,jax_jit \
        --json first.json

Each peer starts at a workload with empty caches of its own, and then once more in a new process
with
what the first left there. A first call is building and calling once; what NumPy's import and the
inputs cost is in no figure but memory. `benchmarks.report first.json` prints the table.
"""

import argparse
import json
import tempfile
from typing import Any

from benchmarks import rivals, workloads
from benchmarks.report import first_table

PEERS = "stagrad_peer,stagrad_numpy,jax_jit,torch_compile_fn,torch_eager"


def first_calls(name: str, peer: str, threads: int) -> dict[str, Any]:
    """Return the costs of the first call with cold caches, with `warm_s` beside `cold_s`."""
    with tempfile.TemporaryDirectory() as scratch:
        answers = []
        for _ in range(2):
            worker = rivals.Worker(peer, name, scratch, scratch, threads)
            answers.append(worker.read(rivals.FIRST_LIMIT))
            worker.close()
    cold, warm = answers
    if "first_s" not in cold or "first_s" not in warm:
        return cold if "first_s" not in cold else warm
    return {**cold, "cold_s": cold["first_s"], "warm_s": warm["first_s"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=PEERS)
    parser.add_argument("--workloads", default=",".join(workloads.REGISTRY))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", help="file for the results, for benchmarks.report")
    options = parser.parse_args()
    peers = rivals.installed(options.peers.split(","))
    everything: dict[str, Any] = {}
    for name in options.workloads.split(","):
        everything[name] = {peer: first_calls(name, peer, options.threads) for peer in peers}
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(everything, file)
    print(first_table(everything, rivals.OURS[0]))


if __name__ == "__main__":
    main()
