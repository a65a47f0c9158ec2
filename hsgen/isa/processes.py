"""Running compilers that may start others, hang or crash, so that nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_live: set[int] = set()
_lock = threading.Lock()


def run(
    command: Sequence[str], seconds: float, folder: Path, text: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program with `text` on stdin and return what it said; at the end nothing that it began is left.

    `folder` is where it puts temporary files; `variables` are added to its environment.

    Raises:
        subprocess.TimeoutExpired: it does not end within `seconds`.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "TMPDIR": str(folder), **variables},
        start_new_session=True,
    )
    with _lock:
        _live.add(process.pid)
    try:
        out, err = process.communicate(text, timeout=seconds)
    finally:
        with _lock:
            _live.discard(process.pid)
        _kill(process.pid)
        process.kill()
        process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def stop() -> None:
    """End every program that `run` waits for in any thread, for nobody wants its answer any more."""
    with _lock:
        for group in _live:
            _kill(group)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def ending(code: int) -> str:
    """Say how a program ended that did not end well."""
    return f"crashes with signal {-code}" if code < 0 else f"ends with code {code}"
