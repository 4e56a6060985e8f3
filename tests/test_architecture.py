"""The rules of the house, and that the checks behind them catch who breaks one."""

import ast
import inspect
import subprocess
from pathlib import Path

import pytest

import stagrad
from stagrad import config
from tests import architecture

ROOT = Path(__file__).parents[1]

# Files, and functions as `file:function`, longer than the rule allows, each with its reason.
SIZE_EXCEPTIONS: dict[str, str] = {}


def test_imports_point_down():
    assert architecture.layer_violations(ROOT) == []


def test_cupy_is_imported_where_it_belongs():
    assert architecture.cupy_violations(ROOT) == []


def test_files_and_functions_are_short():
    assert architecture.size_violations(ROOT, SIZE_EXCEPTIONS) == []


def test_environment_variables_are_declared_and_documented():
    names = [variable.name for variable in config.VARIABLES]
    assert len(names) == len(set(names))
    assert architecture.variable_violations(ROOT, names) == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_no_file_names_a_folder_of_the_machine_it_was_written_on():
    assert architecture.machine_path_violations(ROOT) == []


def test_public_names_are_listed_once():
    imported = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(inspect.getsource(stagrad)))
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    }
    public = {name for name in imported if not name.startswith("_")}
    assert sorted(set(stagrad.__all__)) == sorted(stagrad.__all__)
    assert public - set(stagrad.__all__) == set()


@pytest.mark.parametrize("name", stagrad.__all__)
def test_public_name_is_documented_with_an_example(name):
    thing = getattr(stagrad, name)
    ours = (inspect.getmodule(thing) or stagrad).__name__.partition(".")[0] == "stagrad"
    if not ours or not (callable(thing) or inspect.ismodule(thing)):
        return  # A constant, or a name of NumPy's passed on.
    # Not inspect.getdoc, which would accept the docstring of a base class.
    documentation = thing.__doc__ or ""
    assert documentation, f"stagrad.{name} has no docstring"
    assert ">>> " in documentation, f"stagrad.{name}: the docstring shows no example"


# What follows holds the checks themselves to a checkout with something planted in it.


def checkout(folder, **files):
    """Write `files` under `folder`; double underscores in a keyword stand for slashes."""
    for key, text in files.items():
        path = folder / (key.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("ir", "from stagrad.ops import add"),
        ("ir", "def late():\n    import stagrad.passes.fuse"),
        ("ir", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import stagrad.ops"),
        ("ops", "from ..trace import Tracer"),
        ("ops", "import importlib\nimportlib.import_module('stagrad.trace')"),
        ("trace", "from stagrad.eager import Tensor"),
        ("eager", "from stagrad import trace"),
        ("passes", "import stagrad.codegen"),
        ("passes", "from stagrad import grad"),
        ("codegen", "from stagrad.passes.schedule import schedule"),
        ("codegen", "from stagrad.ops import add"),
        ("runtime", "from stagrad.codegen import emit"),
        ("api", "from stagrad.tools.cli import main"),
        ("api", "from stagrad.testing import check_grads"),
        ("errors", "import stagrad.config"),
    ],
)
def test_a_planted_import_is_found(tmp_path, importer, statement):
    is_file = importer in ("errors", "testing")
    checkout(tmp_path, **{f"stagrad__{importer}" + ("" if is_file else "__planted"): statement})
    violations = architecture.layer_violations(tmp_path)
    assert len(violations) == 1
    assert f"{importer} may not import" in violations[0]


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("ir", "import numpy\nfrom stagrad.errors import StagradError"),
        ("ir", "from stagrad.ir.aval import Aval\nfrom . import node\nfrom .node import Node"),
        ("passes", "from stagrad.trace import trace\nfrom stagrad import ops"),
        ("runtime", "from stagrad.ir.kernel import Kernel\nfrom stagrad import config"),
        ("tools", "import stagrad\nfrom stagrad import grad\nfrom stagrad.passes import PIPELINE"),
        ("testing", "from stagrad.api import vjp"),
    ],
)
def test_an_import_from_below_is_accepted(tmp_path, importer, statement):
    is_file = importer == "testing"
    checkout(tmp_path, **{f"stagrad__{importer}" + ("" if is_file else "__lawful"): statement})
    assert architecture.layer_violations(tmp_path) == []


def test_a_file_outside_the_layers_is_found(tmp_path):
    checkout(tmp_path, stagrad__attic="", stagrad__ir__node="")
    (violation,) = architecture.layer_violations(tmp_path)
    assert violation.startswith("stagrad/attic.py: belongs to no layer")


def test_planted_imports_of_cupy_are_found(tmp_path):
    late = "def use():\n    import cupy\n"
    checkout(tmp_path, stagrad__runtime__gpu=late, stagrad__eager__device=late)
    assert architecture.cupy_violations(tmp_path) == []
    checkout(tmp_path, stagrad__eager__device="import cupy", stagrad__ops__bad=late)
    at_import, elsewhere = architecture.cupy_violations(tmp_path)
    assert at_import.startswith("stagrad/eager/device.py:1: import cupy inside")
    assert elsewhere.startswith("stagrad/ops/bad.py:2: only runtime and eager")
    checkout(tmp_path, stagrad__runtime__second=late)
    assert any("several files" in line for line in architecture.cupy_violations(tmp_path))


def test_long_files_and_functions_are_found(tmp_path):
    body = "    x = 1\n" * architecture.FUNCTION_LINES
    documented = f'def documented():\n    """One.\n\n    Two.\n    """\n{body[:-10]}'
    checkout(tmp_path, stagrad__ir__long=f"def long():\n{body}", stagrad__ir__fine=documented)
    checkout(tmp_path, tests__test_long="x = 1\n" * (architecture.FILE_LINES + 1))
    assert architecture.size_violations(tmp_path, {}) == [
        "stagrad/ir/long.py:long: 61 lines, 60 allowed",
        "tests/test_long.py: 401 lines, 400 allowed",
    ]


def test_an_exception_must_be_needed_and_argued(tmp_path):
    checkout(tmp_path, tests__test_long="x = 1\n" * (architecture.FILE_LINES + 1))
    argued = {"tests/test_long.py": "a table that reads best in one piece"}
    assert architecture.size_violations(tmp_path, argued) == []
    unused, unargued = architecture.size_violations(
        tmp_path, {"tests/test_long.py": "", "stagrad/ir/node.py": "was long once"}
    )
    assert unused == "stagrad/ir/node.py: needs no exception; remove it"
    assert unargued == "tests/test_long.py: the exception gives no reason"


def test_undeclared_and_undocumented_variables_are_found(tmp_path):
    page = tmp_path / "docs" / "environment.md"
    page.parent.mkdir()
    page.write_text("| `STAGRAD_DUMP` | a folder |\n\n## `STAGRAD_GONE`\n\nSee `OTHER`.\n")
    reads = (
        "os.environ['A']",
        "os.environ.get('A')",
        "os.getenv('A')",
        "'A' in os.environ",
        "run(env={**os.environ, 'A': '1'})",
    )
    checkout(tmp_path, stagrad__config="os.environ['A']", stagrad__ir__reads="\n".join(reads))
    assert architecture.variable_violations(tmp_path, ["STAGRAD_DUMP", "STAGRAD_NEW"]) == [
        "docs/environment.md: STAGRAD_NEW is missing",
        "docs/environment.md: STAGRAD_GONE is not declared in stagrad/config.py",
        *(
            f"stagrad/ir/reads.py:{line}: read the environment through stagrad/config.py"
            for line in (1, 2, 3, 4)
        ),
    ]


def test_a_machine_path_is_found(tmp_path):
    home, work, text = "/" + "root", "/" + "work", tmp_path / "notes.md"
    text.write_text(f"see frame{work}/item and https://example.org{home}/x\nrun {home}/bin/tool\n")
    (tmp_path / "array.npy").write_bytes(b"\0" + f" {home}/".encode())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    assert architecture.machine_path_violations(tmp_path) == [f"notes.md:2: run {home}/bin/tool"]
