"""The check of README's commands on a bare machine: its commands, the configuration of pip, and its failure where it
cannot run."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BARE = (ROOT / ".ci/bare").read_text(encoding="utf-8")
needs_sed = pytest.mark.skipif(os.name != "posix", reason="programs of POSIX")


@needs_sed
def test_the_commands_are_those_of_the_readme() -> None:
    (script,) = re.findall(r"sed -n -E '([^']+)' README\.md", BARE)
    done = subprocess.run(["sed", "-n", "-E", script, ROOT / "README.md"], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["make demo", "make test", ""]


@needs_sed
@pytest.mark.parametrize("user", ["1000", "0"])
def test_it_fails_where_no_root_can_be_made(tmp_path: Path, user: str) -> None:
    """For a user, and where there is no debootstrap."""
    programs = {"id": f"echo {user}", "dirname": 'exec /usr/bin/dirname "$@"', "unshare": "echo none"}
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    command = ["/bin/bash", str(ROOT / ".ci/bare")]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith("bare: no root can be made here: ") and not done.stdout


def test_the_check_begins_there_and_the_workflow_runs_the_check() -> None:
    steps = re.findall(r'^ *step "([^"]+)"', (ROOT / ".ci/run").read_text(encoding="utf-8"), re.MULTILINE)
    assert steps[:3] == ["a bare machine", "optional tools", "set-up"]
    assert "bash .ci/run" in (ROOT / ".github/workflows/check.yml").read_text(encoding="utf-8")


def test_pip_is_configured_the_same(tmp_path: Path) -> None:
    """Variables hold over files; only paths that exist are shown in the root."""
    wheels, cert, file = tmp_path / "wheels", tmp_path / "cert.pem", tmp_path / "pip.conf"
    index = tmp_path / "index/simple"
    wheels.mkdir()
    index.mkdir(parents=True)
    cert.write_text("x")
    listed = [
        f":env:.cert={str(cert)!r}",
        "global.cert='/nowhere/cert.pem'",
        "global.index-url='https://example.org/simple'",
        f"global.extra-index-url='\\nfile://{wheels}\\nhttps://example.org/more'",
        f"install.find-links={f'file://{index}'!r}",
    ]
    command = [sys.executable, str(ROOT / ".ci/pip_config.py"), str(file)]
    done = subprocess.run(command, input="\n".join(listed), capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == [str(cert), str(index.parent), str(wheels)]
    config = configparser.RawConfigParser()
    config.read(file)
    assert dict(config["global"]) == {
        "cert": str(cert),
        "index-url": "https://example.org/simple",
        "extra-index-url": f"\nfile://{wheels}\nhttps://example.org/more",
    }
    assert dict(config["install"]) == {"find-links": f"file://{index}"}


def test_no_index_and_no_mirror_is_named() -> None:
    """Each comes from the machine that runs the check."""
    for name in ("bare", "debian.sh", "pip_config.py", "run"):
        assert "://" not in (ROOT / ".ci" / name).read_text(encoding="utf-8").replace("file://", "")
