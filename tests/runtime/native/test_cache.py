"""The cache of compiled programs when all is well, and when nothing is."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stagrad.errors import CompilerError
from stagrad.runtime.native import build, cache, load_native, native_complaint, toolchain
from stagrad.tools.cli import main
from tests.runtime.native.programs import doubling

pytestmark = pytest.mark.compiler

ROOT = Path(__file__).parents[3]
X = np.array([1.0, 2.0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty cache, and forget what this process has loaded."""
    monkeypatch.setenv("STAGRAD_CACHE", str(tmp_path))
    forget(monkeypatch)
    return tmp_path


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the next program be looked for on disk, as a new process would."""
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setattr(cache, "_temporary", [])


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows with every run of the compiler for a program."""
    runs: list[Any] = []

    def run(arguments: Any, where: Path) -> Any:
        runs.append(arguments)
        return toolchain.run_compiler(arguments, where)

    monkeypatch.setattr(build, "run_compiler", run)
    return runs


def objects(folder: Path) -> list[Path]:
    return sorted(folder.glob("??/*"))


def test_a_program_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(monkeypatch)
    load_native(doubling(2))
    first = len(runs)
    load_native(doubling(2))
    assert len(runs) == first == len(objects(folder))
    forget(monkeypatch)
    assert load_native(doubling(2))(X)[0] == 5.0
    assert len(runs) == first


def test_sizes_and_comments_need_no_compiler_and_flags_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_native(doubling(2))
    runs = counted(monkeypatch)
    assert load_native(doubling(3))(np.ones(3))[0] == 3.0
    assert load_native(doubling(2, before="/* loss.py:7 */ // x"))(X)[0] == 5.0
    assert runs == []
    monkeypatch.setenv("STAGRAD_CFLAGS", "-DOTHER=1")
    load_native(doubling(2))
    assert len(runs) == 1


@pytest.mark.parametrize("damage", [lambda content: content[: len(content) // 2], lambda _: b""])
def test_a_damaged_object_is_compiled_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, damage: Any
) -> None:
    load_native(doubling(2))
    # A copy is damaged: the one that is loaded is in use, and rewriting it ends the process.
    for path in objects(folder):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(damage(content))
    forget(monkeypatch)
    with pytest.warns(RuntimeWarning, match="is damaged and will be compiled again"):
        run = load_native(doubling(2))
    assert run(X)[0] == 5.0


def test_an_object_without_its_function_is_compiled_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_native(doubling(2))
    (path,) = [each for each in objects(folder) if b"sg_new_program" not in each.read_bytes()]
    source = folder / "other.c"
    source.write_text("int other;\n")
    compiler = build.require_compiler()
    made = folder / "building-x" / "other.so"
    made.parent.mkdir()
    done = toolchain.run_compiler(compiler.arguments(source, made, []), folder)
    assert done.returncode == 0, done.stdout
    key = path.name.split(".")[0]
    path.unlink()
    cache.store(key, made)
    forget(monkeypatch)
    with pytest.warns(RuntimeWarning, match="cannot be loaded and will be compiled again"):
        run = load_native(doubling(2))
    assert run(X)[0] == 5.0


def test_a_folder_that_cannot_be_made_costs_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STAGRAD_CACHE", str(tmp_path / "file" / "cache"))
    forget(monkeypatch)
    with pytest.warns(RuntimeWarning, match="Set STAGRAD_CACHE") as caught:
        first, second = (load_native(doubling(2, name=name)) for name in ("one", "two"))
    assert first(X)[0] == second(X)[0] == 5.0
    assert len(caught) == 1


def test_a_full_disk_costs_one_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(arguments: Any, where: Path) -> Any:
        if folder in where.parents:
            text = "as: program.o: No space left on device"
            return subprocess.CompletedProcess(arguments, 1, text)
        return toolchain.run_compiler(arguments, where)

    monkeypatch.setattr(build, "run_compiler", run)
    with pytest.warns(RuntimeWarning, match="No space left on device") as caught:
        assert load_native(doubling(2))(X)[0] == 5.0
    assert len(caught) == 1


def test_a_temporary_folder_goes_with_its_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code = (
        "import numpy as np\n"
        "from stagrad.runtime.native import load_native\n"
        "from tests.runtime.native.programs import doubling\n"
        "print(load_native(doubling(2))(np.ones(2))[0])\n"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {
        **os.environ,
        "STAGRAD_CACHE": str(tmp_path / "file"),
        "TMPDIR": str(temporary),
    }
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert ran.stdout.strip() == "2.0"
    assert ran.stderr.count("Set STAGRAD_CACHE") == 1
    assert list(temporary.iterdir()) == []


def test_what_was_not_used_for_longest_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT_BYTES", 256 * 2500)
    for number in range(4):
        with cache.building() as place:
            made = place / "program.so"
            made.write_bytes(bytes([number]) * 1000)
            stored = cache.store(f"ab{number}", made)
        os.utime(stored, (number, number))
        if number == 1:
            assert cache.find("ab0") is not None
    assert [path.name[:3] for path in objects(folder)] == ["ab0", "ab3"]


def test_the_command_tells_and_clears(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load_native(doubling(2))
    count = len(objects(folder))
    assert main(["cache", "info"]) == 0
    assert f"{count} compiled programs" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert str(folder) in capsys.readouterr().out
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    assert cache.info().count == 0
    assert main(["cache", "burn"]) == 2


def test_the_compiler_is_the_one_that_cc_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = toolchain.find_compiler()
    assert found is not None
    monkeypatch.setenv("CC", f"{found.command[0]} -DSG_TRIED=1")
    chosen = toolchain.find_compiler()
    assert chosen is not None
    assert chosen.command == (found.command[0], "-DSG_TRIED=1")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert toolchain.find_compiler() is None
    with pytest.raises(CompilerError, match="no C compiler found"):
        load_native(doubling(2))


def test_a_compiler_that_does_not_work_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = folder / "broken"
    broken.write_text("#!/bin/sh\necho broken: cannot find crt1.o\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(CompilerError, match=r"(?s)cannot compile a function.*cannot find crt1\.o"):
        load_native(doubling(2))
    assert "cannot find crt1.o" in native_complaint()
    monkeypatch.delenv("CC")
    assert native_complaint() == ""


def test_a_folder_whose_programs_may_not_run_costs_one_warning(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Library(ctypes.PyDLL):
        def __init__(self, name: str) -> None:
            if folder in Path(name).parents:
                raise OSError(f"{name}: failed to map segment from shared object")
            super().__init__(name)

    monkeypatch.setattr(ctypes, "PyDLL", Library)
    with pytest.warns(RuntimeWarning, match="programs in it cannot be run") as caught:
        assert load_native(doubling(2))(X)[0] == 5.0
    assert len(caught) == 1


def test_a_flag_the_compiler_lacks_is_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = toolchain.find_compiler()
    assert real is not None
    picky = folder / "picky"
    picky.write_text(
        '#!/bin/sh\nfor flag; do case "$flag" in -fopenmp-simd|-march=native)\n'
        'echo "error: unrecognized option $flag"; exit 1;; esac; done\n'
        f'exec {real.command[0]} "$@"\n'
    )
    picky.chmod(0o755)
    monkeypatch.setenv("CC", str(picky))
    chosen = build.require_compiler()
    assert not {"-fopenmp-simd", "-march=native"} & set(chosen.flags)
    assert "-ffp-contract=off" in chosen.flags
    assert load_native(doubling(2))(X)[0] == 5.0
