"""Writing the stages of compilations to files, as `STAGRAD_DUMP` and the dump tool ask for it."""

import itertools
import re
from pathlib import Path

from stagrad import config
from stagrad.ir import Graph, text
from stagrad.ir.labels import StageLabels

_NAME_LENGTH = 60


class Dump:
    """A folder that receives the stages of one compilation as numbered files.

    The files are written one by one, so that what went before a failing pass is there to read. A
    value keeps its label from stage to stage, so that files can be compared line by line.

    >>> import stagrad, tempfile
    >>> graph = stagrad.compile(lambda x: x * x).lower(stagrad.aval("f64[3]")).graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dump = Dump(Path(folder))
    ...     dump.graph("trace", graph)
    ...     dump.text("source", "import numpy as np", ".py")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['00-trace.txt', '01-source.py']
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: list[str] = []
        self._labels = StageLabels()

    def graph(self, name: str, graph: Graph) -> None:
        """Write the graph after a pass, in a form that `stagrad.ir.parse` reads."""
        self.text(name, text(graph, labels=self._labels.follow(graph)))

    def text(self, name: str, content: str, suffix: str = ".txt") -> None:
        """Write a stage that is text already."""
        file = f"{len(self.written):02}-{name}{suffix}"
        self.written.append(file)
        (self.folder / file).write_text(content.rstrip("\n") + "\n", encoding="utf-8")


def start_dump(label: str) -> Dump | None:
    """Return a dump into a new folder of the one that STAGRAD_DUMP names; None when it is not set.

    Folders are `0000-loss`, `0001-grad`, … in the order of compilation; several processes and
    threads may share the outer one.
    """
    outer = config.DUMP.value()
    if not outer:
        return None
    root = Path(outer)
    root.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "_", label)[:_NAME_LENGTH]
    taken = [int(match[1]) for path in root.iterdir() if (match := re.match(r"(\d+)-", path.name))]
    for number in itertools.count(max(taken, default=-1) + 1):
        folder = root / f"{number:04}-{name}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return Dump(folder)
    raise AssertionError("unreachable: numbers do not end")
