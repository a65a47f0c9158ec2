"""``generate`` as a process: interrupted, and run twice at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tiny
from conftest import missing
from nightly import nightly
from tools import tool

import hsgen
from hsgen.cli import main

ROOT = Path(hsgen.__file__).parent.parent
FEW = ("--api", "opencl", "--key", "u32", "--algorithm", "bitonic")
NEXT = ("generate", *FEW, "-t", "cpu", "--remove", "generic", "-o")
SIGNALLED = """
import os, signal, sys
from hsgen import cli
signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells let programs in the background ignore
from hsgen.system.tree import Tree
call, number, left = sys.argv.pop(1), int(sys.argv.pop(1)), int(sys.argv.pop(1))
real = getattr(Tree, call)
def signalled(self, *arguments):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), number)
    return real(self, *arguments)
setattr(Tree, call, signalled)
cli.run()
"""
"""hsgen that receives a signal at the nth call of a function."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes | None]]:
    """A bundle, and its content after the next update."""
    folder = tmp_path_factory.mktemp("made") / "bundle"
    assert main(["generate", *FEW, "-t", "generic", "-o", str(folder)]) == 0
    shutil.copytree(folder, folder.with_name("next"))
    assert main([*NEXT, str(folder.with_name("next"))]) == 0
    return folder, tiny.state(folder.with_name("next"))


@pytest.fixture
def bundle(made: tuple[Path, object], tmp_path: Path) -> Path:
    """A copy of that bundle."""
    shutil.copytree(made[0], tmp_path / "bundle")
    return tmp_path / "bundle"


Made = tuple[Path, dict[str, bytes | None]]


@pytest.mark.parametrize(
    ("number", "call", "left"),
    [
        (signal.SIGTERM, "create", 3),
        nightly(signal.SIGHUP, "rename", 2),
        nightly(signal.SIGTERM, "rename", 1),
        nightly(signal.SIGTERM, "unlink", 2),
        nightly(signal.SIGINT, "create", 1),
        (signal.SIGINT, "rename", 4),
        nightly(signal.SIGINT, "rmdir", 1),
    ],
)
def test_a_signal_ends_it_in_one_line(made: Made, bundle: Path, number: signal.Signals, call: str, left: int) -> None:
    """Before the journal is in place nothing has changed, afterwards everything."""
    before = tiny.state(bundle)
    command = [sys.executable, "-c", SIGNALLED, call, str(int(number)), str(left), *NEXT, str(bundle)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    word = "interrupted" if number == signal.SIGINT else "terminated"
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr.strip() == f"hsgen: {word}" and not done.stdout
    assert tiny.state(bundle) == (before if call == "create" else made[1])


@pytest.mark.parametrize(
    ("call", "at"),
    [
        ("?renameat,?renameat2", 4),
        *(nightly("?renameat,?renameat2", n) for n in (1, 2, 5, 9)),
        *(nightly("?unlinkat", n) for n in (1, 4, 8)),
        *(nightly("?mkdirat", n) for n in (1, 2, 3)),
    ],
)
def test_the_next_run_completes_a_killed_update(
    made: Made, bundle: Path, call: str, at: int, capsys: pytest.CaptureFixture[str]
) -> None:
    strace = tool("strace")
    inject = ["-f", "-qq", "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={at}"]
    command = [strace, *inject, sys.executable, "-m", "hsgen", *NEXT, str(bundle)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if "ptrace" in done.stderr:
        missing(f"strace may not trace here: {done.stderr.splitlines()[0]}")
    assert done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), done.stderr
    half = tiny.state(bundle)
    capsys.readouterr()
    if ".hsgen-work" in half:
        for command in (["check", "-o"], ["verify"], ["generate", "--dry-run", "-o"], ["report", "--bundle"]):
            assert main([*command, str(bundle)]) == 1
            run = f"hsgen: {bundle}: an update of it was interrupted; run: hsgen generate -o {bundle}\n"
            assert capsys.readouterr().err == run and tiny.state(bundle) == half
    removed = ".hsgen-work/journal.json" in half or "targets/generic" not in half
    again = [w for w in NEXT if not removed or w not in ("--remove", "generic")]
    assert main([*again, str(bundle)]) == 0
    said = capsys.readouterr().err
    assert said == (f"hsgen: {bundle}: an update that was interrupted has been " if ".hsgen-work" in half else "") + (
        ("completed\n" if ".hsgen-work/journal.json" in half else "discarded\n") if ".hsgen-work" in half else ""
    )
    assert tiny.state(bundle) == made[1]
    assert main(["verify", str(bundle)]) == 0 and main(["check", "-o", str(bundle)]) == 0


@pytest.mark.parametrize("rounds", [1, nightly(20)])
def test_two_concurrent_runs_both_succeed(tmp_path: Path, rounds: int) -> None:
    """Into a folder that does not exist yet, and that one of them creates."""
    for number in range(rounds):
        folder = tmp_path / str(number)
        command = [sys.executable, "-m", "hsgen", "generate", *FEW, "-o", str(folder), "-t"]
        started = [subprocess.Popen([*command, name], cwd=ROOT, stderr=subprocess.PIPE) for name in ("cpu", "generic")]
        assert [(p.communicate()[1], p.returncode) for p in started] == [(b"", 0)] * 2
        assert main(["verify", str(folder)]) == 0 and main(["check", "-o", str(folder)]) == 0
        assert sorted(p.name for p in (folder / "targets").iterdir()) == ["cpu", "generic"]
