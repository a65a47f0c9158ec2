"""A program that is starting when a signal arrives is not left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from hsgen.core.errors import Terminated
from hsgen.system import processes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Handlers and requests are restored at the end."""
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    processes._requested = None


@pytest.mark.parametrize(("number", "by"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)])
def test_a_signal_while_a_program_starts(
    number: signal.Signals, by: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[Any]] = []
    popen = subprocess.Popen

    def interrupted(command: list[str], **more: Any) -> subprocess.Popen[Any]:
        started.append(popen(command, **more))
        signal.raise_signal(number)  # before the program is registered
        return started[0]

    signal.signal(number, lambda number, frame: processes.interrupt(by))
    monkeypatch.setattr(processes.subprocess, "Popen", interrupted)
    with pytest.raises(by):
        processes.start([sys.executable, "-c", "import time; time.sleep(60)"])
    assert started[0].returncode == -signal.SIGKILL
    monkeypatch.undo()
    if by is KeyboardInterrupt:  # this process survives it
        processes.end(processes.start([sys.executable, "-c", "pass"]))


def test_a_signal_at_another_time_is_raised_at_once() -> None:
    signal.signal(signal.SIGINT, lambda number, frame: processes.interrupt(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
