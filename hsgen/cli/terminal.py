"""What the output streams can show: their width, colours, bars.

Off a terminal, output is plain text without wrapping, as scripts read it.  rich is imported only where a terminal
needs it.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 20
"""The least width in columns that output is laid out for."""


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether somebody reads a stream on a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # a closed stream
        return False


def is_dumb() -> bool:
    """Return whether the terminal moves no cursor, as TERM says."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def has_colours(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal that shows colours; a NO_COLOR that is not empty turns them off."""
    return is_terminal(stream) and not is_dumb() and not os.environ.get("NO_COLOR")


def width() -> int:
    """Return the width of the terminal in columns: COLUMNS, else what the system reports."""
    return max(shutil.get_terminal_size().columns, NARROWEST)


def console(stream: TextIO) -> Console:
    """Return a console of rich for a terminal; it shows texts as they are, and styles only where colours are shown."""
    from rich.console import Console

    colours = has_colours(stream)
    return Console(
        file=stream,
        width=width(),
        color_system="auto" if colours else None,
        no_color=not colours,
        force_terminal=True,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def styled(text: str, stream: TextIO | None, **style: bool | str) -> str:
    """Return a text in a style of click, if the stream has colours."""
    return click.style(text, **style) if has_colours(stream) else text  # type: ignore[arg-type]


def echo_good(text: str) -> None:
    """Print a line on stdout: in green, if that shows colours."""
    click.echo(styled(text, sys.stdout, fg="green"))
