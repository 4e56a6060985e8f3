"""The stages of a compilation in the form that was asked for, on the terminal or in files."""

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from stagrad.api.dump import Dump
from stagrad.api.lowering import Lowered
from stagrad.ir import Graph, text
from stagrad.ir.dot import dot
from stagrad.ir.json import as_json
from stagrad.ir.labels import StageLabels
from stagrad.tools.colors import BOLD, paint_diff, paint_graph, paint_python
from stagrad.tools.svg import svg
from stagrad.tools.target import UsageError

Paint = Callable[[str, str], str]

FORMATS: Mapping[str, Callable[[Graph], str]] = {
    "text": text,
    "dot": dot,
    "svg": svg,
    "json": lambda graph: json.dumps(as_json(graph), indent=1) + "\n",
}
SCHEDULE = "schedule"


def chosen_stages(lowered: Lowered, wanted: str | None) -> list[str]:
    """Return the names of the wanted stages in order: `all`, one, or by default the last graph."""
    stages = [*lowered.stages, SCHEDULE]
    if wanted == "all":
        return stages
    if wanted is None:
        return [stages[-2]]
    if wanted not in stages:
        raise UsageError(
            f"there is no stage {wanted!r}; the stages are {', '.join(stages)}, or all"
        )
    return [wanted]


def print_stages(lowered: Lowered, names: list[str], form: str, paint: Paint) -> None:
    """Print stages one after another; those of a text are labelled alike."""
    if form != "text":
        if len(names) > 1 or names == [SCHEDULE]:
            raise UsageError(f"--format {form} prints one graph: choose --stage NAME, or -o DIR")
        print(FORMATS[form](lowered.stages[names[0]]), end="")
        return
    if len(names) == 1 and names != [SCHEDULE]:
        # On its own, a graph is labelled as its source would be.
        print(paint_graph(text(lowered.stages[names[0]], elide=True), paint))
        return
    labels = StageLabels()
    for name, graph in lowered.stages.items():
        label = labels.follow(graph)
        if name in names:
            print(paint(f"# {name}", BOLD))
            print(paint_graph(text(graph, labels=label, elide=True), paint), end="\n\n")
    if SCHEDULE in names:
        print(paint(f"# {SCHEDULE}", BOLD))
        print(paint_graph(str(lowered.schedule), paint))


def print_differences(lowered: Lowered, names: list[str], paint: Paint) -> None:
    """Print what each of the wanted stages changed in the graph before it."""
    for name, lines in differences(lowered.stages):
        if name in names:
            print(paint_diff(lines, paint) if lines else paint(f"# {name}: no change", BOLD))


def differences(stages: Mapping[str, Graph]) -> Iterator[tuple[str, list[str]]]:
    """Yield each stage but the first, with the unified difference from the stage before."""
    labels = StageLabels()
    before, before_name = [""], ""
    for name, graph in stages.items():
        after = text(graph, labels=labels.follow(graph), elide=True).split("\n")
        if before_name:
            yield name, list(difflib.unified_diff(before, after, before_name, name, "", "", 2, ""))
        before, before_name = after, name


def print_source(lowered: Lowered, paint: Paint) -> None:
    """Print the emitted program."""
    text = lowered.source
    print(text if lowered.backend == "c" else paint_python(text, paint), end="")


def write_files(
    lowered: Lowered, folder: Path, names: list[str], form: str, *, source: bool, diff: bool
) -> list[str]:
    """Write the wanted stages as files into a folder; return the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    dump = Dump(folder)
    changes = dict(differences(lowered.stages)) if diff else {}
    for name, graph in lowered.stages.items():
        if name not in names:
            continue
        if diff:
            dump.text(name, "\n".join(changes.get(name, [])), ".diff")
        elif form == "text":
            dump.graph(name, graph)
        else:
            dump.text(name, FORMATS[form](graph), f".{form}")
    if SCHEDULE in names and form == "text" and not diff:
        dump.text(SCHEDULE, str(lowered.schedule))
    if source:
        dump.text("source", lowered.source, ".c" if lowered.backend == "c" else ".py")
    return dump.written
