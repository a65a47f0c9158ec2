"""Baselines of benchmarks: each sorts, reports its version, and says in one line why it cannot run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import missing
from nightly import nightly

from hsgen.cli import main
from hsgen.core.errors import Unavailable, Wrong
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.targets import assembly, target
from hsgen.tools import bench
from hsgen.tools.bench import measurement, rounds
from hsgen.tools.bench.baselines import BASELINES, Run, build, numpy_avx2

HOST = ["numpy", "numpy-avx2", "std", "lsd", "vqsort"]
TINY = str(Path(__file__).with_name("lanes") / "lanes1.toml")
BUILT = {"lsd": "CC", "std": "CXX", "vqsort": "CXX", "boost": "CXX"}


@pytest.fixture(scope="module")
def engine(embedded: Host) -> Direct:
    return direct(embedded)


@pytest.fixture
def rebuilt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache of built baselines, none of them loaded; returns its folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "load", build.load.__wrapped__)
    return tmp_path / "cache/hsgen/baselines-2"


def direct(host: Host) -> Direct:
    context = context_for(host)
    return Direct(context, Compiled(context, target.find("generic").sort("bitonic", "u32")))


def keys_of(n: int, dtype: str, seed: int = 1) -> Any:
    kind = np.dtype(dtype)
    return np.random.default_rng(seed).integers(0, np.iinfo(kind).max, n, kind, endpoint=True)


def started(name: str, engine: Any, keys: Any) -> Run:
    try:
        return BASELINES[name](engine, keys)
    except Unavailable as e:
        missing(str(e))


def check(name: str, engine: Any, keys: Any) -> Run:
    """Sort twice, since a baseline that sorts in place needs its input again; the caller's keys stay unchanged."""
    before = keys.copy()
    run = started(name, engine, keys)
    try:
        for _ in range(2):
            run.prepare()
            seconds = run.sort()
            assert seconds is None or 0 <= seconds < 60
            assert np.array_equal(run.result(), np.sort(before)), f"{name}: {len(keys)} {keys.dtype} keys"
        assert np.array_equal(keys, before)
    finally:
        run.close()
    return run


@pytest.mark.parametrize("dtype", ["u4", "u8"])
@pytest.mark.parametrize("name", HOST)
def test_baselines_of_the_host_sort(name: str, dtype: str) -> None:
    for n in (0, 1, 1000, 1 << 16):
        assert check(name, None, keys_of(n, dtype)).version


@pytest.mark.device
@pytest.mark.parametrize("dtype", ["u4", nightly("u8")])
def test_boost_sorts_on_the_engines_device(engine: Direct, pocl: Host, dtype: str) -> None:
    for n in (0, 1, 1000, 1 << 16):
        assert check("boost", engine, keys_of(n, dtype)).version
    check("boost", direct(pocl), keys_of(1000, dtype))


@pytest.mark.device
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_pyopencl_sorts(engine: Direct, dtype: str) -> None:
    for n in (1, 1000, 1 << 16):
        assert check("pyopencl", engine, keys_of(n, dtype)).version


@pytest.mark.parametrize("name", ["pyopencl", "boost"])
def test_baselines_of_opencl_are_refused_beside_another_engine(name: str) -> None:
    with pytest.raises(Unavailable, match=f"^baseline {name}: needs OpenCL through pyopencl"):
        BASELINES[name](SimpleNamespace(), keys_of(1, "u4"))  # type: ignore[arg-type]


@pytest.mark.device
def test_a_device_that_the_loader_does_not_show_is_one_line(engine: Direct) -> None:
    platform = SimpleNamespace(name="None Such", get_devices=lambda: [device])
    device = SimpleNamespace(name="nothing", platform=platform)
    started("boost", engine, keys_of(1, "u4")).close()
    engine = Direct(engine.context, engine._compiled)
    engine.context = SimpleNamespace(devices=[device])
    with pytest.raises(Unavailable, match=r"^baseline boost: OpenCL's loader does not show the device nothing$"):
        BASELINES["boost"](engine, keys_of(1, "u4"))


@pytest.mark.device
@pytest.mark.parametrize(("name", "variable"), BUILT.items())
def test_without_a_compiler_a_baseline_is_one_line(
    engine: Direct, name: str, variable: str, rebuilt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "no-such-compiler")
    with pytest.raises(Unavailable) as caught:
        BASELINES[name](engine, keys_of(1, "u4"))
    (line,) = caught.value.lines
    language = {"CC": "C", "CXX": "C++"}[variable]
    assert line.startswith(
        f"baseline {name}: no {language} compiler no-such-compiler, which the variable {variable} names"
    )
    assert "\n" not in line


@pytest.mark.device
@pytest.mark.parametrize(("name", "variable"), BUILT.items())
def test_without_its_headers_a_baseline_says_what_to_install(
    engine: Direct, name: str, variable: str, rebuilt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\nprintf 'In file\\nx:1: fatal error: y.h: No such file\\nmore' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv(variable, str(compiler))
    with pytest.raises(Unavailable) as caught:
        BASELINES[name](engine, keys_of(1, "u4"))
    (line,) = caught.value.lines
    said = "does not build with compiler: x:1: fatal error: y.h: No such file"
    assert line == f"baseline {name}: {said}; install {build.UNITS[name].install}"
    assert not list(rebuilt.glob("*"))


@pytest.mark.device
def test_a_baseline_that_cannot_run_ends_with_3_and_times_nothing(
    embedded: Host, rebuilt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr(measurement, "timed", lambda *_: pytest.fail("something was timed"))
    more = ["--key", "u32", "--sizes", "1000", "--device", embedded.platform, "--against", "numpy,lsd"]
    assert main(["bench", "-t", TINY, *more]) == 3
    out, err = capsys.readouterr()
    assert not out and err.splitlines()[-1].startswith("hsgen: baseline lsd: no C compiler no-such-compiler")


def test_built_baselines_are_cached_by_content(rebuilt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check("lsd", None, keys_of(1000, "u4"))
    (first,) = rebuilt.iterdir()
    changed = first.stat().st_mtime_ns
    check("lsd", None, keys_of(1000, "u4"))
    assert [p.stat().st_mtime_ns for p in rebuilt.iterdir()] == [changed]
    for path in build.SOURCES.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(build, "SOURCES", tmp_path)
    with (tmp_path / "baseline.h").open("a") as header:
        header.write("typedef int another;\n")
    check("lsd", None, keys_of(1000, "u4"))
    assert len(list(rebuilt.iterdir())) == 2


def test_baselines_work_without_a_cache(rebuilt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    check("lsd", None, keys_of(1000, "u4"))


def test_numpy_names_disabled_features() -> None:
    run = started("numpy-avx2", None, keys_of(1, "u4"))
    run.close()
    off = numpy_avx2.features("found")
    assert run.version == f"{np.__version__} without {' '.join(off) or 'AVX-512, which it does not use here'}"
    child = numpy_avx2.Child(off)
    child.close()
    assert child.left == numpy_avx2.features("baseline")
    if off:
        child = numpy_avx2.Child([])
        child.close()
        assert child.left == numpy_avx2.features("baseline", "found")


def test_a_numpy_that_needs_avx512_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_avx2.Child, "_read", lambda *_: b'["X86_V4"]\n')
    with pytest.raises(Unavailable, match=r"^baseline numpy-avx2: this numpy does not run without X86_V4; install one"):
        BASELINES["numpy-avx2"](None, keys_of(1, "u4"))  # type: ignore[arg-type]


def test_a_numpy_process_that_does_not_start_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    with pytest.raises(Unavailable, match=r"^baseline numpy-avx2: its process ended with code 1: .*$") as caught:
        BASELINES["numpy-avx2"](None, keys_of(1, "u4"))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("step", ["give", "prepare", "sort", "result"])
def test_a_killed_numpy_process_is_one_line(step: str) -> None:
    child = numpy_avx2.Child([])
    keys = keys_of(1 << 16, "u8")
    child.give(keys)
    os.kill(child.pid, signal.SIGKILL)
    try:
        with pytest.raises(Wrong) as caught:
            getattr(child, step)(*([keys] if step in ("give", "result") else []))
        assert caught.value.lines == ("baseline numpy-avx2: its process ended with signal 9",)
    finally:
        child.close()


def test_the_numpy_process_ends_with_its_parent() -> None:
    script = (
        "import os, signal; from hsgen.tools.bench.baselines import numpy_avx2; child = numpy_avx2.Child([]);"
        "print(child.pid, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    end = time.monotonic() + 20
    while running(int(done.stdout)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not running(int(done.stdout))


def running(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


class Scripted:
    """An engine whose sorts take the given times, then 1 second each; its own clock shows half of that."""

    api = "opencl"
    sort = target.find("generic").sort("bitonic", "u32")

    def __init__(self, own: list[float]) -> None:
        self.now, self.own = 0.0, iter(own)
        self.image: Any = None
        self.clocked = False

    def allocate(self, slot: int, size: int) -> None: ...

    def memory(self) -> tuple[int, int]:
        return 0, 0

    def clock(self, on: bool) -> None:
        self.clocked = on

    def write(self, slot: int, image: Any) -> None:
        if slot == 0:
            self.image = image

    def read(self, slot: int, image: Any) -> None:
        image[:] = np.sort(self.image)

    def run(self, *_: int) -> float | None:
        return self.took(next(self.own, 1.0))

    def copy(self, size: int) -> float | None:
        return self.took(0.5)

    def took(self, seconds: float) -> float | None:
        self.now += seconds
        return seconds / 2 if self.clocked else None


def test_ratios_are_medians_over_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first three sorts are the check and the warm-up; the medians of both, 2 seconds, would have the ratio 1."""
    engine = Scripted([9, 9, 9, 1, 4, 2])
    taken, closed = iter([9.0, 9.0, 9.0, 8.0, 2.0, 1.0]), []

    def scripted(_: Any, keys: Any) -> Run:
        own = np.sort(keys)
        return Run(
            name="scripted",
            prepare=lambda: None,
            sort=lambda: next(taken),
            result=lambda: own,
            version="1.5",
            close=lambda: closed.append(True),
        )

    monkeypatch.setitem(BASELINES, "scripted", scripted)
    monkeypatch.setattr(rounds, "time", SimpleNamespace(perf_counter=lambda: engine.now))
    (rows,) = bench.measure(engine, [1000], ["scripted"], 3, 1, "nothing")  # type: ignore[arg-type]
    own, baseline, copy = rows
    assert (own.baseline, own.hsgen_ratio, own.baseline_version) == (None, None, None)
    assert (baseline.baseline, baseline.hsgen_ratio, baseline.baseline_version) == ("scripted", 0.5, "1.5")
    assert (baseline.ratio_low, baseline.ratio_high) == (None, None)  # 3 rounds give no interval
    assert baseline.mkeys_per_s == pytest.approx(1000 / 2 / 1e6) and closed == [True]
    assert (own.min, own.q1, own.q3, own.max) == pytest.approx([2.5e-4, 3.75e-4, 7.5e-4, 1e-3])
    assert (copy.baseline, copy.hsgen_ratio, copy.roof_share) == ("copy", 0.25, None)
    assert (own.seconds, own.device_seconds, baseline.device_seconds, copy.device_seconds) == (2, 0.5, None, 0.25)
    moved, roof = assembly.traffic(engine.sort, 1000), 2 * 4 * 1000 / 0.25
    assert (own.bytes, baseline.bytes, copy.bytes, own.roof_clock) == (moved, None, 8000, "device")
    assert own.roof_share == pytest.approx(moved / 0.5 / roof, abs=1e-4)
    assert own.roof_mkeys_per_s == pytest.approx(1000 / (moved / roof) / 1e6, rel=1e-5)
    assert not engine.clocked


def test_open_baselines_are_closed_if_a_later_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    children = []
    begin = numpy_avx2.Child.__init__

    def noted(self: numpy_avx2.Child, off: list[str]) -> None:
        begin(self, off)
        children.append(self)

    monkeypatch.setattr(numpy_avx2.Child, "__init__", noted)
    with pytest.raises(Unavailable, match=r"^baseline boost: needs OpenCL"):
        list(bench.measure(Scripted([]), [1000], ["numpy-avx2", "boost"], 1, 1, ""))  # type: ignore[arg-type]
    assert [c._process.returncode for c in children] == [-signal.SIGKILL]
