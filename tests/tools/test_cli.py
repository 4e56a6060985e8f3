"""The command-line tools: what they print, what they write, and how they refuse."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import stagrad
from stagrad import ir
from stagrad.tools.cli import main
from stagrad.tools.target import UsageError, read_argument

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import numpy as np
import stagrad

steps = 3


def loss(slope, offset, x, y):
    prediction = np.tanh(slope * x + offset)
    return np.sum((prediction - y) ** 2)


def layer(parameters, x, *, kind="tanh"):
    return getattr(np, kind)(x @ parameters["w"] + parameters["b"])


@stagrad.compile
def ready(x):
    return x * 2


class Model:
    @staticmethod
    def double(x):
        return x * 2


def branch(x):
    if x > 0:
        return x
    return -x


def total(x):
    return np.sum(x.astype(float))
"""
LOSS = ["fit.py:loss", "f64", "f64", "f64[50]", "f64[50]"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Run in a folder that holds the program, leaving no trace in the interpreter."""
    (tmp_path / "fit.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "fit", raising=False)
    monkeypatch.delenv("STAGRAD_DUMP", raising=False)
    yield tmp_path
    sys.modules.pop("fit", None)


@pytest.fixture
def run(capsys):
    """Return a function that runs a command line and returns what it printed."""

    def run_command(*arguments):
        assert main(arguments) == 0
        return capsys.readouterr().out

    return run_command


@pytest.fixture
def lowered(folder):
    sys.path.insert(0, str(folder))
    import fit

    values = stagrad.aval("f64[]"), stagrad.aval("f64[50]")
    return stagrad.grad(fit.loss, (0, 1)).lower(values[0], values[0], values[1], values[1])


def test_dump_prints_the_last_graph_and_it_reads_back(run, lowered):
    shown = run("dump", *LOSS, "--grad", "0,1")
    *_, last = lowered.stages.values()
    assert ir.parse(shown) == last
    assert "fit.py:8 in loss" in shown


def test_a_stage_is_chosen_by_name(run, lowered):
    for name, graph in lowered.stages.items():
        assert ir.parse(run("dump", *LOSS, "--grad", "0,1", "--stage", name)) == graph


def test_all_stages_are_printed_under_their_names(run, lowered):
    shown = run("dump", *LOSS, "--grad", "0,1", "--stage", "all")
    parts = re.split(r"^# (\w+)\n", shown, flags=re.MULTILINE)[1:]
    assert parts[::2] == [*lowered.stages, "schedule"]
    for text, graph in zip(parts[1::2], lowered.stages.values(), strict=False):
        assert ir.parse(text) == graph


def test_differences_turn_each_stage_into_the_next(run, lowered):
    shown = run("dump", *LOSS, "--grad", "0,1", "--diff")
    assert re.findall(r"^\+\+\+ (\w+)|^# (\w+): no change", shown, re.MULTILINE)
    assert shown.startswith("--- trace\n+++ recognize\n@@") or "# recognize: no change" in shown
    named = re.findall(r"^(?:\+\+\+ |# )(\w+)(?:: no change)?$", shown, re.MULTILINE)
    assert named == list(lowered.stages)[1:]
    assert "for square()" in shown


def test_one_difference_is_chosen_by_name(run):
    shown = run("dump", *LOSS, "--grad", "0", "--diff", "--stage", "reverse")
    assert shown.count("+++") == 1


def test_source_is_printed_by_both_commands(run, lowered):
    assert run("source", *LOSS, "--grad", "0,1") == lowered.source
    assert run("dump", *LOSS, "--grad", "0,1", "--source") == lowered.source
    both = run("dump", *LOSS, "--grad", "0,1", "--source", "--stage", "trace")
    assert both.startswith("graph(slope: f64[]")
    assert both.endswith(lowered.source)


def test_forms_for_other_programs(run):
    assert run("dump", *LOSS, "--format", "dot").startswith("digraph stagrad {")
    assert ET.fromstring(run("dump", *LOSS, "--format", "svg")).tag.endswith("svg")
    assert json.loads(run("dump", *LOSS, "--format", "json"))["format"] == "stagrad graph"


@pytest.mark.parametrize("form", ["text", "dot", "svg", "json"])
def test_files_are_written_into_a_folder(run, lowered, form):
    printed = run("dump", *LOSS, "--grad", "0,1", "--format", form, "--source", "-o", "out/deep")
    files = sorted(path.name for path in Path("out/deep").iterdir())
    assert printed.splitlines() == [str(Path("out/deep") / name) for name in files]
    stages = [*lowered.stages, *(["schedule"] if form == "text" else []), "source"]
    assert [re.sub(r"^\d\d-|\..*", "", name) for name in files] == stages
    suffix = {"text": "txt"}.get(form, form)
    assert {Path(name).suffix for name in files} == {f".{suffix}", ".py"}
    if form == "text":
        for name, graph in zip(files, lowered.stages.values(), strict=False):
            assert ir.parse((Path("out/deep") / name).read_text(encoding="utf-8")) == graph


def test_differences_are_written_into_a_folder(run):
    run("dump", *LOSS, "--grad", "0,1", "--diff", "-o", "out")
    assert (Path("out") / "02-reverse.diff").read_text(encoding="utf-8").startswith("--- recognize")


def test_options_may_stand_anywhere(run):
    assert run("dump", "--grad", "0", *LOSS) == run("dump", *LOSS, "--grad", "0")
    assert run("dump", LOSS[0], "--grad", "0", *LOSS[1:]) == run("dump", *LOSS, "--grad", "0")


def test_arguments_are_avals_literals_files_and_keywords(run):
    np.save("x.npy", np.ones((5, 3), np.float32))
    shown = run("dump", "fit.py:layer", "{'w': f32[3,4], 'b': 0.5}", "@x.npy", "kind='sin'")
    assert "x: f32[5,3]" in shown
    assert "parameters_w: f32[3,4]" in shown
    assert "sin(" in shown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("f64[3,4]", stagrad.aval("f64[3,4]")),
        ("f64", stagrad.aval("f64[]")),
        ("f64*[]", stagrad.aval("f64*[]")),
        ("c64[]", stagrad.aval("c64[]")),
        ("-1.5", -1.5),
        ("1+2j", 1 + 2j),
        ("None", None),
        ("'f64[3]'", "f64[3]"),
        ("(f64[2], [i32[], bool], 3)", None),
    ],
)
def test_an_argument_is_read(text, value):
    found = read_argument(text)
    if value is None and text != "None":
        value = (stagrad.aval("f64[2]"), [stagrad.aval("i32[]"), stagrad.aval("bool[]")], 3)
    assert found == value
    assert type(found) is type(value)


def test_functions_are_found_in_modules_classes_and_compiled(run):
    assert "f64[3]" in run("dump", "fit:Model.double", "f64[3]")
    assert "multiply" in run("dump", "fit:ready", "f64[3]")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "names no function|the following arguments are required"),
        (["fit.py"], "'fit.py' names no function: write MODULE:FUNCTION or FILE.py:FUNCTION"),
        (["gone.py:loss"], "there is no file 'gone.py'"),
        (["gone:loss"], "there is no module 'gone'; a file is written with its ending, gone.py"),
        (["fit.py:lost"], "fit.py has no 'lost'; functions there: loss, layer, .*branch"),
        (["fit.py:steps"], "fit.py:steps is a int, not a function"),
        (["fit.py:loss", "f64"], r"loss\(slope, offset, x, y\) was given 1 arguments: missing"),
        (["fit.py:branch", "f64", "f64"], r"branch\(x\) was given 2 arguments: too many"),
        (["fit.py:branch", "f64["], r"cannot read the argument 'f64\[': write an aval such as"),
        (["fit.py:branch", "q8[3]"], r"cannot read the argument 'q8\[3\]' \(unknown dtype 'q8'"),
        (["fit.py:branch", "open('x')"], "cannot read the argument"),
        (["fit.py:branch", "@gone.npy"], "there is no file 'gone.npy'"),
        (["fit.py:branch", "@fit.py"], "'fit.py' holds no array"),
        (["fit.py:layer", "x=1", "2"], "argument '2' comes after x=…; put it before"),
        ([*LOSS, "--grad", "x"], "--grad x: write the number of an argument, 0, or several, 0,1"),
        ([*LOSS, "--grad", "9"], r"grad: argnums=9 does not fit a call of loss with 4 positional"),
        ([*LOSS, "--stage", "last"], "there is no stage 'last'; the stages are trace, .*schedule"),
        ([*LOSS, "--format", "png"], "argument --format: invalid choice: 'png'"),
        ([*LOSS, "--format", "svg", "--stage", "all"], "--format svg prints one graph: choose"),
        ([*LOSS, "--format", "dot", "--diff"], "--diff compares texts; leave --format out"),
        ([*LOSS, "--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["fit.py:total", "i64[3]", "--grad", "0"], "argument 'x' of total has dtype int64"),
        (["fit.py:branch", "f64"], "used as a condition"),
    ],
)
def test_a_wrong_use_is_refused_in_a_line(capsys, arguments, message):
    assert main(["dump", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.match(rf"stagrad: .*(?:{message})", err, re.DOTALL), err
    assert err.count("\n") == 1 or "used as a condition" in err
    assert "Traceback" not in err


def test_help_is_printed(capsys):
    assert main(["--help"]) == 0
    assert "dump" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        main(["dump", "--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert "@file.npy" in shown
    assert "examples:" in shown
    assert main([]) == 2
    assert main(["frobnicate"]) == 2
    assert "the commands are dump, source" in capsys.readouterr().err


ESCAPE = "\x1b["


def test_colours_are_for_terminals_and_can_be_refused(run, monkeypatch):
    commands = [[*LOSS, "--grad", "0"], [*LOSS, "--grad", "0", "--diff"], [*LOSS, "--source"]]
    plain = [run("dump", *command) for command in commands]
    assert not any(ESCAPE in text for text in plain)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    colored = [run("dump", *command) for command in commands]
    assert all(ESCAPE in text for text in colored)
    assert [re.sub(r"\x1b\[\d+m", "", text) for text in colored] == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert [run("dump", *command) for command in commands] == plain


def test_it_runs_as_a_module():
    finished = subprocess.run(
        [sys.executable, "-m", "stagrad", "source", "fit.py:branch"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        check=False,
    )
    assert finished.returncode == 2
    assert finished.stderr.startswith("stagrad: branch(x) was given 0 arguments: missing")


def test_unreadable_arguments_are_usage_errors():
    with pytest.raises(UsageError):
        read_argument("{**{}}")
