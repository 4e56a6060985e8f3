"""Print tables of what benchmarks.run measured: `python -m benchmarks.report results.json`.

The table has, for each workload, the median of each peer over the rounds in which the machine was
quiet, the time of the best rival over stagrad's, and the bar that stagrad is held to. A star marks
medians for which fewer than two rounds were quiet: there, the least disturbed third stands in.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from typing import Any

from benchmarks import rivals

QUIET = 0.08  # the share of the machine that others may use in a quiet round
SUBJECT = "stagrad_peer"
MARKS = "<!-- tables of benchmarks.report -->", "<!-- end of tables -->"
BARS = {
    "rosen_10": 1.5,
    "rosen_1000": 6.0,
    "chain_f64_1e3": 3.5,
    "chain_f64_1e5": 1.7,
    "chain_f64_1e7": 1.9,
    "chain_f32_1e3": 4.0,
    "chain_f32_1e5": 1.8,
    "chain_f32_1e7": 2.0,
    "bs_1e6": 1.5,
    "logreg": 2.0,
    "lr_hvp": 2.0,
    "lr_hess": 2.0,
    "mlp": 1.15,
    "attn": 1.2,
    "gmm_d10_K25": 1.7,
    "gmm_d64_K50": 1.8,
    "ops100_0d": 3.0,
    "ops100": 2.5,
    "ops1000": 2.0,
    "cnn": 0.8,
}
NUMPY_BOTH_WAYS = ("rosen_10", "rosen_1000")  # judged with NumPy arrays in and out

Results = dict[str, dict[str, Any]]


def undisturbed(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the quiet rounds, or the least disturbed third where fewer than two are quiet."""
    quiet = [measured for measured in rounds if measured["foreign"] < QUIET]
    if len(quiet) >= 2:
        return quiet
    ordered = sorted(rounds, key=lambda measured: measured["foreign"])
    return ordered[: max(1, len(rounds) // 3)]


def medians(results: Results, way: str) -> dict[str, float]:
    """Return the seconds a call of each peer that has the right results."""
    return {
        peer: statistics.median(measured[way][0] for measured in undisturbed(result["rounds"]))
        for peer, result in results.items()
        if result.get("rounds") and result.get("right", True)
    }


def best_rival(figures: dict[str, float]) -> str | None:
    """Return the fastest framework but stagrad."""
    rivalling = [peer for peer in figures if peer not in rivals.OURS + rivals.BY_HAND]
    return min(rivalling, key=figures.__getitem__, default=None)


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def workload_table(name: str, results: Results) -> str:
    """Return all that was measured of one workload, the fastest peer first."""
    native, plain = medians(results, "native"), medians(results, "numpy")
    rows = []
    for peer, result in sorted(results.items(), key=lambda item: native.get(item[0], 1e9)):
        if peer not in native:
            why = result.get("skip") or result.get("error") or f"WRONG {result['deviation']:.0e}"
            rows.append([peer, "–", "–", "–", "–", why])
            continue
        memory = f"{result['rss_import']} / {result['rss_peak_first']} / {result['rss_steady']}"
        first = duration(result["first_s"])
        deviation = f"{result.get('deviation', float('nan')):.0e}"
        rows.append([peer, duration(native[peer]), duration(plain[peer]), first, memory, deviation])
    header = ["peer", "own arrays", "NumPy in and out", "first call"]
    header += ["MiB import / first / steady", "deviation"]
    return f"### {name}\n\n" + markdown(header, rows)


def quiet_mark(results: Results, peer: str) -> str:
    quiet = sum(measured["foreign"] < QUIET for measured in results[peer]["rounds"])
    return "" if quiet >= 2 else "*"


def times_table(everything: dict[str, Results], peers: list[str]) -> str:
    """Return the medians, the ratio of the best rival to stagrad, and the bars."""
    rows = []
    for name, results in everything.items():
        way = "numpy" if name in NUMPY_BOTH_WAYS else "native"
        figures = medians(results, way)
        best = best_rival(figures)
        cells = [
            duration(figures[peer]) + quiet_mark(results, peer) if peer in figures else "–"
            for peer in peers
        ]
        ratio = "–"
        if best is not None and SUBJECT in figures:
            ratio = f"{figures[best] / figures[SUBJECT]:.2f}"
        rows.append([name, *cells, best or "–", ratio, str(BARS.get(name, "–"))])
    return markdown(["workload", *peers, "best rival", "its time / stagrad's", "bar"], rows)


def costs_table(
    everything: dict[str, Results], peers: list[str], cost: Callable[[dict[str, Any]], str]
) -> str:
    """Return a table of one figure of each workload and peer."""
    rows = [
        [name, *(cost(results[peer]) if peer in results else "–" for peer in peers)]
        for name, results in everything.items()
    ]
    return markdown(["workload", *peers], rows)


def grown(result: dict[str, Any]) -> str:
    if "rss_steady" not in result:
        return "–"
    peak = max(result["rss_peak_first"], result["rss_steady"])
    return f"{peak - result['rss_import']:.0f}"


def first_table(everything: dict[str, Results], subject: str = SUBJECT) -> str:
    """Return the first calls that benchmarks.first_call measured, `subject` in the first column."""
    found = {peer for results in everything.values() for peer in results}
    peers = [subject, *(peer for peer in rivals.ENVIRONMENTS if peer in found - {subject})]

    def cold_and_warm(result: dict[str, Any]) -> str:
        return f"{duration(result.get('cold_s'))}, {duration(result.get('warm_s'))}"

    return costs_table(everything, peers, cold_and_warm)


def tables(file: str) -> str:
    """Return every table of a results file, of benchmarks.run or benchmarks.first_call."""
    with open(file, encoding="utf-8") as text:
        everything: dict[str, Results] = json.load(text)
    measured = {peer for results in everything.values() for peer in results}
    peers = [*rivals.OURS, *(peer for peer in rivals.ENVIRONMENTS if peer not in rivals.OURS)]
    peers = [peer for peer in peers if peer in measured]
    if any("cold_s" in result for results in everything.values() for result in results.values()):
        title = "First call with empty disk caches, and in a new process with what it left:"
        return f"{title}\n\n{first_table(everything)}"
    first = costs_table(everything, peers, lambda result: duration(result.get("first_s")))
    memory = costs_table(everything, peers, grown)
    return (
        f"Time of a call:\n\n{times_table(everything, peers)}\n"
        f"First call, without imports; workloads of one peer share its disk caches:\n\n{first}\n"
        f"Peak memory above imports and inputs, MiB, first call included:\n\n{memory}"
    )


def put(text: str, document: str) -> None:
    """Replace what stands between the marks of a document."""
    with open(document, encoding="utf-8") as file:
        before, rest = file.read().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    with open(document, "w", encoding="utf-8") as file:
        file.write(f"{before}{MARKS[0]}\n\n{text}\n{MARKS[1]}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", help="files that --json of the runners wrote")
    parser.add_argument("--into", help="a document whose tables to replace, instead of printing")
    options = parser.parse_args()
    text = "\n".join(tables(file) for file in options.results)
    if options.into:
        put(text, options.into)
    else:
        print(text)


if __name__ == "__main__":
    main()
