"""`hsgen compile` with this machine's compilers: a sort of each kind, and planted errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from offline import TEXT

from hsgen.cli import main
from hsgen.targets import target
from hsgen.tools.compile import cuda, jobs
from hsgen.tools.compile.compilers import COMPILERS
from hsgen.tools.compile.results import wrongs

Capture = pytest.CaptureFixture[str]

SAMPLE = (
    ("nvidia-sm90", "cuda", "sm_90", "scan-x4ex"),
    ("intel-gen8", "ocloc", "skl", "radix-bits4"),
    ("generic", "amdgcn", "gfx906", "scan-x4ex"),
    ("generic", "radv", "navi21", "scan-x4ex"),
    ("generic", "spirv", "vulkan1.1", "scan-x4ex"),
)
"""(target, compiler, device, sort) to compile."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder and a cache for the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def needed(compiler: str, device: str) -> None:
    """Skip the test without the compiler."""
    made = COMPILERS[compiler]
    if made.identity(device) is None:
        missing(f"{compiler} for {device} ({made.install})")


def compiled(capsys: Capture, *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
    """Return the --json output, and stderr."""
    assert main(["compile", *arguments, "--json"]) == code
    out, err = capsys.readouterr()
    return json.loads(out), err


@pytest.mark.parametrize(("name", "compiler", "device", "label"), SAMPLE)
def test_a_sort_of_each_compiler(name: str, compiler: str, device: str, label: str, capsys: Capture) -> None:
    needed(compiler, device)
    sort = target.find(name).sort(label, "u32")
    only = ("-t", name, "--compiler", compiler, "--device", device, "--algorithm", label, "--key", "u32")
    found, _ = compiled(capsys, *only)
    (by,) = found["compilers"]
    assert (by["target"], by["compiler"], by["device"], by["jobs"], by["kept"]) == (name, compiler, device, 1, 0)
    kernels = {k.name: k for k in sort.kernels if COMPILERS[compiler].api != "vulkan" or not k.index64}
    assert [k["kernel"] for k in found["kernels"]] == list(kernels)
    for k in found["kernels"]:
        assert (k["problem"], k["log"], k["spill_bytes"]) == (None, None, 0)
        if compiler != "spirv":
            assert 0 < k["occupancy"] <= 1 and k["instructions"] > 10
            assert k["local_bytes"] >= kernels[k["kernel"]].local_bytes(sort.key)
            assert compiler == "ocloc" or 0 < k["registers"] <= 256
    assert {c["kept"] for c in compiled(capsys, *only)[0]["compilers"]} == {1}


def test_every_device_of_every_table_is_known() -> None:
    """By the lists of the table readers; `hsgen compile` reports whether a compiler for it is installed."""
    for found in map(target.find, target.names()):
        for name, device in jobs.devices_of(found):
            assert device in COMPILERS[name].devices(), (found.name, device)


SPILLING = """[bitonic.u64]
subgroup = 32
height = 2
slabs = 16
clean_slabs = 16
local_scale = 1
flip_scale = 1
half_scale = 5
stream_group = 1024
"""


def test_a_shape_that_spills_is_found(folder: Path, capsys: Capture) -> None:
    """32 rows of 64 bits exceed the 64 registers of each of 1024 lanes."""
    needed("cuda", "sm_80")
    facts = TEXT[: TEXT.index("[bitonic.u32]")].replace("work_group = 256", "work_group = 1024")
    (folder / "small.toml").write_text(facts + SPILLING, encoding="utf-8")
    found, err = compiled(capsys, "-t", "small.toml", "--device", "sm_80", code=1)
    spilling = {k["kernel"]: k["spill_bytes"] for k in found["kernels"] if k["spill_bytes"]}
    assert list(spilling) == ["half_5"] and len(found["kernels"]) > 5
    line = f"hsgen: small/bitonic_u64: kernel half_5: cuda sm_80: spills {spilling['half_5']} bytes"
    assert [x for x in err.splitlines() if x.startswith("hsgen:")] == [
        f"{line}; choose a smaller scale, height or items"
    ]


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A text in which one kernel does not compile."""
    from hsgen.tools.compile import base

    whole = base.Request.text
    name = "begin"

    def text(request: base.Request) -> str:
        made = whole.fget(request)  # type: ignore[attr-defined]
        return made.replace(f" {name}(", f" {name}(nonsense ") if name in made else made

    monkeypatch.setattr(base.Request, "text", property(text))
    yield name


def test_a_kernel_that_a_compiler_refuses_is_named(broken: str) -> None:
    needed("cuda", "sm_80")
    found = target.find("nvidia-sm90")
    planner = jobs.Planner({"cuda": cuda.Cuda()})
    planned, _ = planner.jobs(found, [found.sort("scan-x1", "u32")], [("cuda", "sm_80")])
    (done,) = jobs.run(planned, 1, 100)
    failed = {r.kernel: r for r in done.results if r.use is None}
    assert list(failed) == [broken] and len(done.results) == 3
    (line,) = wrongs(done.results)
    assert f"kernel {broken}: cuda sm_80: NVRTC" in line and 'identifier "nonsense" is undefined' in line
    log = failed[broken].log
    assert log is not None and "nonsense" in Path(log).read_text(encoding="utf-8")


def test_a_compiler_that_crashes_or_times_out_is_reported(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    needed("cuda", "sm_80")
    found = target.find("nvidia-sm90")
    sorts = [found.sort("scan-x1", "u32")]
    planner = jobs.Planner({"cuda": cuda.Cuda()})
    planned, _ = planner.jobs(found, sorts, [("cuda", "sm_80")])
    (done,) = jobs.run(planned, 1, 0.01)
    assert {r.problem for r in done.results} == {"takes longer than 0.01 seconds"}
    (folder / "program").write_text("#!/bin/sh\nkill -SEGV $$\n", encoding="utf-8")
    (folder / "program").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "program"))
    planned, _ = planner.jobs(found, sorts, [("cuda", "sm_80")])
    (done,) = jobs.run(planned, 1, 30)
    assert all("NVRTC" in (r.problem or "") and "crashes with signal 11" in (r.problem or "") for r in done.results)
