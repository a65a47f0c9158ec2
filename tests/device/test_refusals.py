"""The harness's message about a refused call names the called function, for every kind of sort."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import missing
from lavapipe import Lavapipe, lavapipe
from refusing import LABELS
from tools import C, need

from hsgen.core.errors import Unavailable
from hsgen.engines import native
from hsgen.targets import target

pytestmark = pytest.mark.device
__all__ = ["lavapipe"]  # a fixture


def refused(api: str, device: str) -> list[str]:
    """The message of each sort, with a number per kind."""
    need(C)
    try:
        place = native.library(api, [target.find("generic")], "u32", algorithms=LABELS)
    except Unavailable as e:
        missing(str(e))
    script = str(Path(__file__).with_name("refusing.py"))
    done = subprocess.run(
        [sys.executable, script, api, str(place), device], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [str(x) for x in json.loads(done.stdout)]


@pytest.mark.usefixtures("embedded")
def test_opencl() -> None:
    named(refused("opencl", "Intel(R) OpenCL"), "opencl")


def test_vulkan(lavapipe: Lavapipe) -> None:
    lavapipe(8)
    named(refused("vulkan", "llvmpipe"), "vulkan")


def named(said: list[str], api: str) -> None:
    kinds = ("sort", "scan", "segmented_sort", "merge", "digest")
    assert [line.split(":")[0] for line in said] == [f"hs_{api}_{kind}" for kind in kinds], said
