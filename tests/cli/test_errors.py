"""Bad input: one clear line each, the right exit code, nothing written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hsgen.cli import main
from hsgen.core.errors import Wrong
from hsgen.emit import kernels as render
from hsgen.engines import hosts, isolated_build, selection
from hsgen.engines.hosts import Host
from hsgen.system import processes, resources
from hsgen.targets import target


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["generate", "-t", "gen9"],
            "hsgen: target gen9: unknown; known are adreno-6xx, amd-cdna, amd-cdna4, amd-gcn",
        ),
        (["show", "gen9"], "target gen9: unknown"),
        (["generate", "-t", "cpu", "--prefix", "cl"], "prefix 'cl': is reserved by C, C++ or an API"),
        (["generate", "-t", "cpu", "--prefix", "My"], "prefix 'My': cannot start C names"),
        (["generate", "-t", "cpu", "--api", "metal"], "target cpu: has no api metal; it has opencl"),
        (["generate"], "no bundle there; name targets with -t"),
        (["check", "-o", "nowhere"], "nowhere: no bundle there"),
        (["verify", "nowhere"], "nowhere: no bundle there; name a folder with a manifest.json"),
        (["bench", "-t", "cpu", "--sizes", "2^10..1000"], "must go from a power of two up to another"),
        (["bench", "-t", "cpu", "--sizes", "many"], "'many' is no count; write for example 1000,2^16 or 2^10..2^24"),
        (["bench", "-t", "cpu", "--sizes", "0"], "a count of 0 cannot be timed"),
        (["bench", "-t", "cpu", "--against", "thrust"], "baseline thrust: unknown; known are numpy, pyopencl"),
        (["bench", "-t", "cpu", "--cccl", "."], "--cccl .: has no cub/cub.cuh; give a folder such as"),
        (["generate", "-t", "cpu", "--key", "u31"], "'u31' is not one of"),
        (["generate", "--key", "u32"], "choose within a target; name it with -t"),
        (["generate", "-t", "cpu", "-t", "cpu"], "target cpu: named twice"),
        (["show", "cpu", "--plan", "many"], "'many' is no count; write for example 1000 or 2^20"),
        (["show", "cpu", "--plan", "2^30"], "count 1073741824: this plan sorts 0 to 1073741823 keys"),
    ],
)
def test_wrong_names_exit_with_2(
    arguments: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert line in err and err.count("\n") == 1 and not out
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_target_file_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.toml"
    text = (resources.targets() / "cpu.toml").read_text().replace('name = "cpu"', 'name = "bad"')
    bad.write_text(text.replace("height = 16", "height = 7").replace("\nrow_block = ", "\n# row_block = "))
    assert main(["generate", "-t", "cpu", "-t", str(bad), "-o", str(tmp_path / "out")]) == 2
    lines = said(capsys).splitlines()
    assert len(lines) == 2 and all("height: 7 is odd; give an even number, 6 or 8" in x for x in lines)
    assert not (tmp_path / "out").exists()


def test_a_foreign_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "diary.txt").write_text("dear")
    assert main(["generate", "-t", "cpu", "-o", str(tmp_path)]) == 2
    assert "not empty and without manifest.json" in said(capsys)
    assert [p.name for p in tmp_path.iterdir()] == ["diary.txt"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"schema": 1}',
        '{"schema": 7}',
        '{"schema": 1, "hsgen": "0", "files": {"../up": "x"}, "targets": {}}',
    ],
)
def test_a_broken_manifest_is_refused(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "manifest.json").write_text(text)
    assert main(["generate", "-t", "cpu", "-o", str(tmp_path)]) == 2
    assert str(tmp_path / "manifest.json") in said(capsys)
    assert [p.name for p in tmp_path.iterdir()] == ["manifest.json"]


def test_an_unwritable_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    assert main(["generate", "-t", "cpu", "-o", str(blocker / "in")]) == 2
    assert "cannot be" in said(capsys)
    if Path("/proc/version").exists():  # not writable, not even for root
        assert main(["generate", "-t", "cpu", "-o", "/proc/hsgen"]) == 2
        assert "/proc/hsgen: cannot be written" in said(capsys)


FEW = ("--api", "opencl", "--key", "u32", "--algorithm", "bitonic")
"""Options for a bundle of few sorts, which is generated quickly."""


def test_a_folder_in_the_place_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "bundle"
    (folder / "manifest.json").mkdir(parents=True)
    assert main(["generate", *FEW, "-t", "generic", "-o", str(folder)]) == 2
    assert "manifest.json: is a folder where a file belongs" in said(capsys)
    assert [p.name for p in folder.iterdir()] == ["manifest.json"]


def test_a_damaged_template(broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for damage, line in (("{{ nope }}", "'nope' is undefined"), ("{% if %}", "bitonic/clean.j2:1")):
        path = broken / "bitonic/clean.j2"
        text = path.read_text()
        path.write_text(damage + text)
        assert main(["generate", "-t", "generic", "-o", str(tmp_path / "out")]) == 1
        err = said(capsys)
        assert err.count("\n") == 1 and "templates: " in err and line in err
        path.write_text(text)
    assert not (tmp_path / "out").exists()


def test_no_device(tmp_path: Path) -> None:
    env = {**os.environ, "OCL_ICD_VENDORS": str(tmp_path)}
    for more, code in (([], 3), (["--require"], 1)):
        done = subprocess.run(
            [sys.executable, "-m", "hsgen", "validate", "-t", "cpu", *more],
            capture_output=True,
            text=True,
            env=env,
            check=False,
        )
        assert done.returncode == code
        assert done.stderr.count("\n") == 1 and "no OpenCL device; " in done.stderr
        assert "OCL_ICD_VENDORS hides it" in done.stderr or "install the embedded one" in done.stderr


def test_no_such_device(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "-t", "cpu", "--device", "Voodoo 2"]) == 3
    assert "no OpenCL device like 'Voodoo 2'; there is" in said(capsys)


def test_a_device_gets_the_target_that_it_can_run(pocl: Host, embedded: Host) -> None:
    """PoCL is a CPU with the same vendor number, but has no subgroups."""
    known = [target.find(n) for n in target.names()]
    assert hosts.target_for(pocl, known).name == "generic"
    assert hosts.target_for(embedded, known).name == "cpu"


def test_a_device_without_subgroups(pocl: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "-t", "intel-gen8", "--device", pocl.platform]) == 3
    assert "has no subgroups of 16 lanes that intel-gen8 needs; target generic runs without" in said(capsys)


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A tree whose templates can be damaged."""
    shutil.copytree(resources.templates(), tmp_path / "templates")
    monkeypatch.setattr(resources, "templates", lambda: tmp_path / "templates")
    render.environment.cache_clear()
    yield tmp_path / "templates"
    render.environment.cache_clear()


def test_a_kernel_that_does_not_build(embedded: Host, broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = broken / "bitonic/clean.j2"
    path.write_text(path.read_text().replace("int start =", "int start = oops +"))
    assert main(["validate", "-t", "generic", "--key", "u32", "--device", embedded.platform]) == 1
    wrong = "targets/generic/kernels/opencl/auto_u32.cl: kernel clean does not build on"
    (line,) = (x for x in said(capsys).splitlines() if wrong in x)
    log = Path(line.rsplit(" ", 1)[1])
    assert "oops" in log.read_text()


def test_a_compiler_that_hangs_or_crashes(
    embedded: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sort = target.find("generic").sort("bitonic", "u32")
    with pytest.raises(Wrong, match="did not end within"):
        isolated_build.check(embedded.label, sort, render.render(sort, "opencl"), seconds=0.01)
    crash = f"import os, sys; sys.stdin.read(); print({isolated_build.BEGUN!r}, flush=True); os.kill(os.getpid(), 11)"
    run = processes.run
    monkeypatch.setattr(
        isolated_build.processes, "run", lambda command, *more: run([sys.executable, "-c", crash], *more)
    )
    with pytest.raises(
        Wrong, match=r"kernel block_sort_16: the compiler of .* ended with signal 11; try a smaller scale"
    ):
        isolated_build.check(embedded.label, sort, render.render(sort, "opencl"))


def test_host_selection_by_name(embedded: Host) -> None:
    assert selection.pick(embedded.platform, hosts.hosts()).label == embedded.label


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("opencl", "target opencl: its C name hs_opencl is one of the runtime's; rename it"),
        ("my-hs", "name: 'my-hs' holds the word that a bundle's prefix replaces; omit the word hs"),
    ],
)
def test_names_that_c_cannot_take(name: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (resources.targets() / "cpu.toml").read_text().replace('name = "cpu"', f'name = "{name}"')
    (tmp_path / f"{name}.toml").write_text(text)
    assert main(["generate", "-t", str(tmp_path / f"{name}.toml"), "-o", str(tmp_path / "out")]) == 2
    assert line in said(capsys) and not (tmp_path / "out").exists()
