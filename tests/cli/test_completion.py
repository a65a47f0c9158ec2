"""What a shell completes, through click's interface for shells."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from hsgen.cli import group
from hsgen.core.keys import TYPES, VALUES
from hsgen.targets import target


def completed(*typed: str) -> list[str]:
    """What the last of the typed words can be."""
    *before, last = typed
    return [item.value for item in ShellComplete(group, {}, "hsgen", "_HSGEN_COMPLETE").get_completions(before, last)]


@pytest.mark.parametrize("command", ["generate", "compile", "validate", "bench", "suggest", "tune", "report"])
def test_targets(command: str) -> None:
    found = completed(command, "-t", "nvidia-")
    assert found == [name for name in target.names() if name.startswith("nvidia-")] and "nvidia-sm90" in found


def test_targets_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    for name in ("my-gpu.toml", "my-notes.txt", "own/my-other.toml"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert completed("show", "my") == ["my-gpu.toml"]
    assert completed("bench", "-t", "own/") == ["own/my-other.toml"]
    assert completed("bench", "-t", "none/") == []
    assert set(completed("generate", "-t", "")) == {*target.names(), "my-gpu.toml"}


def test_words_of_options() -> None:
    assert completed("generate", "--key", "") == list(TYPES)
    assert completed("bench", "--value", "v") == [name for name in VALUES if name.startswith("v")]
    assert completed("generate", "--api", "v") == ["vulkan"]
    assert completed("validate", "--runtime", "") == ["python", "c"]


def test_algorithms_are_those_of_the_target() -> None:
    assert "radix-radix16" in completed("validate", "-t", "apple-m1", "--algorithm", "radix")
    assert completed("validate", "-t", "generic", "--algorithm", "radix") == ["radix", "radix_select"]
    assert completed("generate", "-t", "apple-m1", "--algorithm", "segm") == ["segmented_sort"]
    assert {"auto", "radix", "bitonic"} <= set(completed("tune", "--algorithm", ""))
    assert completed("bench", "-t", "no-such-target", "--algorithm", "bit") == ["bitonic"]


def test_commands_options_and_topics() -> None:
    assert completed("va") == ["validate"]
    assert completed("check", "--di") == ["--diff"]
    assert {"exit-codes", "environment"} <= set(completed("help", "e")) and "validate" in completed("help", "v")


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [(["--version"], ""), (["--help"], ""), (["help", "keys"], ""), ([], "hsgen ge"), ([], "hsgen -")],
)
def test_names_and_help_import_no_command(arguments: list[str], typed: str) -> None:
    """A shell waits for each completion, so that importing numpy and all targets for it would be felt."""
    shell = {"_HSGEN_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": "1"} if typed else {}
    code = "from hsgen.cli import run; import atexit, sys; atexit.register(lambda: print(*sys.modules)); run()"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=os.environ | shell, capture_output=True, text=True, check=True)
    *printed, last = done.stdout.splitlines()
    loaded = set(last.split())
    assert printed and "hsgen.cli.help_sections" in loaded
    assert not loaded & {"numpy", "jinja2", "rich", "hsgen.algorithms", "hsgen.targets", "hsgen.cli.generate"}
