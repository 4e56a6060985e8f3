"""Threads, forks and many processes."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stagrad.config as config
from stagrad.runtime.native import find_compiler, load_native
from stagrad.runtime.native.support import FOLDER, support
from tests.runtime.native.programs import F64, Aval, chunked_sum, doubling, program

pytestmark = pytest.mark.compiler

ROOT = Path(__file__).parents[3]
CHUNKS, LENGTH = 64, 4096


@pytest.fixture
def threads() -> Iterator[Any]:
    """Set the number of threads; it is put back afterwards."""
    before = config.num_threads
    yield lambda count: setattr(config, "num_threads", count)
    config.num_threads = before


def numbers() -> np.ndarray:
    return np.random.default_rng(0).normal(size=CHUNKS * LENGTH) * 10.0 ** np.arange(CHUNKS).repeat(
        LENGTH
    )


def test_results_are_the_same_bits_for_any_number_of_threads(threads: Any) -> None:
    run, x = load_native(chunked_sum(CHUNKS, LENGTH)), numbers()
    threads(1)
    want = run(x)[0]
    for count in (2, 8, 3):
        threads(count)
        assert {run(x)[0].tobytes() for _ in range(50)} == {want.tobytes()}


def test_many_python_threads_call_one_program(threads: Any) -> None:
    threads(3)
    run, x = load_native(chunked_sum(CHUNKS, LENGTH)), numbers()
    want, found = run(x)[0], []

    def call() -> None:
        found.extend(run(x)[0] for _ in range(100))

    callers = [threading.Thread(target=call) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [want] * 800


def test_a_region_inside_a_region_visits_every_index_once(threads: Any) -> None:
    before = """
struct job { const sg_runtime *rt; double *counts; };
struct row { double *counts; };
static void add(void *closure, int64_t index) { ((struct row *)closure)->counts[index] += 1; }
static void add_row(void *closure, int64_t index) {
    struct job *job = closure;
    struct row row = {job->counts + 10 * index};
    job->rt->parallel(add, &row, 10);
}"""
    body = """
    memset(arrays[0], 0, 800);
    struct job job = {rt, (double *)arrays[0]};
    rt->parallel(add_row, &job, 10);"""
    run = load_native(program(body, [], [Aval((10, 10), F64)], before=before))
    threads(4)
    for _ in range(200):
        assert np.all(run()[0] == 1)


def in_child(function: Any) -> None:
    """Run a function in a forked process, and hold it to an answer within a minute."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        os.sched_yield()
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the forked process hangs")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_computes_with_threads_of_its_own(threads: Any) -> None:
    threads(2)
    run, x = load_native(chunked_sum(CHUNKS, LENGTH)), numbers()
    want = run(x)[0]

    def compute() -> None:
        assert all(run(x)[0] == want for _ in range(20))

    in_child(compute)
    assert run(x)[0] == want


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_while_other_threads_compute_does_not_hang(threads: Any) -> None:
    threads(3)
    run, x = load_native(chunked_sum(CHUNKS, LENGTH)), numbers()
    want, stopped = run(x)[0], threading.Event()

    def call() -> None:
        while not stopped.is_set():
            run(x)

    callers = [threading.Thread(target=call) for _ in range(3)]
    for caller in callers:
        caller.start()

    def compute() -> None:
        assert run(x)[0] == want

    try:
        for _ in range(10):
            in_child(compute)
    finally:
        stopped.set()
        for caller in callers:
            caller.join()


def test_threads_that_have_nothing_to_do_take_no_time(threads: Any) -> None:
    threads(4)
    run, x = load_native(chunked_sum(CHUNKS, LENGTH)), numbers()
    run(x)
    begun, used = time.monotonic(), sum(os.times()[:2])
    # Another process that takes a while: this one waits for it without computing.
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert sum(os.times()[:2]) - used <= 0.2 * (time.monotonic() - begun) + 0.02


def test_the_number_of_threads_is_checked(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (0, -1, 1.5, "two"):
        with pytest.raises(ValueError, match=r"num_threads is .* whole number"):
            threads(wrong)
    code = "import stagrad.config as config; print(config.num_threads)"
    for variables, want in (
        ({"STAGRAD_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, "3"),
        ({"OMP_NUM_THREADS": "5,2"}, "5"),
        ({"OMP_NUM_THREADS": "many"}, str(config.usable_cores())),
    ):
        monkeypatch.delenv("STAGRAD_NUM_THREADS", raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        ran = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
        )
        assert ran.stdout.strip() == want


def compute_in_process(size: int) -> float:
    """Compile and run a program; called in processes of their own."""
    return float(load_native(doubling(size, name="shared"))(np.ones(size))[0])


def test_many_processes_build_one_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGRAD_CACHE", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with get_context("spawn").Pool(3) as pool:
        assert pool.map(compute_in_process, [5] * 6, chunksize=1) == [5.0] * 6
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) == 3  # the support object, the program, and the compiler's flags
    assert not list(tmp_path.glob("building-*"))


def test_the_support_is_free_of_undefined_behaviour(tmp_path: Path) -> None:
    compiler = find_compiler()
    assert compiler is not None
    ask = [*compiler.command, "-print-file-name=libasan.so"]
    library = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
    if not Path(library).is_absolute():
        pytest.skip("the compiler brings no address sanitizer")
    code = (
        "import numpy as np\n"
        "from stagrad.runtime.native import load_native\n"
        "from tests.runtime.native.programs import chunked_sum, doubling\n"
        "import stagrad.config\n"
        "stagrad.config.num_threads = 3\n"
        "run = load_native(chunked_sum(16, 64))\n"
        "assert all(run(np.ones(1024)) == (1024.0,) for _ in range(100))\n"
        "run = load_native(doubling(3))\n"
        "assert run(np.arange(6.0)[::2])[0] == 20\n"
        "for wrong in ((), (np.ones(4),), ('x',)):\n"
        "    try: run(*wrong)\n"
        "    except (TypeError, ValueError): pass\n"
        "    else: raise AssertionError\n"
    )
    environment = {
        **os.environ,
        "STAGRAD_CACHE": str(tmp_path),
        "STAGRAD_CFLAGS": "-fsanitize=address,undefined -fno-sanitize-recover=all",
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
    }
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_support_compiles_without_warnings(tmp_path: Path) -> None:
    compiler = find_compiler()
    assert compiler is not None
    include = FOLDER.parents[1] / "codegen" / "c" / "include"
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-c", f"-I{include}"]
    files = ["-o", str(tmp_path / "support.o"), str(FOLDER / "support.c")]
    ran = subprocess.run([*compiler.command, *flags, *files], capture_output=True, text=True)
    assert ran.stderr == ""
    assert support() is support()
