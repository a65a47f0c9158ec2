"""``hsgen cache warm``: what is compiled ahead is what calls compile; usage, caches and exit codes."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import json_schemas
import pytest
from nightly import nightly

from hsgen.cli import main
from hsgen.core.errors import Notice, Wrong
from hsgen.cuda import compiler
from hsgen.engines.hosts import Host
from hsgen.tools import warm

ROOT = Path(__file__).parents[2]
COLLECT = """
from hsgen.cuda import compiler, offline
from hsgen.cuda.order import Shape, order
from hsgen.cuda.selections import Take, selection
from hsgen.core.keys import ORDERS
from hsgen.cuda.sorter import Sorter
from hsgen.cuda.top_k import TopK, prepared_selection
from hsgen.tools import warm

sm = offline.gpu("sm_{arch}")
ahead = set(warm.cuda_texts([sm], ["{key}"], ["sort", "argsort", "topk"], [], {most}))
assert ahead and ahead == set(warm.cuda_texts([sm], ["{key}"], ["sort", "argsort", "topk"], [], {most}))
with offline.devices([sm]) as numbers, compiler.collecting() as texts:
    alone = (1, 2), (1, 777), (1, 5000), (1, 70000), (1, 1 << 20)
    for rows, length in (*alone, (7, 100), (512, 1000), (30, 30000), (5, 4500), (40000, 25)):
        for descending in (False, True) if rows * length <= {most} else ():
            for keys, indices in ((True, True), (False, True), (True, False)):
                outputs = {{"keys": keys, "indices": indices}}
                order(Shape(number=numbers[0], key="{key}", rows=rows, length=length, descending=descending, **outputs))
            k = min(50, length)
            selection(Take(number=numbers[0], key="{key}", rows=rows, length=length, k=k, largest=descending))
            select = TopK("{key}", value="index", order=ORDERS[descending], device=numbers[0])  # numpy and JAX
            prepared_selection(select, rows * length, k, rows)
    for value in (None, "index"):  # as for arrays of numpy
        sorter = Sorter("{key}", value=value, order="descending", device=numbers[0])
        for rows, length in alone:
            if length <= {most}:
                sorter.prepared(length, sorter.options(), in_place=True)
    assert texts and set(texts) <= ahead, [text[:200] for arch, text in set(texts) - ahead]
"""


@pytest.mark.parametrize(
    ("arch", "key", "most"), [(90, "f32", 1 << 13), nightly(90, "f32", 1 << 20), nightly(80, "u8", 1 << 20)]
)
def test_calls_find_all_kernels_that_were_compiled_ahead(arch: int, key: str, most: int) -> None:
    """For counts other than those that are prepared."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    code = COLLECT.format(arch=arch, key=key, most=most)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["--arch", "sm_99"], 2, "--arch sm_99: unknown; known are sm_50, "),
        (["--arch", "90"], 2, "--arch 90: unknown"),
        (["--arch", "sm_90", "--max-n", "1"], 2, "--max-n 1: give 2 to 1073741823"),
        (["--api", "opencl", "--arch", "sm_90"], 2, "--arch: goes with --api cuda"),
        (["--api", "cuda", "--device", "x"], 2, "--device: goes with --api opencl"),
        (["--api", "opencl", "--call", "topk"], 2, "--call topk: goes with --api cuda"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str], code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "warm", *arguments]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"hsgen: {line}")
    assert shown.err.count("\n") == 1


def test_a_cache_that_others_can_change_is_not_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["cache", "warm", "--arch", "sm_90"]) == 3
    assert "others can write to" in capsys.readouterr().err
    assert main(["cache", "warm", "--arch", "sm_90", "--require"]) == 1


def _texts(*_: object) -> warm.Texts:
    return {(90, "one"): "a", (90, "two"): "b", (90, "three"): "c"}


@pytest.fixture
def _compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three texts, and a compiler for them that needs no NVRTC."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(warm, "cuda_texts", _texts)
    monkeypatch.setattr(compiler, "version", lambda: (13, 0))
    monkeypatch.setattr(compiler, "architectures", lambda: (90,))
    monkeypatch.setattr(compiler, "_compiled", lambda text, *_: compiler._MAGIC + text.encode())


@pytest.mark.usefixtures("_compiles")
def test_a_second_run_compiles_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for expected in ("3 compiled", "0 compiled"):
        assert main(["cache", "warm", "--arch", "sm_90"]) == 0
        assert capsys.readouterr().out.startswith(f"sm_90: 3 kernels, {expected} in ")
    files = list(tmp_path.rglob("*.cubin"))
    assert len(files) == 3
    files[0].write_bytes(files[0].read_bytes()[:-1])  # as a process that was killed without atomic writes
    assert main(["cache", "warm", "--arch", "sm_90"]) == 0
    assert ", 1 compiled" in capsys.readouterr().out
    assert main(["cache", "warm", "--arch", "sm_90", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    seconds = record.pop("seconds")
    expected = {"api": "cuda", "devices": ["sm_90"], "entries": 3, "compiled": 0, "folder": str(tmp_path)}
    assert record == expected
    schema = json.loads((ROOT / "docs/reference/schemas/cache.schema.json").read_text(encoding="utf-8"))
    json_schemas.validator(schema).validate([{**record, "seconds": seconds}])


@pytest.mark.usefixtures("_compiles")
def test_a_full_disk_is_no_success(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("hsgen.system.folders.os.open", full)
    assert main(["cache", "warm", "--arch", "sm_90"]) == 3
    assert "No space left on device" in capsys.readouterr().err


@pytest.mark.usefixtures("_compiles")
def test_calls_compile_without_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("hsgen.system.folders.os.open", full)
        assert compiler.cubin("one", 90, "a") == compiler._MAGIC + b"one"
    assert not list(tmp_path.rglob("*.cubin"))
    assert compiler.cubin("one", 90, "a") == compiler._MAGIC + b"one"
    assert len(list(tmp_path.rglob("*.cubin"))) == 1


@pytest.mark.usefixtures("_compiles")
def test_calls_compile_without_a_home_that_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.warns(Notice, match="cannot be used"):
        assert compiler.cubin("one", 90, "a") == compiler._MAGIC + b"one"
    assert main(["cache", "warm", "--arch", "sm_90"]) == 3


@pytest.mark.usefixtures("_compiles")
def test_threads_compile_and_keep_the_same_kernel(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: compiler.cubin("one", 90, "a"), range(32)))
    assert set(codes) == {compiler._MAGIC + b"one"}
    (entry,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert entry.suffix == ".cubin"


KILLED = """
import os
from pathlib import Path
from hsgen.cuda import compiler
compiler.version, compiler.architectures = lambda: (13, 0), lambda: (90,)
compiler._compiled = lambda text, *_: compiler._MAGIC + text.encode()
Path.replace = lambda *_: os._exit(9)
compiler.cubin("one", 90, "a")
"""


@pytest.mark.usefixtures("_compiles")
def test_a_process_that_is_killed_while_it_writes_leaves_no_entry(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", KILLED], env=environment, check=False).returncode == 9
    assert not [path for path in tmp_path.rglob("*.cubin") if not path.name.startswith(".")]
    assert compiler.cubin("one", 90, "a") == compiler._MAGIC + b"one"
    assert len([path for path in tmp_path.rglob("*.cubin") if not path.name.startswith(".")]) == 1


@pytest.mark.usefixtures("_compiles")
def test_kernels_that_do_not_compile_are_reported_after_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def compiled(text: str, options: list[str], path: str) -> bytes:
        if text != "three":
            raise Wrong(f"{path}: error in {text}")
        return compiler._MAGIC

    monkeypatch.setattr(compiler, "_compiled", compiled)
    assert main(["cache", "warm", "--arch", "sm_90"]) == 1
    assert sorted(capsys.readouterr().err.splitlines()) == ["hsgen: a: error in one", "hsgen: b: error in two"]
    assert len(list(tmp_path.rglob("*.cubin"))) == 1


def test_sorts_of_an_opencl_device_are_compiled(
    embedded: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built: list[tuple[object, ...]] = []
    monkeypatch.setattr(
        "hsgen.numpy.devices.OpenClDevice.build", lambda self, *a, **named: built.append((*a, *named.values()))
    )
    arguments = ["--device", "Intel(R) OpenCL", "--key", "u32", "--call", "sort"]
    assert main(["cache", "warm", *arguments]) == 0
    assert ": 4 sorts in " in capsys.readouterr().out
    assert [x[0] for x in built] == ["Sorter", "SegmentedSorter"] * 2
