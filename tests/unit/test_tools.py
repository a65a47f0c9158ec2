"""Tests that need a tool skip without it, and a test that starts one without asking fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools import DEBIAN

TESTS = Path(__file__).resolve().parents[1]

ASKING = """
import subprocess
import pytest
from tools import need

@pytest.fixture(scope="module")
def compiled():
    need("gcc")
    subprocess.run(["gcc", "x.c"], check=True)

def test_asks_itself(): need("clang"); subprocess.run(["clang", "x.c"], check=True)
def test_asks_by_a_fixture(compiled): subprocess.run(["gcc", "y.c"], check=True)
"""
SILENT = """
import subprocess
import pytest

@pytest.fixture
def compiled(): subprocess.run(["gcc", "x.c"], check=True)

def test_asks_whether_it_works(): subprocess.run(["gcc", "--version"], check=True)
def test_starts_git(): subprocess.run(["git", "status"], check=True)
def test_starts_it(): subprocess.run(["gcc", "x.c"], check=True)
def test_starts_it_by_a_fixture(compiled): pass
def test_starts_it_through_hsgen(): __import__("hsgen.system.toolchain").system.toolchain.run(["gcc", "x.c"], 9)
"""


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs that do nothing, outside of the folder for temporary files of the inner pytest."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("clang", "gcc", "git"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder


def run(folder: Path, text: str, path: str, **more: str) -> dict[str, str]:
    """The outcome of each test of a module, run with a PATH; of a skipped one with its reason."""
    (folder / "test_module.py").write_text(text)
    (folder / "temporary").mkdir()
    env = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    env |= {"TMPDIR": str(folder / "temporary"), "COLUMNS": "200", "HSGEN_REQUIRE": "0", **more}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "tools", "-p", "no:cacheprovider", "test_module.py"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    found = dict(re.findall(r"^test_module\.py::(\w+) (\w+(?: \(.*\))?)", done.stdout, re.MULTILINE))
    assert len(found) == text.count("def test_"), done.stdout + done.stderr
    return found


def test_a_test_may_start_what_it_or_its_fixture_asked_for(programs: Path, tmp_path: Path) -> None:
    assert set(run(tmp_path, ASKING, str(programs)).values()) == {"PASSED"}


def test_a_test_that_starts_a_tool_without_asking_fails(programs: Path, tmp_path: Path) -> None:
    found = run(tmp_path, SILENT, str(programs))
    assert {name for name, outcome in found.items() if outcome == "FAILED"} == {n for n in found if "starts_it" in n}
    assert {outcome for name, outcome in found.items() if "starts_it" not in name} == {"PASSED"}


def test_without_a_tool_the_reason_is_given(tmp_path: Path) -> None:
    found = run(tmp_path, ASKING, str(tmp_path))
    assert found == {
        "test_asks_itself": "SKIPPED (no clang (apt-get install clang))",
        "test_asks_by_a_fixture": "SKIPPED (no gcc (apt-get install gcc))",
    }


def test_a_required_tool_is_not_skipped(tmp_path: Path) -> None:
    found = run(tmp_path, ASKING, str(tmp_path), HSGEN_REQUIRE="1")
    assert found == {"test_asks_itself": "FAILED", "test_asks_by_a_fixture": "ERROR"}


@pytest.mark.parametrize("name", sorted(DEBIAN))
def test_the_check_installs_every_tool(name: str) -> None:
    """`.ci/run` installs what tests require."""
    text = (TESTS.parent / ".ci/run").read_text(encoding="utf-8")
    packages = " ".join(re.findall(r"packages\+?=\"(.*?)\"", text, re.DOTALL)).split()
    assert set(DEBIAN[name].split()) <= {*packages, "git", "binutils"} or name == "nvcc"
