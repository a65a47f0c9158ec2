"""Calls of the command line in this process with hostile input, and the invariants of every call."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Sequence
from typing import Any

from hsgen.cli import main
from hsgen.core.errors import LINE
from hsgen.core.fields import LINES

SECONDS = 20.0  # limit of a call, on a busy machine too
NUMBERS: tuple[Any, ...] = (0, -1, 1, 2, 3, 7, 255, 2**16, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 10**40)
TEXTS = (
    "",
    " ",
    "hs",
    "x" * 245,
    "y" * 10**5,
    "../up",
    "a/b",
    "\u202e",
    "é漢",
    "%s%n{}",
    "*/",
    "??/",
    "@X@",
    "$\\frac{",
)
CONTROLS = ("\x1b[2J", "\r", "\n", "\nhsgen: fake", "\0", "\x7f", "\x9b31m", "\u2028", "\ud800")


def called(arguments: Sequence[str], codes: Sequence[int] = (0, 1, 2)) -> tuple[int, str]:
    """Run a command; return its exit code and stdout.

    Raises:
        AssertionError: the command takes too long, or its output is not a few printable lines.
    """
    out, err, begin = io.StringIO(), io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    took, lines = time.monotonic() - begin, err.getvalue().split("\n")
    assert code in codes, lines
    assert took < SECONDS, took
    assert lines.pop() == "" and len(lines) <= LINES and bool(lines) == (code != 0), lines
    for line in lines:
        assert line.startswith("hsgen: ") and line.isprintable() and len(line) <= LINE + 200, line
    return code, out.getvalue()
