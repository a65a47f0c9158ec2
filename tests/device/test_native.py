"""The C runtime driven from Python: bad drivers do not harm the tool, and sorts match those through pyopencl."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from crafted import WORDS, crafted, library, played
from nightly import nightly
from tools import OPENCL, C, need

from hsgen.apis import cuda
from hsgen.bundle.manifest import Compiled, Entry, Manifest, choose
from hsgen.cli import main
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.keys import PLAIN
from hsgen.engines import compiled, native, pyopencl
from hsgen.engines.hosts import Host
from hsgen.system import compilers, folders
from hsgen.targets import target
from hsgen.tools import worker
from hsgen.tools.validate import validation

TINY = str(Path(__file__).with_name("lanes") / "forms8.toml")
DRIVER = """
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <unistd.h>
#include "harness.h"
static unsigned char *memory[2];
static int sorts;
const char *hn_count(int *count) { *count = 1; return NULL; }
const char *hn_describe(int index, char *text, size_t size)
{
    (void)index;
    strncpy(text, "{\\"name\\": \\"bad\\", \\"platform\\": \\"p\\", \\"driver\\": \\"1\\", \\"type\\": \\"gpu\\", "
            "\\"vendor\\": 1, \\"compute\\": 0, \\"work_group\\": 256, \\"local_bytes\\": 65536, \\"subgroups\\": [1], "
            "\\"shuffle\\": false, \\"ballot\\": false, \\"int64\\": true}", size);
    return NULL;
}
const char *hn_open(int index, const char *options) { (void)index; (void)options; return NULL; }
const char *hn_sorter(const char *t, const char *a, const char *k, const char *v)
{
    (void)t; (void)a; (void)k; (void)v;
    return NULL;
}
const char *hn_buffer(int slot, uint64_t bytes) { free(memory[slot]); memory[slot] = malloc(bytes); return NULL; }
const char *hn_write(int s, uint64_t o, const void *d, uint64_t n) { memcpy(memory[s] + o, d, n); return NULL; }
const char *hn_read(int s, uint64_t o, void *d, uint64_t n) { memcpy(d, memory[s] + o, n); return NULL; }
const char *hn_sort(const hn_call *call, double *seconds)
{
    (void)call;
    *seconds = -1;
    write(1, "noise\\n", 6);
    if (++sorts < 30) return NULL;
    FAULT;
}
const char *hn_copy(uint64_t bytes, double *seconds) { (void)bytes; *seconds = -1; return NULL; }
const char *hn_redone(uint32_t *redone) { *redone = 0; return NULL; }
const char *hn_messages(void) { return ""; }
void hn_close(void) {}
"""


def driver(folder: Path, fault: str) -> Path:
    """A harness whose 30th sort fails."""
    need(C)
    cc = compilers.c_compiler()
    (folder / "bad.c").write_text(DRIVER.replace("FAULT", fault))
    place = folder / "bad.so"
    subprocess.run([*cc, "-shared", "-fPIC", f"-I{native.HARNESS}", folder / "bad.c", "-o", place], check=True)
    return place


def request(library: Path, name: str = "generic") -> dict[str, object]:
    chosen = {
        "target": name,
        "algorithm": "bitonic",
        "key": "u32",
        "index": 0,
        "options": "",
        "signature": asdict(PLAIN),
    }
    return {"task": "validate", "api": "opencl", "library": str(library), "full": False, "seed": 1, **chosen}


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("for (;;) sleep(1)", "sort: the driver hangs: no answer for 3 seconds after step"),
        ("abort()", "sort: the driver crashed with signal 6 after step"),
        ("*(volatile int *)0 = 1; return NULL", "sort: the driver crashed with signal 11 after step"),
        ("exit(7)", "sort: the driver crashed with code 7 after step"),
        ('return "device lost"', "device lost"),
    ],
)
def test_a_bad_driver_ends_in_one_line(tmp_path: Path, fault: str, line: str) -> None:
    with pytest.raises(Wrong, match=line) as caught:
        list(worker.call(request(driver(tmp_path, fault)), "sort", seconds=3))
    assert len(caught.value.lines) == 1


def test_a_driver_that_does_nothing_is_wrong(tmp_path: Path) -> None:
    bad = driver(tmp_path, "return NULL")
    *_, last = worker.call(request(bad, "intel-gen8"), "sort")  # its validation has fewer cases than generic's
    assert last["result"]["failed"] > 1000
    assert worker.hosts("opencl", bad)[0].label == "bad (p, 1)"


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "x.so").write_text("nothing")
    with pytest.raises(Wrong, match="crashed with code 1"):
        list(worker.call(request(tmp_path / "x.so"), "sort"))


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "key", "option"),
    [nightly("cpu", "u16", (), id="cpu"), pytest.param(TINY, "u64", ("--option", "out_of_order=1"), id="tiny")],
)
def test_the_c_runtime_sorts_what_pyopencl_sorts(
    embedded: Host, name: str, key: str, option: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    need(OPENCL)
    code = main(
        ["validate", "-t", name, "--key", key, "--runtime", "c", "--device", "Intel(R) OpenCL", "--json", *option]
    )
    out, err = capsys.readouterr()
    assert code == 0, err
    rows = json.loads(out)
    assert rows
    for row in rows:
        pairs = validation.plan_cases(target.find(name).sort(row["algorithm"], key), full=False, seed=1)
        assert row["cases"] == 2 * len(pairs) and row["failures"] == 0


@pytest.mark.device
def test_the_c_runtime_is_timed(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    need(OPENCL)
    sizes = ["--sizes", "1000,2^14", "--rounds", "2"]
    code = main(
        ["bench", "-t", TINY, "--key", "u32", "--runtime", "c", "--device", "Intel(R) OpenCL", "--json", *sizes]
    )
    out, err = capsys.readouterr()
    assert code == 0, err
    rows = json.loads(out)["rows"]
    once = [(n, p) for n in (1000, 1 << 14) for p in (None, "numpy", "copy")]
    assert rows and [(r["n"], r["baseline"]) for r in rows] == once * (len(rows) // len(once))
    assert all(np.isfinite(r["mkeys_per_s"]) and r["mkeys_per_s"] > 0 for r in rows)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--api", "vulkan", "-t", "cpu"], "target cpu: has no kernels for vulkan; it has opencl"),
        (["--api", "cuda", "--runtime", "python"], "runtime python: drives opencl only"),
        (["--option", "graph=1", "-t", "cpu"], "option graph=1: is for the C runtime; add --runtime c"),
        (["--api", "vulkan", "--bundle", "nowhere"], "nowhere: no bundle there"),
        (["-t", "lavapipe", "--option", "graph=1"], "option graph=1: unknown for vulkan; it has validation=0 to 2"),
        (["-t", "lavapipe", "--option", "validation=yes"], "option validation=yes: unknown for vulkan"),
        (["-t", "lavapipe", "--option", "validation=3"], "option validation=3: unknown for vulkan"),
        (["-t", "cpu", "--runtime", "c", "--option=out_of_order=1", "--option=out_of_order=0"], "is given twice"),
    ],
)
def test_options_that_exclude_each_other_exit_with_2(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", *arguments]) == 2
    assert line in capsys.readouterr().err


def test_without_a_compiler_the_answer_is_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr(compilers.toolchain, "has_module", lambda _: False)
    assert main(["validate", "-t", "cpu", "--runtime", "c"]) == 3
    assert "no C compiler no-such-compiler, which the variable CC names" in capsys.readouterr().err
    assert main(["validate", "-t", "cpu", "--runtime", "c", "--require"]) == 1


def test_the_worker_is_started_by_its_name() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hsgen.tools.worker"], input="{}", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "KeyError" in done.stderr and not done.stdout


def test_a_driver_tool_that_hangs_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lost GPU often shows as an nvidia-smi that never ends."""
    for name, does in (("nvidia-smi", "sleep 60"), ("nvcc", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(compilers, "PATIENCE", 1)
    cuda.architectures.cache_clear()
    assert main(["validate", "--api", "cuda", "-t", "generic"]) == 1
    assert capsys.readouterr().err == "hsgen: nvidia-smi hangs: it did not end within 1 seconds\n"


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    place = folders.cached("native")
    assert place.is_dir() and tmp_path not in place.parents


def test_a_bundle_of_another_text_is_no_substitute_for_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its SPIR-V belongs to other kernels, and none can be compiled: report it, and build nothing without SPIR-V."""
    found = target.find("generic")
    entry = Entry(
        choice=choose(found, [], ["vulkan"], []), sorts=(), spirv={"bitonic_u32": Compiled("0" * 64, "x")}, files={}
    )
    old = Manifest(version="0", prefix="hs", common={}, targets={"generic": entry})
    monkeypatch.setattr(native.build.spirv, "compiler", lambda: None)
    with pytest.raises(Unavailable, match=r"no GLSL compiler for targets/generic/spirv/generic_bitonic_u32\.c"):
        native.library("vulkan", [found], "u32", (), (tmp_path, old), algorithms=["bitonic"])


def test_a_second_library_compiles_its_sorts_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects of the files that all bundles share are cached."""
    need(C)
    need(OPENCL)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    commands: list[Sequence[str]] = []
    run = native.run
    monkeypatch.setattr(
        native, "run", lambda command, *more, **names: commands.append(command) or run(command, *more, **names)
    )
    compiled = []
    for algorithm in ("radix", "bitonic"):
        commands.clear()
        native.library("opencl", [target.find("generic")], "u32", algorithms=[algorithm])
        compiled.append([name for command in commands if "-c" in command for name in command if name.endswith(".c")])
        (linked,) = (command for command in commands if "-shared" in command)
        assert [Path(name).name for name in linked if name.endswith(".c")] == ["hs_targets.c", "generic.c"]
    assert len(compiled[0]) > 5 and compiled[1] == ["harness/opencl.c"], "which includes the list of targets"


def test_an_object_depends_on_all_that_its_file_includes() -> None:
    files = {
        "src/a.c": b'#include "b.h"\n',
        "src/b.h": b' # include "hs/c.h"\n',
        "include/hs/c.h": b"",
        "include/d.h": b"",
    }
    assert native._included("src/a.c", files) == ["include/hs/c.h", "src/a.c", "src/b.h"]


POISON = 2**32 - 1
BEYOND = "the sort wrote beyond its scratch memory"


def played_in_c(folder: Path, options: str, at: int) -> list[object]:
    """The crafted sort's results through the C runtime."""
    need(OPENCL)
    place = library(folder, *crafted(at))
    script = Path(__file__).with_name("crafted.py")
    command = [sys.executable, str(script), str(place), options, str(at)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[object] = json.loads(done.stdout)
    return found


@pytest.mark.device
@pytest.mark.parametrize(
    ("options", "second"),
    [("", [0, 0, 2]), ("poison=1", [POISON, POISON, 2]), ("poison=1 out_of_order=1", [POISON, POISON, 2])],
)
def test_scratch_is_filled_and_the_status_read(embedded: Host, tmp_path: Path, options: str, second: list[int]) -> None:
    """First all bits are set, then only with the option or on reallocation; few keys need no scratch."""
    first = [POISON, POISON, 2]
    assert played_in_c(tmp_path, options, WORDS - 1) == [first, second, first, [0, 0, 0], first]


@pytest.mark.device
@pytest.mark.parametrize("beyond", [0, 1023])
def test_a_write_beyond_scratch_is_found(embedded: Host, tmp_path: Path, beyond: int) -> None:
    """5 keys need one u32 more than 4, which the C runtime puts after a separate guard."""
    found = played_in_c(tmp_path, "", WORDS + beyond)
    assert found[:2] == [BEYOND, BEYOND] and found[3] == [0, 0, 0]
    assert found[2] == ([POISON, POISON, 2] if beyond == 0 else BEYOND)


@pytest.mark.device
@pytest.mark.parametrize("wide", [False, True])
def test_scratch_through_pyopencl(embedded: Host, wide: bool) -> None:
    """Each part is filled when it grows, and its guard moves with the requested size."""
    context = pyopencl.context_for(embedded)
    sort, source = crafted(WORDS - 1, wide=wide)
    engine = pyopencl.Direct(context, compiled.Compiled(context, sort, source))
    first, again = [POISON, POISON, 2], [0, 0, 2]
    grown = [0, POISON, 2]  # the first part keeps its size
    assert played(engine, 4, 4, 5, 3, 4, 5) == [first, again, grown, [0, 0, 0], again, again]
    sort, source = crafted(WORDS, wide=wide)
    engine = pyopencl.Direct(context, compiled.Compiled(context, sort, source))
    assert played(engine, 5, 4, 5) == [first, BEYOND, again]
