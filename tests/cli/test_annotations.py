"""Annotations for GitHub Actions by check and verify, and the steps of the action, run by bash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from hsgen.cli import main
from hsgen.cli.annotations import annotate

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github/actions/check/action.yml"


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A bundle in the folder sorts, with a changed file, a missing one and another one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert main(["generate", "-t", "generic", "--api", "opencl", "--key", "u32", "-o", "sorts"]) == 0
    (tmp_path / "sorts/LICENSE").write_text("changed", encoding="utf-8")
    (tmp_path / "sorts/README.md").unlink()
    (tmp_path / "sorts/a,b:c%.txt").write_text("more", encoding="utf-8")
    capsys.readouterr()
    return tmp_path / "sorts"


EXPECTED = [
    "::error file=sorts/LICENSE,title=hsgen::LICENSE differs from what hsgen generates",
    "::error file=sorts/README.md,title=hsgen::README.md is missing",
    "::error file=sorts/a%2Cb%3Ac%25.txt,title=hsgen::a,b:c%25.txt is not part of the bundle",
]


@pytest.mark.parametrize("command", [["check", "-o", "sorts"], ["verify", "sorts"]])
def test_files_that_differ_are_annotated(
    bundle: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--format", "github"]) == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[:-1] == EXPECTED and err.count("\n") == 4
    assert lines[-1].startswith("::error file=sorts/manifest.json,title=hsgen::run: hsgen generate -o sorts")
    assert main(command) == 1
    assert capsys.readouterr() == ("", err), "elsewhere nothing is annotated"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(bundle.parent))
    assert main(command) == 1
    assert capsys.readouterr() == (out, err)
    assert main([*command, "--format", "text"]) == 1 and not capsys.readouterr().out
    assert main([*command, "--json"]) == 1 and len(json.loads(capsys.readouterr().out)) == 3


def test_no_more_lines_than_github_shows(capsys: pytest.CaptureFixture[str]) -> None:
    annotate(Path("b"), [("stale", f"{i}") for i in range(30)], "run: it", "github")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10 and lines[-1].endswith("::and 21 more files; run: it")


def steps() -> list[dict[str, Any]]:
    data = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    assert data["runs"]["using"] == "composite" and set(data["inputs"]) == {"folder", "require", "version"}
    assert all(text.get("description") and isinstance(text["default"], str) for text in data["inputs"].values())
    found: list[dict[str, Any]] = data["runs"]["steps"]
    assert all("shell" in s for s in found if "run" in s)
    return found


def ran(step: dict[str, Any], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does, with fake programs in place of Python and hsgen."""
    assert set(step["env"]) <= set(env)
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    both = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "RUNNER_TEMP": str(folder / "temp"), **env}
    return subprocess.run(command, cwd=folder, env=both, capture_output=True, text=True, check=False)


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """A folder whose python3 makes an environment of programs that print their arguments."""
    made = tmp_path / "temp/hsgen/bin"
    made.mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    echo = '#!/bin/bash\necho "$(basename "$0") $*" >> log\nexit "${CODE:-0}"\n'
    for path in (tmp_path / "bin/python3", made / "python", made / "hsgen"):
        path.write_text(echo, encoding="utf-8")
        path.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("version", "installed"),
    [("", "/act/../../.."), ("0.4.0", "hsgen==0.4.0"), ("hsgen @ git+https://a.b/c", "hsgen @ git+https://a.b/c")],
)
def test_the_action_installs(fake: Path, version: str, installed: str) -> None:
    done = ran(steps()[1], fake, VERSION=version, ACTION="/act")
    assert done.returncode == 0, done.stderr
    log = (fake / "log").read_text(encoding="utf-8").splitlines()
    assert log[1].startswith("python -m pip install ") and log[1].endswith(f" {installed}")
    assert log[0].startswith("python3 -m venv ") and log[2] == "hsgen --version"


@pytest.mark.parametrize(
    ("require", "code", "result", "options"),
    [("false", 0, 0, ""), ("false", 1, 1, ""), ("false", 3, 0, ""), ("true", 1, 1, " --require"), ("false", 2, 2, "")],
)
def test_the_action_checks(fake: Path, require: str, code: int, result: int, options: str) -> None:
    done = ran(steps()[2], fake, FOLDER="third party/sorts", REQUIRE=require, CODE=str(code))
    assert done.returncode == result
    assert (fake / "log").read_text(encoding="utf-8") == f"hsgen check -o third party/sorts --format github{options}\n"
    assert ("::notice" in done.stdout) == (code == 3)


def test_the_action_refuses_another_word(fake: Path) -> None:
    done = ran(steps()[2], fake, FOLDER="x", REQUIRE="yes")
    assert done.returncode == 2 and done.stdout.startswith("::error") and not (fake / "log").exists()


def test_the_action_s_checkout_is_the_one_that_it_names() -> None:
    """Three folders up from the action is what pip installs by default."""
    assert (ACTION.parent / "../../..").resolve() == ROOT and sys.version_info >= (3, 11)
