"""Commands on a terminal of a given width, and terminals that are only files."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal(StringIO):
    """A file that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(columns: int, *arguments: str, variables: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run hsgen on a terminal; return its exit code and what it wrote there, stderr included."""
    import pty  # on POSIX only

    child, descriptor = pty.fork()
    if child == 0:
        own = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "RICH_CLICK_THEME")}
        own |= {"COLUMNS": str(columns), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **(variables or {})}
        os.execve(sys.executable, [sys.executable, "-m", "hsgen", *arguments], own)
    said = b""
    try:
        with suppress(OSError):  # the end of a terminal whose program has ended
            while part := os.read(descriptor, 1 << 16):
                said += part
    finally:
        os.close(descriptor)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said.decode().replace("\r\n", "\n")


def lines(text: str) -> list[str]:
    """The lines of a terminal's text, without escapes and the spaces at their ends."""
    return [line.rstrip() for line in ESCAPE.sub("", text).split("\n")]
