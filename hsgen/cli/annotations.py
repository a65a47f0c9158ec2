"""Prints annotations for GitHub Actions: commands that GitHub shows as notes next to the files of a pull request."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from hsgen.core.errors import shown

FORMATS = ("text", "github")
_MOST = 10  # the greatest number of annotations that GitHub shows for a step of a workflow
_WORDS = {
    "stale": "differs from what hsgen generates",
    "missing": "is missing",
    "unexpected": "is not part of the bundle",
}

format_option = click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    help="github: also print annotations for GitHub Actions; the default there (if GITHUB_ACTIONS is true).",
)


def annotate(folder: Path, rows: Iterable[tuple[str, str]], hint: str, style: str | None) -> bool:
    """In GitHub Actions, print an error annotation for each pair (kind of difference, path of a file) in `rows`, and
    return True.

    Elsewhere, print nothing and return False.  `style` "github" means that this process runs in GitHub Actions.  With
    `style` None, the process does so if the environment variable GITHUB_ACTIONS is "true".
    A last annotation, at the manifest file of the bundle, has the hint.  With 10 or more rows, only the first 9 get
    annotations of their own; the last annotation has the number of further files.
    """
    if style != "github" and (style is not None or os.environ.get("GITHUB_ACTIONS") != "true"):
        return False
    every = list(rows)
    for kind, path in every[: _MOST - 1]:
        click.echo(_command(f"{shown(path)} {_WORDS[kind]}", _relative(folder / path)))
    if every:
        more = f"and {len(every) - _MOST + 1} more files; " if len(every) >= _MOST else ""
        click.echo(_command(f"{more}{hint}", _relative(folder / "manifest.json")))
    return True


def _relative(path: Path) -> str:
    """Return a path relative to the root of the repository, because annotations require such paths."""
    root = os.environ.get("GITHUB_WORKSPACE")
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  # follows no links
    inside = root is not None and absolute.is_relative_to(root)
    return absolute.relative_to(root).as_posix() if root is not None and inside else path.as_posix()


def _command(message: str, path: str) -> str:
    """Return the line that makes GitHub show an error message at a file; special characters are escaped."""
    place = _escaped(path).replace(":", "%3A").replace(",", "%2C")
    return f"::error file={place},title=hsgen::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
