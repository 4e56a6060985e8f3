"""STAGRAD_DUMP: every stage of every compilation lands in files."""

import threading

import numpy as np
import pytest

import stagrad
from stagrad import ir, passes
from stagrad.api.dump import start_dump


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STAGRAD_DUMP", str(tmp_path / "dumps"))
    return tmp_path / "dumps"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_every_compilation_has_a_folder_of_numbered_stages(folder):
    def wave(x):
        return np.sum(np.sin(x) * x)

    stagrad.compile(wave)(np.ones(3))
    stagrad.grad(wave)(np.ones(3))
    first, second = names(folder)
    assert (first, second) == ("0000-wave", "0001-grad_wave")
    for name, made in ((first, ["recognize"]), (second, ["recognize", "reverse"])):
        files = names(folder / name)
        assert [file[:3] for file in files] == [f"{place:02}-" for place in range(len(files))]
        stages = [file[3:].removesuffix(".txt") for file in files]
        assert stages[: len(made) + 1] == ["trace", *made]
        assert [file[3:] for file in files[-2:]] == ["schedule.txt", "source.py"]


def test_stages_read_back_and_the_source_is_what_runs(folder):
    @stagrad.grad
    def slope(x):
        return np.sum(np.sin(x) * x)

    slope(np.ones(3))
    lowered = slope.lower(np.ones(3))
    (first, *_) = sorted(folder.iterdir())
    for number, (name, graph) in enumerate(lowered.stages.items()):
        text = (first / f"{number:02}-{name}.txt").read_text(encoding="utf-8")
        assert ir.parse(text) == graph
    (source,) = first.glob("*-source.py")
    assert source.read_text(encoding="utf-8") == lowered.source


def test_a_second_call_writes_nothing(folder):
    double = stagrad.compile(lambda x: x * 2)
    double(np.ones(3))
    double(np.ones(3))
    assert names(folder) == ["0000-function"]


def test_threads_and_programs_do_not_overwrite_each_other(folder):
    dumps = []
    threads = [threading.Thread(target=lambda: dumps.append(start_dump("f"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({dump.folder for dump in dumps}) == 8


def test_without_the_variable_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv("STAGRAD_DUMP", raising=False)
    monkeypatch.chdir(tmp_path)
    stagrad.compile(lambda x: x * 2)(np.ones(3))
    assert list(tmp_path.iterdir()) == []
    assert start_dump("f") is None


def test_what_went_before_a_failing_pass_is_there(folder, monkeypatch):
    def broken(graph):
        raise RuntimeError("a pass with a fault")

    monkeypatch.setattr(passes, "PIPELINE", (*passes.PIPELINE, ("broken", broken)))
    with pytest.raises(RuntimeError, match="a pass with a fault"):
        stagrad.compile(lambda x: np.sin(x))(np.ones(3))
    stages = ["trace", "recognize", *(name for name, _ in passes.PIPELINE[:-1])]
    (dumped,) = folder.iterdir()
    assert names(dumped) == [f"{place:02}-{name}.txt" for place, name in enumerate(stages)]
