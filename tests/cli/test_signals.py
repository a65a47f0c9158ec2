"""At any time, a signal ends the command with one line and its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nightly import nightly

import hsgen

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

ROOT = Path(hsgen.__file__).parent.parent
BEGIN = """
import atexit, os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells let programs in the background ignore
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup makes them ignore
number = int(sys.argv.pop(1))
def come():
    os.kill(os.getpid(), number)
from hsgen import cli
from hsgen.system import folders, processes
from hsgen.system.interrupts import deferred
print(folders.temporary(), flush=True)
"""
OUTSIDE = {
    "before the commands": "cli.warnings.catch_warnings = come",
    "behind the commands": "cli._main = lambda argv: come()",
    "while its error is printed": "cli._main = lambda argv: cli._ended(come())",
    "held back, and again while it unwinds": """
def command(argv):
    try:
        with deferred() as check:
            come()
            check()
    finally:
        for _ in range(9 if number != signal.SIGINT else 0):
            come()
cli._main = command
""",
}
"""Programs whose command receives a signal outside of the code that runs commands."""

NUMBERS = [signal.SIGTERM, nightly(signal.SIGHUP), nightly(signal.SIGINT)]


def started(number: int, code: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", f"{BEGIN}{code}\ncli.run()\n", str(int(number)), "targets"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("code", OUTSIDE.values(), ids=list(OUTSIDE))
def test_outside_of_the_commands_too(code: str, number: signal.Signals) -> None:
    with started(number, code) as process:
        out, err = process.communicate(timeout=60)
    assert err == f"hsgen: {'interrupted' if number == signal.SIGINT else 'terminated'}\n"
    assert process.returncode == 128 + number and not Path(out.split()[0]).exists()


@pytest.mark.parametrize("number", NUMBERS)
def test_a_command_that_has_ended_keeps_its_exit_code(number: signal.Signals) -> None:
    """The signal arrives while Python exits."""
    with started(number, "cli._main = lambda argv: 1\natexit.register(come)") as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and not err


@pytest.mark.parametrize("watch", ["", "cli._ending = lambda reader: time.sleep(60)\n"], ids=["watched", "late"])
def test_children_end_with_the_terminal(watch: str) -> None:
    """After SIGHUP there may be no reader for the reason; the thread that kills children may come too late."""
    code = (
        f"{watch}cli._main = lambda argv: processes.start(['sh', '-c', 'echo ready; exec sleep 60']) and time.sleep(60)"
    )
    begin = time.monotonic()
    with started(signal.SIGHUP, code) as process:
        assert process.stdout and process.stderr
        folder = Path(process.stdout.readline().strip())
        assert process.stdout.readline() == "ready\n" and folder.exists()
        process.stderr.close()
        process.send_signal(signal.SIGHUP)
        assert process.stdout.read() == ""  # the end of a pipe that the child holds too
    assert process.returncode == 128 + signal.SIGHUP and not folder.exists() and time.monotonic() - begin < 50


def test_an_ignored_hangup_does_not_end_the_program() -> None:
    """As under nohup."""
    code = "signal.signal(signal.SIGHUP, signal.SIG_IGN)\ncli._main = lambda argv: come() or 0"
    with started(signal.SIGHUP, code) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0 and not err
