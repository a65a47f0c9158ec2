"""What can go wrong, and the exit code that each kind means.  Nothing here prints or exits."""

from __future__ import annotations

import unicodedata

SHOWN = 200
"""Characters of a foreign value that a message shows."""
LINE = 2000
"""Characters of a line of a message: a list of names is long, too."""


def printable(text: object, most: int = LINE) -> str:
    """Return foreign text as a terminal can show it in one line, of at most about `most` characters.

    Names of files, strings of target files and manifests, and what drivers say may hold control characters, line
    ends, marks that turn the direction of text, and halves of pairs that cannot be encoded: they are escaped.
    """
    said = str(text)
    if len(said) > most:
        half = most // 2
        said = f"{said[:half]}...{said[-(most - half - 3) :]}" if most > 60 else f"{said[: most - 3]}..."
    if said.isascii() and said.isprintable():
        return said
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c) for c in said)


def shown(value: object) -> str:
    """Return a foreign value, such as a path, as a message shows it: printable, and shortened where it is long."""
    return printable(value, SHOWN)


def _escaped(c: str) -> str:
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")


class Notice(UserWarning):
    """Something that a user should know and that changes no answer; the command line prints it as one line."""


class Terminated(BaseException):
    """The process has been asked to end; whatever catches errors lets this pass."""


class HsgenError(Exception):
    """Something a user can act on: one line each of what, where and what would be right."""

    exit_code = 1

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class Wrong(HsgenError):
    """The answer is no: stale files, a wrong sort, a kernel that does not build.  Exit code 1."""

    exit_code = 1


class Usage(HsgenError):
    """A name, file, shape or folder that cannot be used as given.  Exit code 2."""

    exit_code = 2


class Unavailable(HsgenError):
    """Nothing here can answer: no device, no compiler, a missing capability.  Exit code 3."""

    exit_code = 3
