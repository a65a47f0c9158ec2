"""Makes lavapipe the only device of wgpu-native."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from conftest import missing
from lavapipe import Lavapipe, check_version, select
from tools import C, need

from hsgen.core.errors import Unavailable
from hsgen.engines import native
from hsgen.engines.hosts import Host
from hsgen.targets import target
from hsgen.tools import worker

TINY = str(Path(__file__).with_name("lanes") / "webgpu1.toml")


@cache
def devices(width: int) -> list[Host]:
    """The WebGPU devices, in the environment that `lavapipe` sets up for a width."""
    need(C)
    try:
        return worker.hosts("webgpu", native.library("webgpu", [target.find(TINY)], "u32", algorithms=["digest"]))
    except Unavailable as e:
        missing(str(e))


@pytest.fixture
def lavapipe(monkeypatch: pytest.MonkeyPatch) -> Lavapipe:
    """Make lavapipe, with subgroups of a given width, the only Vulkan device."""

    def ready(width: int) -> Host:
        select(monkeypatch, width)
        found = devices(width)
        if not found:
            missing("wgpu-native shows no device")
        check_version(found[0])
        return found[0]

    return ready
