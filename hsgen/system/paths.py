"""Checks of file names and target names, so that each name denotes the same file on every file system."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hsgen.core.fields import plain

LONGEST_NAME = 64  # characters in the name of a target; longer file names contain it, and file systems permit 255
LONGEST_PATH = 1024  # characters
_DEVICES = {"con", "prn", "aux", "nul", *(f"{word}{digit}" for word in ("com", "lpt") for digit in range(10))}
"""The names that Windows reserves for devices, also if a suffix follows, and in upper and lower case."""


def parts(path: str) -> list[str]:
    """Return the components of a relative path.

    Raises:
        ValueError: the path is empty, too long or not relative, or a component is invalid on some system.
    """
    components = path.split("/")
    if len(path) > LONGEST_PATH or not all(map(_sound, components)):
        raise ValueError
    return components


def _sound(name: str) -> bool:
    """Return True if a component of a path is valid, and names the same file, on every system."""
    return (
        re.fullmatch(r"[A-Za-z0-9._+-]{1,255}", name) is not None
        and not name.endswith(".")
        and name.split(".")[0].lower() not in _DEVICES
    )


def target_problem(name: str) -> tuple[str, str] | None:
    """Return (problem, remedy) for a target's name, or None if the name is valid."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        return "cannot name files", "use lower-case letters, digits and single '-' between them"
    if len(name) > LONGEST_NAME:
        return "is too long", f"use at most {LONGEST_NAME} characters"
    if not _sound(name):
        return "is the name of a device on Windows", "take another name"
    if not plain(name + "/"):
        return "holds the word that a bundle's prefix replaces", "omit the word hs"
    return None


def clash(paths: Iterable[str]) -> tuple[str, str] | None:
    """Return two of the paths that conflict, or None.

    Two paths conflict if they differ only in case, or if one path would be a folder that contains the other.
    """
    known: dict[str, str] = {}
    every = sorted(paths)
    for path in every:
        if (earlier := known.setdefault(path.lower(), path)) != path:
            return earlier, path
    for path in every:
        above = path.lower()
        while "/" in above:
            above = above.rpartition("/")[0]
            if above in known:
                return known[above], path
    return None
