"""The commands of the Vulkan runtime, checked without a driver: right for every sort, wrong without one of the
barriers."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from building import WARNINGS, folder, program, sources
from conftest import missing
from nightly import NIGHTLY, nightly
from sanitizers import SANITIZERS, sanitizes
from tools import GLSL, VULKAN, need

from hsgen.cli import main

RECORDING = Path(__file__).with_name("recording.c")
LANES = RECORDING.parents[1] / "device/lanes"
TARGETS = {"lavapipe": "lavapipe", "pairs4": str(LANES / "pairs4.toml"), "generic": "generic"}
"""With subgroups, with keys as pairs of u32, and without subgroups."""


@cache
def recording(name: str) -> Path:
    """The program with the sorts of a target, built with the sanitizers; its runtime's allocations may fail."""
    need(VULKAN)
    if not sanitizes("gcc"):
        missing("gcc has no sanitizers")
    need(GLSL)
    place = folder("bundle") / "sorts"
    assert main(["generate", "-t", TARGETS[name], "--api", "vulkan", "-o", str(place)]) == 0
    command = ["gcc", "-std=c99", "-O1", *WARNINGS, *SANITIZERS, "-Dcalloc=fake_calloc", f"-I{place / 'include'}"]
    return program("recording", *command, RECORDING, *sources(place))


def run(name: str, *arguments: str) -> tuple[int, str]:
    """Run the program: exit code and output."""
    command = [str(recording(name)), *arguments]
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=300)
    return done.returncode, done.stdout + done.stderr


@cache
def barriers(name: str) -> int:
    """The number of barriers in the longest sort of a target; all recorded commands must be right."""
    code, said = run(name)
    found = re.fullmatch(
        rf"target {name}: (\d+) sorts, at most (\d+) barriers, (\d+) checks, 0 errors\n", said, re.ASCII
    )
    assert code == 0 and found, said
    assert int(found[1]) > 5000 and int(found[3]) > 1_000_000
    return int(found[2])


@pytest.mark.parametrize("name", ["lavapipe", nightly("pairs4"), nightly("generic")])
def test_every_sort_is_recorded_as_planned(name: str) -> None:
    assert barriers(name) > 20


@pytest.mark.parametrize("name", ["lavapipe", nightly("pairs4"), nightly("generic")])
def test_every_forgotten_barrier_is_found(name: str) -> None:
    """One in the middle; nightly all of them."""
    last = barriers(name)
    for number in range(1, last + 1) if NIGHTLY else (last // 2,):
        code, said = run(name, "drop", str(number))
        assert code == 1, said
        assert re.search(rf"barrier {number} forgotten in [1-9]\d* sorts, missed in 0 of them\n$", said), said


def test_forgetting_nothing_finds_nothing() -> None:
    """There is no barrier to forget beyond the last one."""
    code, said = run("lavapipe", "drop", str(barriers("lavapipe") + 1))
    assert code == 0 and said.endswith("forgotten in 0 sorts, missed in 0 of them\n"), said
    for arguments in (("drop",), ("drop", "0"), ("else", "1")):
        assert run("lavapipe", *arguments) == (2, "")
