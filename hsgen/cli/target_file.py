"""Finds the file of a target, and replaces it atomically."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hsgen.core.errors import Usage
from hsgen.system import resources


def target_file(name: str, *, write: bool) -> Path:
    """Return the path of a target's file; `write` says that the caller wants to write it.

    Raises:
        Usage: `write` is True, but the file is part of an installed hsgen.
    """
    if name.endswith(".toml"):
        return Path(name)
    file = resources.targets() / f"{name}.toml"
    if write and not (resources.targets().parent / "pyproject.toml").is_file():
        raise Usage(f"target {name}: is part of the installed hsgen; copy {file}, rename it, and name the copy")
    return file


def replace(file: Path, text: str, after: str) -> None:
    """Write a file completely or not at all; the error message ends with `after`.

    Raises:
        Usage: the file cannot be written.
    """
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError as e:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise Usage(f"{file}: cannot be written ({e.strerror}); {after}") from None
