"""What can go wrong, and the exit code that each kind means.  Nothing here prints or exits."""

from __future__ import annotations


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
