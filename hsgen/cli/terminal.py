"""What output streams support: width, colours, and progress bars.

If a stream is not a terminal, its output is plain text without line wrapping, for scripts.  The package rich is
imported only for terminals.
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
"""The least width of output, in columns."""


def is_terminal(stream: TextIO | None) -> bool:
    """Return True if a stream is a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # a closed stream
        return False


def is_dumb() -> bool:
    """Return True if the terminal cannot move its cursor, according to TERM."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def has_colours(stream: TextIO | None) -> bool:
    """Return True if a stream is a terminal that shows colours, and the variable NO_COLOR is unset or empty."""
    return is_terminal(stream) and not is_dumb() and not os.environ.get("NO_COLOR")


def width() -> int:
    """Return the width of the terminal in columns: the variable COLUMNS, or the width that the system reports.

    The result is at least `NARROWEST`.
    """
    return max(shutil.get_terminal_size().columns, NARROWEST)


def console(stream: TextIO) -> Console:
    """Return a console of rich for a terminal.

    The console does not interpret markup in texts, and uses styles only if the terminal shows colours.
    """
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
    """Return a text with a style of click if the stream shows colours; otherwise return the text unchanged."""
    return click.style(text, **style) if has_colours(stream) else text  # type: ignore[arg-type]


def echo_good(text: str) -> None:
    """Print a line on stdout, in green if stdout shows colours."""
    click.echo(styled(text, sys.stdout, fg="green"))
