"""Runs scripts of WebGPU under node, on lavapipe or SwiftShader."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from lavapipe import DRIVERS
from tools import tool

ROOT = Path(__file__).parents[2]
NPM = ROOT / ".ci/npm"
SCRIPTS = Path(__file__).parent / "webgpu"
SWIFTSHADER = Path("/usr/lib/chromium/vk_swiftshader_icd.json")
LARGEST = 62_000  # bytes of the module with a sort of keys and values


@pytest.fixture(scope="session")
def node() -> str:
    """Node, with the packages that .ci/npm/package-lock.json pins."""
    found = tool("node")
    if not (NPM / "node_modules/webgpu").is_dir():
        missing("no Dawn for node (npm ci --ignore-scripts --prefix .ci/npm)")
    return found


@pytest.fixture(scope="session")
def driver() -> Path:
    """The file by which Vulkan's loader finds lavapipe, or else Chromium's SwiftShader, which has 4 lanes only."""
    found = [*sorted(DRIVERS.glob("lvp_icd*.json")), *(path for path in [SWIFTSHADER] if path.exists())]
    if not found:
        missing("no lavapipe (apt-get install mesa-vulkan-drivers)")
    return found[0]


def lines(node: str, script: str, request: dict[str, Any], folder: Path, **environment: str) -> list[dict[str, Any]]:
    """Run a script with a request; return the objects that it prints."""
    path = folder / "request.json"
    path.write_text(json.dumps({"npm": str(NPM), **request}), encoding="utf-8")
    command = [node, str(SCRIPTS / script), str(path)]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
