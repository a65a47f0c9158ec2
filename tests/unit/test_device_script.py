"""The script of checks on an NVIDIA GPU chooses, stops and resumes its steps, and says so; programs stand in."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "device" / "nvidia.sh"
PROGRAMS = {
    "nvidia-smi": "case $* in *compute_cap*) echo 9.0;; *) echo a GPU;; esac",
    "compute-sanitizer": "exit 1",
    # the interpreter: some checks fail while the file `faulty` exists, and some take long while `slow` exists
    "python3": """
case "$*" in
  *-c*) exit 0 ;;
  *merges*) [ ! -e faulty ] || exit 7 ;;
  *--most*) [ ! -e slow ] || sleep 60 ;;
esac
echo "$*" >>ran""",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with the script, without its Python environment, and with stand-ins for programs."""
    (tmp_path / "tests" / "device").mkdir(parents=True)
    shutil.copy(SCRIPT, tmp_path / "tests" / "device")
    for name, text in PROGRAMS.items():
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def run(tree: Path, **options: str) -> tuple[int, list[str], list[str]]:
    """Return the exit code, the lines of steps, and the commands that ended well."""
    (tree / "ran").unlink(missing_ok=True)
    environment = {**os.environ, "PATH": f"{tree / 'bin'}:{os.environ['PATH']}", **options}
    command = ["bash", "tests/device/nvidia.sh", "ways", "logs"]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=50)
    ran = (tree / "ran").read_text(encoding="utf-8").splitlines() if (tree / "ran").exists() else []
    return done.returncode, [line for line in done.stdout.splitlines() if not line.startswith(" ")], ran


def test_steps_are_chosen_by_name(tree: Path) -> None:
    code, lines, ran = run(tree, ONLY="^merges-.*-u64$", JOBS="3")
    assert code == 0 and len(ran) == 3
    steps = {line.split()[0] for line in lines if line.startswith("merges")}
    assert steps == {f"merges-{tool}-u64" for tool in ("racecheck", "initcheck", "synccheck")}


def test_a_failure_is_told_and_resumed_alone(tree: Path) -> None:
    (tree / "faulty").touch()
    code, lines, _ = run(tree, JOBS="6", TOOLS="racecheck")
    assert code == 1
    assert {line.split()[0] for line in lines if "exit 7" in line} == {
        "merges-shrunk",
        "merges-racecheck-u32",
        "merges-racecheck-u64",
    }
    (tree / "faulty").unlink()
    code, _, ran = run(tree, JOBS="6", TOOLS="racecheck", RESUME="1")
    assert code == 0 and len(ran) == 3 and all("--merges" in command for command in ran)


def test_a_limit_stops_what_runs_and_lists_what_had_not_begun(tree: Path) -> None:
    (tree / "slow").touch()
    code, lines, _ = run(tree, JOBS="2", LIMIT="7", TOOLS="racecheck", ONLY="racecheck")
    assert code == 1
    assert sum("exit 124" in line for line in lines) == 2
    assert sum("not begun: no time is left" in line for line in lines) >= 10
