"""A compiler that crashes or hangs raises an exception in the Python API, and does not end the program."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sorters import SMALL

from hsgen.cli import engines
from hsgen.core.errors import Notice, Usage, Wrong
from hsgen.engines import hosts, isolated_build
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.opencl import Checker, Merger, Scanner, SegmentedSorter, Sorter
from hsgen.system import processes, toolchain
from hsgen.targets import target

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
COMPILER = f"import os, sys, time; sys.stdin.read(); print({isolated_build.BEGUN!r}, flush=True); "
CRASH = COMPILER + "os.kill(os.getpid(), 11)"


@pytest.fixture(scope="module")
def context(embedded: Host) -> Iterator[Any]:
    made = context_for(embedded)
    yield made
    del made


@pytest.fixture(autouse=True)
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of marks.  Trials and optimization are on; other tests turn them off."""
    folder = tmp_path / "tried"
    folder.mkdir()
    monkeypatch.setattr(isolated_build.folders, "cached", lambda name: tmp_path / name)
    monkeypatch.setenv("HSGEN_TRIAL", "1")
    monkeypatch.setenv("HSGEN_OPTIMIZE", "1")
    return folder


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[Any]]:
    """Replace the process that compiles by another program; return the list of its calls."""
    calls: list[Any] = []
    run = processes.run

    def replace(program: str) -> list[Any]:
        def other(command: list[str], *more: Any) -> subprocess.CompletedProcess[str]:
            calls.append(command)
            return run([sys.executable, "-c", program], *more)

        monkeypatch.setattr(isolated_build.processes, "run", other)
        return calls

    return replace


@pytest.mark.parametrize("kind", [Sorter, Checker, Merger, Scanner, SegmentedSorter], ids=lambda x: x.__name__)
def test_a_crash_is_an_exception(kind: Any, context: Any, embedded: Host, child: Callable[[str], list[Any]]) -> None:
    """Each time, since no success is recorded; each time without optimization, too."""
    calls = child(CRASH)
    for number in (2, 4):
        with pytest.raises(Wrong) as crashed:
            kind(context, "u32", target="generic")
        assert len(calls) == number
    (line,) = crashed.value.lines
    assert line.startswith("targets/generic/kernels/opencl/")
    assert f": the compiler of {embedded.label} ended with signal 11; " in line
    log = Path(line.rpartition("; the log is ")[2]).read_text(encoding="utf-8")
    assert "__kernel void" in log


def test_a_crash_of_the_optimizer_is_a_notice(
    context: Any, tmp_path: Path, child: Callable[[str], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernels are compiled without optimization, the next time immediately, and sort."""
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    calls = child(
        "import json, os, sys; found = json.loads(sys.stdin.read()); print('begun', flush=True); "
        "found['optimized'] and os.kill(os.getpid(), 11)"
    )
    built: list[str] = []
    build = cl.Program.build
    monkeypatch.setattr(cl.Program, "build", lambda self, options: (built.extend(options), build(self, options))[1])
    with pytest.warns(Notice, match="ended with signal 11; .*; these kernels are compiled without optimization"):
        Sorter(context, "u32", target=str(tmp_path / "small.toml"))
    assert len(calls) == 2 and built[-1] == "-cl-opt-disable"
    with pytest.warns(Notice, match="crashed before; these kernels are compiled without optimization"):
        sorter = Sorter(context, "u32", target=str(tmp_path / "small.toml"))
    assert len(calls) == 2 and built.count("-cl-opt-disable") == 2
    queue, host = cl.CommandQueue(context), np.arange(5000, 0, -1, np.uint32)
    keys = array.to_device(queue, host)
    sorter(queue, keys)
    assert (keys.get() == host[::-1]).all()


@pytest.mark.parametrize("end", ["sys.exit(1)", "os.abort()", "os._exit(134)"])
def test_however_it_ends(end: str, context: Any, child: Callable[[str], list[Any]]) -> None:
    """LLVM calls exit(1) on fatal errors."""
    child(COMPILER + end)
    with pytest.raises(Wrong, match=r"ended with (signal 6|code 1|code 134); "):
        Sorter(context, "u32", target="generic")


def test_a_hang_is_an_exception(context: Any, child: Callable[[str], list[Any]], monkeypatch: Any) -> None:
    child(COMPILER + "time.sleep(60)")
    monkeypatch.setattr(isolated_build, "PATIENT", 0.5)
    with pytest.raises(Wrong, match=r"did not end within 0.5 seconds; "):
        Sorter(context, "u32", target="generic")


def test_a_text_is_tried_once(
    context: Any, marks: Path, tmp_path: Path, child: Callable[[str], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the real process; a different text is tried again, and so is the same text with another driver."""
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    small = str(tmp_path / "small.toml")
    sorter = Sorter(context, "u32", target=small)
    queue, host = cl.CommandQueue(context), np.arange(5000, 0, -1, np.uint32)
    keys = array.to_device(queue, host)
    sorter(queue, keys)
    assert (keys.get() == host[::-1]).all()
    assert len(list(marks.iterdir())) == 1
    calls = child(CRASH)
    assert Sorter(context, "u32", target=small).target == "small" and calls == []
    with pytest.raises(Wrong):
        Sorter(context, "i32", target=small)
    shown = hosts.hosts()
    monkeypatch.setattr(hosts, "hosts", lambda: [replace(h, driver="2") for h in shown])
    with pytest.raises(Wrong):
        Sorter(context, "u32", target=small)
    assert len(calls) == 4 and len(list(marks.iterdir())) == 1


def test_trials_can_be_left_out(
    context: Any, marks: Path, child: Callable[[str], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = child(CRASH)
    monkeypatch.setenv("HSGEN_TRIAL", "0")
    assert Scanner(context, "u32", target="generic").target == "generic"
    monkeypatch.setenv("HSGEN_TRIAL", "no")
    with pytest.raises(Usage, match="HSGEN_TRIAL=no: unknown; give 0 to compile without a trial, or 1"):
        Scanner(context, "u32", target="generic")
    assert calls == [] and list(marks.iterdir()) == []


def test_optimization_can_be_left_out(
    context: Any, embedded: Host, marks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each way to compile is tried once.  Only validations are without optimization; measurements always have it."""
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    small = str(tmp_path / "small.toml")
    built: list[str] = []
    build = cl.Program.build
    monkeypatch.setattr(cl.Program, "build", lambda self, options: (built.extend(options), build(self, options))[1])
    queue, host = cl.CommandQueue(context), np.arange(5000, 0, -1, np.uint32)
    for count, switch in enumerate(("0", "1"), 1):
        built.clear()
        monkeypatch.setenv("HSGEN_OPTIMIZE", switch)
        sorter = Sorter(context, "u32", target=small)
        assert ("-cl-opt-disable" in built) == (switch == "0")
        assert len(list(marks.iterdir())) == count
        sorter(queue, keys := array.to_device(queue, host))
        assert (keys.get() == host[::-1]).all()
        sort = target.find(small).sort("bitonic", "u32")
        assert engines.direct(embedded, sort)._compiled.source.optimized == (switch == "1")
        strict = engines.direct(embedded, sort, strict=True)
        assert strict._compiled.source.optimized and strict.sibling(sort)._compiled.source.optimized
    monkeypatch.setenv("HSGEN_OPTIMIZE", "no")
    with pytest.raises(Usage, match="HSGEN_OPTIMIZE=no: unknown; give 0 to compile without optimization, or 1"):
        Sorter(context, "u32", target=small)


def test_a_program_that_cannot_start_another(
    context: Any, marks: Path, child: Callable[[str], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one that found hsgen by sys.path, or that has Python built in: it warns and continues."""
    calls = child("import sys; sys.exit('No module named hsgen')")
    said = "no process can be started that compiles: code 1, No module named hsgen: a crash of the compiler would"
    with pytest.warns(Notice, match=said):
        Scanner(context, "u32", target="generic")
    monkeypatch.setattr(sys, "executable", "/usr/bin/blender")
    with pytest.warns(Notice, match="this process, which is no Python interpreter that starts another: a crash"):
        Scanner(context, "u32", target="generic")
    assert len(calls) == 1 and list(marks.iterdir()) == []
