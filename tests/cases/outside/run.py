"""Run the suites and print how many cases of each passed, and why the others failed.

    python -m tests.cases.outside.run --trees FOLDER [--only NAME,NAME] [--library autograd]

FOLDER holds a checkout of each repository in the table of suites, under the repository's name.
"""

import argparse
import importlib.util
import time
from pathlib import Path

from tests.cases.library import LIBRARIES
from tests.cases.outside.outcome import Outcome
from tests.cases.outside.suites import SUITES

WIDTH = 200  # of a reason; --verbose prints all of it


def main() -> None:
    """Read the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trees", type=Path, help="folder with the unpacked repositories")
    parser.add_argument("--only", help=f"suites, comma-separated, of: {', '.join(SUITES)}")
    parser.add_argument("--library", choices=LIBRARIES, default="stagrad")
    parser.add_argument("--verbose", action="store_true", help="print reasons in full, and times")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(SUITES)
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        parser.error(f"no suite is named {', '.join(unknown)}; there are {', '.join(SUITES)}")
    library = LIBRARIES[options.library]()
    rows = [run_suite(name, library, options) for name in names]
    print(f"\n{'suite':24}{'passed':>8}{'all':>6}{'seconds':>9}")
    for row in rows:
        print(row)


def run_suite(name: str, library, options) -> str:
    """Run one suite, print its failures, and return its row of the final table."""
    suite = SUITES[name]
    if not suite.is_available(options.trees):
        return f"{name:24} not run: no checkout of {suite.repository}"
    if suite.package and importlib.util.find_spec(suite.package) is None:
        return f"{name:24} not run: {suite.package} is not installed"
    started = time.perf_counter()
    outcomes = list(suite.run(library, suite.tree(options.trees)))
    seconds = time.perf_counter() - started
    for outcome in outcomes:
        if options.verbose or not outcome.passed:
            print(line(name, outcome, options.verbose), flush=True)
    passed = sum(outcome.passed for outcome in outcomes)
    return f"{name:24}{passed:8}{len(outcomes):6}{seconds:9.1f}"


def line(suite: str, outcome: Outcome, verbose: bool) -> str:
    """Return the line that tells how one case ended."""
    if verbose:
        return f"{suite} {outcome.name} {outcome.seconds:.2f} s: {outcome.reason or 'passed'}"
    reason = " ".join(outcome.reason.split())
    return f"{suite} {outcome.name}: {reason[:WIDTH]}"


if __name__ == "__main__":
    main()
