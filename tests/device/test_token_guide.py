"""The programs of docs/guides/tokens.md: Vulkan's runs on lavapipe, Metal's is read against declarations of Metal."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from lavapipe import Lavapipe, lavapipe
from tools import GLSL, VULKAN, C, need, tool
from vulkan_examples import sanitizers

from hsgen.cli import main
from hsgen.system import compilers

__all__ = ["lavapipe"]  # a fixture
ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/guides/tokens.md").read_text(encoding="utf-8")


def source(name: str) -> str:
    """Return a file of the page."""
    match = re.search(rf"^```(?:c|objc)\n(/\* {re.escape(name)}: .*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert match
    return match[1]


def generated(api: str, place: Path) -> None:
    """Generate the bundle of the page for an API."""
    line = re.search(rf"^hsgen (generate .*--api {api} .*) -o sorts$", TEXT, re.MULTILINE)
    assert line and main([*line[1].split(), "-o", str(place / "sorts")]) == 0


def test_what_a_runtime_copies_is_short() -> None:
    for name in ("tokens.c", "tokens.m"):
        assert len(source(name).splitlines()) <= 40


@pytest.mark.device
def test_the_program_selects_from_a_batch_and_from_one_row(lavapipe: Lavapipe, tmp_path: Path) -> None:
    """Compiled by the command of the page, with warnings as errors."""
    need(C, GLSL, VULKAN)
    lavapipe(8)
    generated("vulkan", tmp_path)
    for name in ("tokens.c", "main.c"):
        (tmp_path / name).write_text(source(name), encoding="utf-8")
    line = re.search(r"^cc (.*) -o tokens$", TEXT, re.MULTILINE)
    assert line
    options = " ".join(["-Wall -Wextra -Werror", *sanitizers(tmp_path), line[1]])
    command = f"{' '.join(compilers.c_compiler())} {options} -o tokens"
    done = subprocess.run(["sh", "-ec", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # the program leaves its end to the process
    done = subprocess.run([tmp_path / "tokens"], capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stdout) == (0, "40 tokens of each of 9 rows, by target lavapipe\n"), done.stderr


def test_the_file_for_metal_is_valid(tmp_path: Path) -> None:
    clang = tool("clang")
    generated("metal", tmp_path)
    (tmp_path / "tokens.m").write_text(source("tokens.m"), encoding="utf-8")
    language = ("-xobjective-c", "-std=c99", "-fobjc-arc", "-fobjc-runtime=macosx-11.0", "-Wall", "-Wextra", "-Werror")
    declarations = f"-I{ROOT / 'tests/vendor/apple'}"
    command = [
        clang,
        "-fsyntax-only",
        *language,
        declarations,
        f"-I{tmp_path / 'sorts/include'}",
        tmp_path / "tokens.m",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
