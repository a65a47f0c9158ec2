"""`generate --api`: each named target gets those of the named APIs that it has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hsgen.cli import main

FEW = ("--key", "u32", "--algorithm", "auto")
BOTH = ("--api", "opencl", "--api", "cuda")


def apis(folder: Path) -> dict[str, list[str]]:
    """Return the APIs of each target in the manifest; their kernels must exist."""
    targets = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["targets"]
    for name, entry in targets.items():
        assert sorted(p.name for p in (folder / "targets" / name / "kernels").iterdir()) == sorted(entry["apis"])
    return {name: entry["apis"] for name, entry in targets.items()}


def test_a_target_gets_those_that_it_has(tmp_path: Path) -> None:
    folder = str(tmp_path / "bundle")
    assert main(["generate", "-t", "cpu", "-t", "nvidia-hopper", *BOTH, *FEW, "-o", folder]) == 0
    assert apis(tmp_path / "bundle") == {"cpu": ["opencl"], "nvidia-hopper": ["cuda"]}
    before = (tmp_path / "bundle/manifest.json").read_bytes()
    for command in (["check", "-o", folder], ["verify", folder], ["generate", "-o", folder]):
        assert main(command) == 0
    assert main(["generate", "-t", "nvidia-hopper", "-t", "cpu", *BOTH, *FEW, "-o", folder]) == 0
    assert (tmp_path / "bundle/manifest.json").read_bytes() == before
    assert main(["generate", "--remove", "cpu", "-o", folder]) == 0
    assert apis(tmp_path / "bundle") == {"nvidia-hopper": ["cuda"]}
    assert main(["check", "-o", folder]) == main(["verify", folder]) == 0


def test_what_a_bundle_has_stays(tmp_path: Path) -> None:
    folder = str(tmp_path / "bundle")
    assert main(["generate", "-t", "generic", "--api", "opencl", *FEW, "-o", folder]) == 0
    assert main(["generate", "-t", "generic", "-t", "nvidia-hopper", "--api", "cuda", *FEW, "-o", folder]) == 0
    assert apis(tmp_path / "bundle") == {"generic": ["opencl", "cuda"], "nvidia-hopper": ["cuda"]}
    assert main(["check", "-o", folder]) == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("-t", "cpu", *BOTH), "target cpu: has no api cuda; it has opencl"),
        (
            ("-t", "cpu", "-t", "nvidia-hopper", "--api", "vulkan"),
            "api vulkan: no named target has it; they have opencl, cuda",
        ),
        (
            ("-t", "cpu", "-t", "nvidia-hopper", *BOTH, "--api", "vulcan"),
            "api vulcan: no named target has it; they have opencl, cuda",
        ),
        (
            ("-t", "cpu", "-t", "nvidia-hopper", "-t", "lavapipe", *BOTH),
            "target lavapipe: has no api opencl or cuda; it has vulkan",
        ),
    ],
)
def test_an_api_that_no_target_has_and_a_target_without_any_are_refused(
    arguments: tuple[str, ...], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", *arguments, *FEW, "-o", str(tmp_path / "bundle")]) == 2
    assert capsys.readouterr().err == f"hsgen: {line}\n"
    assert list(tmp_path.iterdir()) == []
