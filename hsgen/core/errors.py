"""The classes of errors, each with its exit code.  No function of this module prints or exits."""

from __future__ import annotations

import unicodedata
from typing import Any

SHOWN = 200
"""A message shows at most this many characters of an untrusted value."""
LINE = 2000
"""A line of a message, such as a list of names, has at most about this many characters."""


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
    """Return an untrusted value, such as a path, as printable text of at most about `SHOWN` characters."""
    return printable(value, SHOWN)


def _escaped(c: str) -> str:
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")


class Notice(UserWarning):
    """A warning that changes no result; the command line prints it as one line."""


class Terminated(BaseException):
    """Raised in a process that received a signal to terminate.

    The class derives from `BaseException`, so ``except Exception`` does not catch it.
    """


class HsgenError(Exception):
    """The base class of errors that a user can remedy.

    The message has one or more lines.  Each line names the file or argument, then the problem, then the remedy.
    """

    exit_code = 1

    def __init__(self, *lines: str, detail: str = "") -> None:
        """Create the error from its lines; `detail` is text after the lines, such as a diff."""
        super().__init__("\n".join(lines))
        self.lines, self.detail = lines, detail


class Wrong(HsgenError):
    """A check failed: generated files are not up to date, a sort is incorrect, or a kernel does not compile.

    The exit code is 1.
    """

    exit_code = 1


class Usage(HsgenError):
    """Invalid input, such as an unusable name, file, parameter or folder.  Exit code 2."""

    exit_code = 2


class OutOfRange(Usage, ValueError):
    """A number outside the bounds of its argument.  Callers in Python can catch it as a ValueError."""

    def __init__(self, argument: str, number: object, remedy: str) -> None:
        super().__init__(f"{argument} {number}: {remedy}")
        self.argument, self.number, self.remedy = argument, number, remedy

    def renamed(self, argument: str) -> OutOfRange:
        """Return the same error for the argument `argument`, such as that of the public function that was called."""
        return OutOfRange(argument, self.number, self.remedy)


class Unavailable(HsgenError):
    """A prerequisite is missing, such as a device, a compiler or a capability of the device.  Exit code 3."""

    exit_code = 3


def wrong_type(name: str, expected: str, value: Any) -> TypeError:
    """Return the `TypeError` for the argument `name`, whose `value` has a wrong Python type."""
    kind = type(value).__name__
    description = "None" if value is None else f"{'an' if kind[0] in 'AEIOaeio' else 'a'} {kind}"
    return TypeError(f"{name} is {description}; give {expected}")
