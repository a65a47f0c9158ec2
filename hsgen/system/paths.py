"""Names of files and targets that mean the same on every file system, and nothing else anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hsgen.core.fields import plain

LONGEST_NAME = 64  # characters of a target's name, so that no file's name reaches the 255 of file systems
LONGEST_PATH = 1024  # characters
_DEVICES = {"con", "prn", "aux", "nul", *(f"{word}{digit}" for word in ("com", "lpt") for digit in range(10))}
"""What Windows takes for a device, with any suffix and in any case."""


def parts(path: str) -> list[str]:
    """Return the components of a relative path.

    Raises:
        ValueError: it is empty, too long or not relative, or a component is no name on some system.
    """
    found = path.split("/")
    if len(path) > LONGEST_PATH or not all(map(_sound, found)):
        raise ValueError
    return found


def _sound(name: str) -> bool:
    """Whether a component of a path names the same file everywhere."""
    return (
        re.fullmatch(r"[A-Za-z0-9._+-]{1,255}", name) is not None
        and not name.endswith(".")
        and name.split(".")[0].lower() not in _DEVICES
    )


def target_problem(name: str) -> tuple[str, str] | None:
    """Return what is wrong with the name of a target and what would be right, or None."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        return "cannot name files", "use lower-case letters, digits and single '-' between them"
    if len(name) > LONGEST_NAME:
        return "is too long", f"use at most {LONGEST_NAME} characters"
    if not _sound(name):
        return "is the name of a device on Windows", "take another name"
    if not plain(name + "/"):
        return "holds what a bundle's prefix replaces", "leave out the word hs"
    return None


def clash(paths: Iterable[str]) -> tuple[str, str] | None:
    """Return two paths that cannot lie in one folder: they differ in case alone, or one is a folder of the other."""
    known: dict[str, str] = {}
    every = sorted(paths)
    for path in every:
        if (other := known.setdefault(path.lower(), path)) != path:
            return other, path
    for path in every:
        above = path.lower()
        while "/" in above:
            above = above.rpartition("/")[0]
            if above in known:
                return known[above], path
    return None
