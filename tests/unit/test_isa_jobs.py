"""Jobs of offline compilers: their kernels, their failures, and cached results."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from offline import TEXT, USE, Fake, small

from hsgen.system import processes
from hsgen.targets.target import Target
from hsgen.tools.compile import implicit, jobs
from hsgen.tools.compile.base import Use
from hsgen.tools.compile.jobs import Done, Planner
from hsgen.tools.compile.results import TOGETHER, Result, summaries, wrongs

LABELS = ("auto", "bitonic", "radix", "radix-wide")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "hsgen" / "isa-2"


def compiled(
    fake: Fake, found: Target | None = None, labels: Sequence[str] = ("bitonic",), seconds: float = 60, workers: int = 2
) -> list[Done]:
    """The compiler's results for u32 sorts for sm_80 and sm_90."""
    found = found or small()
    planned, missing = Planner({"cuda": fake}).jobs(
        found, [found.sort(a, "u32") for a in labels], jobs.devices_of(found)
    )
    assert not missing
    return jobs.ordered(jobs.run(planned, workers, seconds), planned)


def results(done: Sequence[Done]) -> list[Result]:
    return [r for d in done for r in d.results]


def names(label: str) -> list[str]:
    return [k.name for k in small().sort(label, "u32").kernels]


def test_every_kernel_of_a_sort_is_compiled_at_once_for_each_device() -> None:
    fake = Fake()
    done = compiled(fake)
    assert sorted(fake.asked) == [tuple(names("bitonic"))] * 2
    assert [(r.place.device, r.kernel) for r in results(done)] == [
        (d, k) for d in ("sm_80", "sm_90") for k in names("bitonic")
    ]
    assert {r.use for r in results(done)} == {USE} and {r.identity for r in results(done)} == {"Fake 1"}
    assert wrongs(results(done)) == [] and not any(f.exists() for f in fake.folders)


def test_kernels_that_sorts_share_are_compiled_once() -> None:
    fake = Fake()
    found = results(compiled(fake, labels=LABELS))
    where = {(r.sort, r.kernel) for r in found}
    assert len(where) == len(found) / 2
    auto = set(names("auto"))
    assert {k for s, k in where if s == "auto_u32"} == auto
    assert {k for s, k in where if s == "bitonic_u32"} == set(names("bitonic")) - auto
    # digits of another width: kernels of the same names differ, though their text may be the same
    assert {k for s, k in where if s == "radix-wide_u32"} == set(names("radix-wide"))


def test_a_failure_is_one_kernels_own(cache: Path) -> None:
    fake = Fake(faults={"flip_1": "refuse", "half_1": "leave out", "clean": "crash"})
    found = results(compiled(fake))
    problems = {r.kernel: r.problem for r in found if r.problem is not None}
    assert problems == {
        "flip_1": "refuses flip_1",
        "half_1": "Fake 1 omits half_1",
        "clean": "crashes with signal 6",
    }
    assert {r.kernel for r in found if r.use is not None} == set(names("bitonic")) - set(problems)
    log = next(r.log for r in found if r.kernel == "flip_1")
    assert log is not None and Path(log).is_relative_to(cache)
    text = Path(log).read_text(encoding="utf-8")
    assert "line 7: flip_1 is not nice" in text and "__global__" in text and "Fake 1 for sm_" in text
    lines = wrongs(found)
    assert len(lines) == 6  # two devices
    assert lines[0].startswith("small/bitonic_u32: kernel flip_1: cuda sm_80: refuses flip_1; the log is ")
    assert [s.failed for s in summaries(found)] == [3, 3]


def test_a_compiler_that_hangs_is_ended() -> None:
    begin = time.monotonic()
    found = results(compiled(Fake(faults={"flip_1": "hang"}), seconds=0.5))
    assert time.monotonic() - begin < 10
    assert {r.kernel: r.problem for r in found if r.problem} == {"flip_1": "takes longer than 0.5 seconds"}


def test_a_closed_run_compiles_nothing_more() -> None:
    fake, found = Fake(faults={"flip_1": "hang"}), small()
    planned, _ = Planner({"cuda": fake}).jobs(
        found, [found.sort("bitonic", "u32")], [("cuda", "sm_80"), ("cuda", "sm_90")]
    )
    quick, _ = Planner({"cuda": Fake()}).jobs(found, [found.sort("radix", "u32")], [("cuda", "sm_80")])
    before = set(threading.enumerate())
    under_way = jobs.run([*planned, *quick], 3, 60)
    next(under_way)
    time.sleep(0.5)  # both others hang by now
    assert len(fake.asked) == 2
    under_way.close()  # like an interrupt
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()
    assert len(fake.asked) == 2


def test_kernels_that_compile_only_one_by_one() -> None:
    found = results(compiled(Fake(faults={"flip_1": "together"})))
    assert all(r.use == USE for r in found if r.kernel != TOGETHER)
    reported = [r.problem for r in found if r.kernel == TOGETHER]
    assert reported == ["compiles one by one, but all together it refuses flip_1"] * 2


def test_spills_are_errors_unless_a_budget_knows_of_them() -> None:
    found = results(compiled(Fake(uses={"flip_1": replace(USE, spill_bytes=16)})))
    assert wrongs(found) == [
        f"small/bitonic_u32: kernel flip_1: cuda {d}: spills 16 bytes; choose a smaller scale, height or items"
        for d in ("sm_80", "sm_90")
    ]
    assert wrongs(found, spills=False) == []
    assert [s.spilling for s in summaries(found)] == [1, 1]


def test_summaries_hold_the_extremes() -> None:
    low, high = replace(USE, occupancy=0.25), replace(USE, registers=99, instructions=1000, local_bytes=5)
    found = results(compiled(Fake(uses={"clean": low, "flip_2": high})))
    for s in summaries(found):
        assert (s.kernels, s.failed, s.spilling, s.registers, s.local_bytes) == (len(names("bitonic")), 0, 0, 99, 1024)
        assert (s.occupancy, s.tightest, s.instructions, s.identity) == (0.25, "bitonic_u32 clean", 1000, "Fake 1")
    untold = summaries(results(compiled(Fake(uses=dict.fromkeys(names("bitonic"), Use()), version="Fake 0"))))
    assert {(s.registers, s.occupancy, s.instructions, s.local_bytes) for s in untold} == {(None, None, None, None)}


def test_answers_are_kept_by_all_that_they_depend_on(cache: Path) -> None:
    first = compiled(fake := Fake())
    assert len(fake.asked) == 2 and not any(d.cached for d in first)
    again = compiled(fake)
    assert len(fake.asked) == 2 and all(d.cached for d in again) and results(again) == results(first)
    for other in (Fake(version="Fake 2"), Fake(options="-O2")):
        assert not any(d.cached for d in compiled(other)) and len(other.asked) == 2
    text = small(TEXT.replace("flip_scale = 2", "flip_scale = 1"))
    assert not any(d.cached for d in compiled(fake, text))
    for path in [p for p in cache.rglob("*") if p.is_file()]:
        path.write_text("{}", encoding="utf-8")
    count = len(fake.asked)
    assert not any(d.cached for d in compiled(fake)) and len(fake.asked) == count + 2


def test_failures_are_not_kept() -> None:
    fake = Fake(faults={"flip_1": "refuse"})
    compiled(fake)
    fake.faults.clear()
    assert wrongs(results(compiled(fake))) == []


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    found = results(compiled(Fake(faults={"flip_1": "refuse"})))
    log = next(r.log for r in found if r.kernel == "flip_1")
    assert log is not None and Path(log).is_file()


def test_a_missing_compiler_is_reported_once_per_target() -> None:
    found = small()
    planner = Planner({"cuda": Fake(version=None)})
    planned, missing = planner.jobs(found, [found.sort("bitonic", "u32")], jobs.devices_of(found))
    assert planned == [] and [m.devices for m in missing] == [("sm_80", "sm_90")]
    assert missing[0].install == "pip install fake"


def test_sorts_without_tables_are_compiled_too() -> None:
    """With values, only the affected sorts are compiled again; those without tables are skipped."""
    found = {s.file: [k.name for k in s.kernels] for s in implicit.derived(small(), ["u32", "u64"])}
    labels = ("digest", "group_by", "merge_path", "radix_select", "reduce_by_key", "segmented_sort")
    files = [f"{label}_u32{v}" for label in labels for v in ("", "_v4")]
    alone = ["gather_u32_v4", "pack_u32"]  # a gather always has values, a pack never
    assert [*found] == [*files[:2], alone[0], *files[2:6], alone[1], *files[6:]]
    every = ["begin", "sift", "windows", "alone", "count", "rows", "scatter"]
    assert found["segmented_sort_u32"][: len(every)] == every
    assert found["segmented_sort_u32_v4"][:3] == ["windows", "alone", "scatter"]
    tables, reduced = ["few_begin", "few_tables", "few_close"], [f"reduce_{k}" for k in found["reduce_by_key_u32"]]
    assert found["group_by_u32"] == [*tables, *reduced]  # without those of the sort
    assert found["digest_u32_v4"] == [k for k in found["digest_u32"] if k != "blank"]


def test_a_target_for_vulkan_gets_its_modules_checked() -> None:
    text = TEXT.replace('apis = ["opencl", "cuda"]', 'apis = ["vulkan", "cuda"]')
    assert jobs.devices_of(small(text))[-1] == ("spirv", "vulkan1.1")
    newer = text.replace('progress = "none"', 'progress = "none"\nvulkan = "1.3"')
    assert jobs.devices_of(small(newer)) == [("cuda", "sm_80"), ("cuda", "sm_90"), ("spirv", "vulkan1.3")]


def test_no_child_of_an_ended_program_is_left(tmp_path: Path) -> None:
    """A grandchild process writes a file after a while, unless it was ended."""
    late = f"import time; time.sleep(1.5); open({str(tmp_path / 'late')!r}, 'w')"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {late!r}])"
    with pytest.raises(subprocess.TimeoutExpired):
        processes.run([sys.executable, "-c", parent], 0.5, tmp_path)
    time.sleep(2)
    assert not (tmp_path / "late").exists()


def test_the_output_of_a_program_is_parsed(tmp_path: Path) -> None:
    says = "import os, sys; print(sys.stdin.read(), os.environ['TMPDIR']); sys.exit(3)"
    done = processes.run([sys.executable, "-c", says], 30, tmp_path, "text")
    assert (done.returncode, done.stdout) == (3, f"text {tmp_path}\n")
    assert processes.ending(3) == "ends with code 3" and processes.ending(-11) == "crashes with signal 11"
