"""The table of suites: what each runs, the tree it needs, and how much of it stagrad must pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cases import adbench, gradbench, opinfo
from tests.cases.library import Library
from tests.cases.outside import (
    array_api,
    autograd_tests,
    jax_indexing,
    more_garbow_hillstrom,
    npbench,
    posteriors,
    programs,
    scipy_problems,
    statsmodels_likelihoods,
    torch_programs,
)
from tests.cases.outside.outcome import Outcome, attempt


def run_opinfo(library: Library, _tree: Path | None) -> Iterator[Outcome]:
    """Check PyTorch's operator samples that have a spelling in NumPy."""
    for sample in opinfo.samples():
        if sample.has_spelling:
            yield attempt(str(sample), opinfo.check, sample, library)


def run_gradbench(library: Library, _tree: Path | None) -> Iterator[Outcome]:
    """Check GradBench's recorded evaluations."""
    for evaluation in gradbench.evaluations():
        yield attempt(str(evaluation), gradbench.check, evaluation, library)


def run_adbench(library: Library, _tree: Path | None) -> Iterator[Outcome]:
    """Check ADBench's problems."""
    for problem in adbench.problems():
        yield attempt(problem.name, adbench.check, problem, library)


@dataclass(frozen=True)
class Suite:
    """One source of cases."""

    run: Callable[[Library, Path | None], Iterator[Outcome]]
    required: float  # the share that must pass; none: the suite is for information
    repository: str = ""  # on GitHub, the owner's name first; the tree is named as the repository
    package: str = ""  # that must be installed

    def tree(self, trees: Path | None) -> Path | None:
        """Return the folder of the suite's tree below `trees`."""
        return trees / self.repository.split("/")[1] if trees and self.repository else None

    def is_available(self, trees: Path | None) -> bool:
        """Tell whether the tree, if one is needed, is there."""
        tree = self.tree(trees)
        return not self.repository or (tree is not None and tree.is_dir())


SUITES = {
    "opinfo": Suite(run_opinfo, 1.0),
    "gradbench": Suite(run_gradbench, 1.0),
    "adbench": Suite(run_adbench, 1.0),
    "autograd": Suite(autograd_tests.run, 0.95, "HIPS/autograd"),
    "programs": Suite(programs.run, 17 / 19, "HIPS/autograd"),
    "npbench": Suite(npbench.run, 20 / 23, "spcl/npbench"),
    "more-garbow-hillstrom": Suite(more_garbow_hillstrom.run, 0.9, "POptUS/BenDFO"),
    "index-reads": Suite(jax_indexing.run_reads, 1.0, "jax-ml/jax"),
    "index-stores": Suite(jax_indexing.run_stores, 1.0, "jax-ml/jax"),
    "scipy-functions": Suite(scipy_problems.run_functions, 98 / 102, "scipy/scipy"),
    "scipy-least-squares": Suite(scipy_problems.run_least_squares, 5 / 7, "scipy/scipy"),
    "statsmodels": Suite(statsmodels_likelihoods.run, 1.0, package="statsmodels"),
    "posteriors": Suite(posteriors.run, 1.0, "stan-dev/posteriordb"),
    "torch-programs": Suite(torch_programs.run, 1.0, "jcjohnson/pytorch-examples"),
    "array-api": Suite(
        array_api.suite_of("stagrad.array_api"), 0.97, "data-apis/array-api-tests", "ndindex"
    ),
    "array-api-torch-names": Suite(
        array_api.suite_of("stagrad"), 0.93, "data-apis/array-api-tests", "ndindex"
    ),
}
