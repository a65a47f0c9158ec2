"""Writes kernels in WGSL to files and compiles the files with naga and Tint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from tools import missing, tool

from hsgen.core.errors import Usage
from hsgen.core.sort import Sort
from hsgen.emit.kernels import written

ROOT = Path(__file__).parents[2]
NPM = ROOT / ".ci/npm"
HERE = Path(__file__).parent / "wgsl"
LANGUAGE, API = "wgsl", "webgpu"
Compiler = Callable[[list[str]], dict[str, str]]


def files(made: list[Sort], folder: Path) -> list[str]:
    """Write the text of each sort into a file."""
    paths = []
    for number, sort in enumerate(made):
        try:
            text = written(sort, LANGUAGE, API).text
        except Usage:  # barriers of subgroups
            assert sort.lanes > 1 and sort.operation == "segmented_sort"
            continue
        path = folder / f"{number}_{sort.name.replace('/', '_')}.wgsl"
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return paths


def problems(command: list[str]) -> dict[str, str]:
    """Run a compiler on files, on lavapipe; return the problems by file."""
    drivers = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
    if not drivers:
        missing("no lavapipe (apt-get install mesa-vulkan-drivers)")
    environment = {**os.environ, "VK_DRIVER_FILES": str(drivers[0])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def naga(paths: list[str]) -> dict[str, str]:
    if find_spec("wgpu") is None:
        missing("no wgpu (pip install 'hsgen[webgpu]')")
    return problems([sys.executable, str(HERE / "naga.py"), *paths])


def tint(paths: list[str]) -> dict[str, str]:
    node = tool("node")
    if not (NPM / "node_modules/webgpu").is_dir():
        missing("no Dawn for node (npm ci --ignore-scripts --prefix .ci/npm)")
    return problems([node, str(HERE / "tint.mjs"), str(NPM), *paths])
