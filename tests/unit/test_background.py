"""Preparation in a thread: what is pending, errors, several callers, the end of a process, and forks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hsgen.core.errors import Usage, Wrong
from hsgen.cuda import background

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(background, "_known", {})
    monkeypatch.setattr(background, "_on", None)
    monkeypatch.setattr(background, "_preload", lambda: None)
    monkeypatch.delenv(background.SWITCH, raising=False)
    yield
    assert background.wait_for_thread(10)


def test_the_variable_and_the_function_turn_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert background.enabled()
    monkeypatch.setenv(background.SWITCH, "0")
    assert not background.enabled()
    background.prepare_in_thread()
    assert background.enabled()
    background.prepare_in_thread(False)
    monkeypatch.setenv(background.SWITCH, "1")
    assert not background.enabled()


def test_another_value_of_the_variable_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(background.SWITCH, "yes")
    with pytest.raises(Usage, match="HSGEN_BACKGROUND=yes: unknown; give 0"):
        background.enabled()


def test_a_sort_is_pending_until_it_is_prepared() -> None:
    begun, end = threading.Event(), threading.Event()

    def prepare() -> None:
        background.slow()
        begun.set()
        assert end.wait(10)

    assert background.pending("a", prepare)
    assert begun.wait(10)
    assert background.pending("a", prepare)
    assert not background.wait_for_thread(0.01)
    end.set()
    assert background.wait_for_thread(10)
    assert not background.pending("a", prepare)


def test_two_threads_start_one_preparation() -> None:
    calls: list[str] = []
    gate, results = threading.Barrier(2), list[bool]()

    def call() -> None:
        gate.wait(10)
        results.append(background.pending("b", lambda: (background.slow(), calls.append("b"), time.sleep(0.05))))

    callers = [threading.Thread(target=call) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert background.wait_for_thread(10)
    assert results == [True, True]
    assert calls == ["b"]


def test_the_caller_gets_the_error_and_may_try_again() -> None:
    def fail() -> None:
        background.slow()
        raise Wrong("no kernel")

    assert background.pending("c", fail)
    assert background.wait_for_thread(10)
    with pytest.raises(Wrong, match="no kernel"):
        background.pending("c", fail)
    assert background.pending("c", background.slow)
    assert background.wait_for_thread(10)
    assert not background.pending("c", background.slow)


def test_a_sort_without_slow_work_is_prepared_in_the_call() -> None:
    """Its errors are the caller's, and the thread is not used."""
    names: list[str] = []
    assert not background.pending("e", lambda: names.append(threading.current_thread().name))
    assert names == [threading.current_thread().name]

    def fail() -> None:
        raise Wrong("no launch")

    with pytest.raises(Wrong, match="no launch"):
        background.pending("e", fail)
    assert not background._known
    background.slow()  # outside a preparation, slow work is allowed


def test_a_sort_that_turns_out_to_be_slow_does_nothing_slow_in_the_call() -> None:
    caller, names = threading.current_thread().name, list[str]()

    def prepare() -> None:
        names.append(f"plans in {threading.current_thread().name}")
        background.slow()
        names.append(f"compiles in {threading.current_thread().name}")

    assert background.pending("f", prepare)
    assert background.wait_for_thread(10)
    assert names == [f"plans in {caller}", "plans in hsgen", "compiles in hsgen"]


def test_few_sorts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_KEPT", 5)
    for key in range(40):
        assert background.pending(key, background.slow)
        assert background.wait_for_thread(10)
        assert not background.pending(key, background.slow)
        assert len(background._known) <= 5


PROGRAM = """
import time
from hsgen.cuda import background
for i in range(50):
    background.pending(i, lambda i=i: (background.slow(), print(i, flush=True), time.sleep(0.2)))
time.sleep(0.1)
"""


def test_a_process_that_ends_waits_for_one_preparation_only() -> None:
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert 1 <= len(done.stdout.split()) < 10
    assert time.monotonic() - begin < 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_prepares_again() -> None:
    end = threading.Event()
    assert background.pending("d", lambda: (background.slow(), end.wait(10)))
    child = os.fork()
    if child == 0:
        again = background.pending("d", background.slow) and background.wait_for_thread(10)
        os._exit(0 if again and not background.pending("d", background.slow) else 1)
    end.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_waits_for_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in the middle of its import would stay locked in the new process."""
    begun, end, order = threading.Event(), threading.Event(), list[str]()

    def imports(name: str) -> None:
        begun.set()
        assert end.wait(10)
        order.append("imported")

    monkeypatch.setattr(background, "import_module", imports)
    monkeypatch.setattr(background, "_imported", set())
    importer = threading.Thread(target=background._imports, args=("hsgen.cuda.order",))
    importer.start()
    assert begun.wait(10)
    threading.Timer(0.05, end.set).start()
    child = os.fork()
    if child == 0:
        os._exit(0 if order == ["imported"] and background._importing.acquire(timeout=5) else 1)
    importer.join(10)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert order == ["imported"] and not background._importing.locked()
