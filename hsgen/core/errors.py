"""Errors, each kind with its exit code.  No function of this module prints or exits."""

from __future__ import annotations

import unicodedata
from typing import Any

SHOWN = 200
"""The most characters of an untrusted value that a message shows."""
LINE = 2000
"""The most characters of a line of a message, such as a list of names."""


def printable(text: object, most: int = LINE) -> str:
    """Return untrusted text as one printable line of at most about `most` characters.

    Untrusted text is a file name, a string of a target file or manifest, or a driver message.  Control characters,
    line ends, bidirectional marks and lone surrogates are escaped.
    """
    line = str(text)
    if len(line) > most:
        half = most // 2
        line = f"{line[:half]}...{line[-(most - half - 3) :]}" if most > 60 else f"{line[: most - 3]}..."
    if line.isascii() and line.isprintable():
        return line
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c) for c in line)


def shown(value: object) -> str:
    """Return an untrusted value, such as a path, as a message shows it: printable and at most `SHOWN` characters."""
    return printable(value, SHOWN)


def _escaped(c: str) -> str:
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")


class Notice(UserWarning):
    """A warning that changes no result; the command line prints it as one line."""


class Terminated(BaseException):
    """The exception of a process that received a signal to terminate; handlers of errors do not catch it."""


class HsgenError(Exception):
    """An error that a user can act on: one or more lines, each with the place, the problem and the remedy."""

    exit_code = 1

    def __init__(self, *lines: str, detail: str = "") -> None:
        """Create the error from its lines; `detail` is text after the lines, such as a diff."""
        super().__init__("\n".join(lines))
        self.lines, self.detail = lines, detail


class Wrong(HsgenError):
    """A negative result: stale files, an incorrect sort, a kernel that does not build.  Exit code 1."""

    exit_code = 1


class Usage(HsgenError):
    """Invalid input: an unusable name, file, parameter or folder.  Exit code 2."""

    exit_code = 2


class OutOfRange(Usage, ValueError):
    """A number outside the bounds of its argument.  Callers in Python can catch it as a ValueError."""

    def __init__(self, argument: str, number: object, remedy: str) -> None:
        super().__init__(f"{argument} {number}: {remedy}")
        self.argument, self.number, self.remedy = argument, number, remedy

    def renamed(self, argument: str) -> OutOfRange:
        """Return the error with another name for the argument."""
        return OutOfRange(argument, self.number, self.remedy)


class Unavailable(HsgenError):
    """A missing prerequisite: no device, no compiler, an unsupported capability.  Exit code 3."""

    exit_code = 3


def wrong_type(name: str, expected: str, value: Any) -> TypeError:
    """Return the error for an argument `name` of a wrong Python type."""
    kind = type(value).__name__
    description = "None" if value is None else f"{'an' if kind[0] in 'AEIOaeio' else 'a'} {kind}"
    return TypeError(f"{name} is {description}; give {expected}")
