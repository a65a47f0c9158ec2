"""Makes lavapipe the only Vulkan device and validates sorts on it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from tools import GLSL, VULKAN, need

from hsgen.cli import main
from hsgen.core.errors import Unavailable
from hsgen.engines import native
from hsgen.engines.hosts import Host
from hsgen.targets import target
from hsgen.tools import worker

LANES = Path(__file__).with_name("lanes")
DRIVERS = Path("/usr/share/vulkan/icd.d")
NEEDED = 25
"""The required Mesa version: earlier lavapipe leaves long loops silently."""
Lavapipe = Callable[[int], Host]


def lanes(name: str) -> str:
    """The file of a tiny target."""
    return str(LANES / f"{name}.toml")


@cache
def devices(width: int) -> list[Host]:
    """The Vulkan devices, in the environment that `lavapipe` sets up for a width."""
    try:
        return worker.hosts(
            "vulkan", native.library("vulkan", [target.find(lanes("lanes8"))], "u32", algorithms=["digest"])
        )
    except Unavailable as e:
        missing(str(e))


def select(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Make lavapipe, with subgroups of a width, the only Vulkan device of this process and of its children."""
    drivers = sorted(DRIVERS.glob("lvp_icd*.json"))
    if not drivers:
        missing("lavapipe is not installed (apt-get install mesa-vulkan-drivers)")
    monkeypatch.setenv("VK_DRIVER_FILES", str(drivers[0]))
    monkeypatch.setenv("LP_NATIVE_VECTOR_WIDTH", str(32 * width))


def check_version(host: Host) -> None:
    """Skip the test, or fail with HSGEN_REQUIRE=1, if lavapipe is older than `NEEDED`."""
    version = re.search(r"Mesa (\d+)", host.driver)
    if version is None or int(version[1]) < NEEDED:
        missing(f"lavapipe of Mesa {NEEDED} or later; here is {host.driver}")


@pytest.fixture
def lavapipe(monkeypatch: pytest.MonkeyPatch) -> Lavapipe:
    """Make lavapipe, with subgroups of a given width, the only Vulkan device."""

    def ready(width: int) -> Host:
        need(GLSL, VULKAN)
        select(monkeypatch, width)
        found = devices(width)
        if not found:
            missing("lavapipe is installed but shows no device")
        check_version(found[0])
        assert len(found) == 1 and found[0].widths is not None and width in found[0].widths, found
        return found[0]

    return ready


def validated(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    """Run a validation: exit code, rows and messages."""
    capsys.readouterr()
    code = main(["validate", "--api", "vulkan", "--json", *arguments])
    out, err = capsys.readouterr()
    if "VK_LAYER_KHRONOS_validation is not installed" in err:
        missing("the validation layers are not installed (apt-get install vulkan-validationlayers)")
    return code, json.loads(out) if out else [], err


def calls_of_worker(library: Path, *arguments: str) -> int:
    """Return the number of calls of a sort in every way by `every_worker.py`, all of which must be right."""
    worker = Path(__file__).with_name("every_worker.py")
    command = [sys.executable, str(worker), str(library), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if "VK_LAYER_KHRONOS_validation is not installed" in done.stderr:
        missing("the validation layers are not installed (apt-get install vulkan-validationlayers)")
    assert done.returncode == 0, done.stderr
    calls, problem, said = json.loads(done.stdout)
    assert (problem, said) == (None, "")
    return int(calls)
