"""`hsgen probe` on the devices here: the written target generates and sorts, and agrees with the device."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import missing
from lavapipe import DRIVERS, Lavapipe, lavapipe
from nightly import NIGHTLY

from hsgen.cli import main
from hsgen.cli.engines import direct
from hsgen.engines import native, query
from hsgen.engines.hosts import Host
from hsgen.targets import target
from hsgen.tools.validate import validation

WORKER = Path(__file__).with_name("probe_worker.py")
DOCS = Path(__file__).parents[2] / "docs"
QUERIES = Path(__file__).parents[1] / "unit" / "queries"
__all__ = ["lavapipe"]  # a fixture


def probed(tmp_path: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Path:
    """Write a target file for a device, and return its path."""
    file = tmp_path / "probed.toml"
    assert main(["probe", *arguments, "-o", str(file)]) == 0, capsys.readouterr().err
    out, err = capsys.readouterr()
    assert f"hsgen validate -t {file}" in out and err.startswith("device: ") == ("--api" in arguments)
    assert out.count(" --device ") == 2 * ("--api" in arguments)
    assert [p.name for p in tmp_path.iterdir()] == ["probed.toml"]
    return file


@pytest.mark.device
def test_the_embedded_device(embedded: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = probed(tmp_path, capsys, "--api", "opencl", "--device", "Intel(R) OpenCL")
    found = target.find(str(file))
    facts = found.device
    assert facts.subgroups == (4, 8, 16, 32, 64) and facts.local == "memory" and facts.progress == "started"
    assert (facts.work_group, facts.local_bytes) == (embedded.work_group, embedded.local_bytes)
    assert main(["generate", "-t", str(file), "--key", "u32", "-o", str(tmp_path / "out")]) == 0
    sort = found.default("u32") if NIGHTLY else found.sort("radix", "u32")  # merges compile slowly
    pairs = validation.plan_cases(sort, full=False, seed=1)[::60]
    report = validation.run(direct(embedded, sort), pairs, 1)
    assert report.cases >= 20 and report.failures == []


@pytest.mark.device
def test_a_device_without_subgroups(pocl: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if pocl.shuffle:
        pytest.skip(f"PoCL {pocl.driver} has subgroups")
    found = target.find(str(probed(tmp_path, capsys, "--api", "opencl", "--device", pocl.platform)))
    assert found.device.subgroups == (1,) and not found.device.shuffle
    assert {p.subgroup for (label, _), p in found.choices.items() if not label.startswith("scan")} == {1}


@pytest.mark.device
def test_lavapipe(lavapipe: Lavapipe, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lavapipe(8)
    file = probed(tmp_path, capsys, "--api", "vulkan", "--device", "llvmpipe")
    found = target.find(str(file))
    assert found.device.subgroups == (8,) and found.device.work_group == 8 * 32
    assert found.choices["bitonic", "u32"].subgroup == 8
    library = native.library("vulkan", [found], "u32", algorithms=["auto"])
    command = [sys.executable, str(WORKER), str(library), str(file), "u32", "60"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr
    cases, failures = json.loads(done.stdout)
    assert cases >= 20 and failures == []


@pytest.mark.device
@pytest.mark.parametrize("api", ["opencl", "vulkan"])
def test_a_raw_query_makes_the_same_file(
    api: str, embedded: Host, lavapipe: Lavapipe, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A query that a user sends replaces the device; it has only members that a query may have."""
    lavapipe(8)
    device = ["--device", "Intel(R) OpenCL"] if api == "opencl" else ["--device", "llvmpipe"]
    assert main(["probe", "--api", api, *device, "--raw"]) == 0
    raw = capsys.readouterr().out
    first = probed(tmp_path, capsys, "--api", api, *device).read_text(encoding="utf-8")
    (tmp_path / "probed.toml").unlink()
    (tmp_path.parent / f"{api}.json").write_text(raw, encoding="utf-8")
    second = probed(tmp_path, capsys, "--query", str(tmp_path.parent / f"{api}.json"))
    assert second.read_text(encoding="utf-8") == first
    kept = json.loads((QUERIES / f"cpu-{'intel-opencl' if api == 'opencl' else 'lavapipe'}.json").read_text())
    assert set(json.loads(raw)["device"]) == set(kept["device"])


@pytest.mark.device
def test_no_device_writes_nothing(
    embedded: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "none.toml")
    assert main(["probe", "--api", "opencl", "--device", "no such device", "-o", file]) == 3
    assert "no OpenCL device like 'no such device'; there is" in capsys.readouterr().err
    assert main(["probe", "--api", "opencl", "--device", "no such device", "-o", file, "--require"]) == 1
    monkeypatch.setenv("PATH", str(tmp_path))  # no nvidia-smi there
    assert main(["probe", "--api", "cuda", "-o", file]) == 3
    assert "no nvcc on the PATH" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.device
def test_an_opencl_query_is_complete(embedded: Host) -> None:
    said = query.properties(embedded)
    assert said["cores"] >= 1 and said["binding_bytes"] >= 1 << 27 and said["storage8"] is True
    kept = tomllib.loads((Path(target.resources.targets()) / "cpu.toml").read_text(encoding="utf-8"))["device"]
    for name in ("subgroups", "work_group", "local_bytes", "groups", "int64", "local"):
        assert said[name] == kept[name], name


@pytest.mark.device
def test_the_commands_of_the_document(
    embedded: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/guides/suggest.md: the commands run, and --json prints the fields of docs/reference/json.md."""
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "guides/suggest.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S) for line in block.splitlines()]
    assert len(lines) == 6
    for line in lines:
        command, _, file = line.removeprefix("hsgen ").partition(" > ")
        assert main(shlex.split(command)) == 0, line
        out = capsys.readouterr().out
        if file:
            Path(file).write_text(out, encoding="utf-8")
    assert main(["probe", "--query", "device.json", "-o", "again.toml", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    documented = (
        (DOCS / "reference/json.md").read_text(encoding="utf-8").split("## `hsgen probe --json`")[1].split("\n## ")[0]
    )
    assert list(row) == re.findall(r"^\| `(\w+)` \|", documented, re.M)


@pytest.mark.device
@pytest.mark.parametrize(
    ("family", "widths", "core"),
    [("vega10", (64,), (40, 4, 65536)), ("navi21", (32, 64), (32, 2, 65536))],
)
def test_an_extension_reports_cores(
    family: str,
    widths: tuple[int, ...],
    core: tuple[int, int, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """RADV describes GPUs that are not here: subgroups, SIMD units and registers of a compute unit as AMD documents
    them."""
    drivers = sorted(DRIVERS.glob("radeon_icd*.json"))
    if not drivers:
        missing("RADV is not installed (apt-get install mesa-vulkan-drivers)")
    monkeypatch.setenv("VK_DRIVER_FILES", str(drivers[0]))
    monkeypatch.setenv("RADV_FORCE_FAMILY", family)
    found = target.find(str(probed(tmp_path, capsys, "--api", "vulkan", "--device", "Null hardware"))).device
    assert (found.threads, found.units, found.registers) == core
    assert found.subgroups == widths and found.progress == "started" and found.work_group == 1024
