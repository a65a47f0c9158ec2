"""The capabilities of output streams: width, colours and bars.

Output to a stream that is not a terminal is plain text without wrapping, for scripts.  rich is imported only for a
terminal.
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
    """Return True if a stream is a terminal with colours; NO_COLOR, if not empty, turns colours off."""
    return is_terminal(stream) and not is_dumb() and not os.environ.get("NO_COLOR")


def width() -> int:
    """Return the width of the terminal in columns: COLUMNS, or else the width that the system reports."""
    return max(shutil.get_terminal_size().columns, NARROWEST)


def console(stream: TextIO) -> Console:
    """Return a console of rich for a terminal; it prints texts unchanged, and styles only on terminals with colours."""
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
    """Return a text in a style of click if the stream has colours, otherwise the text alone."""
    return click.style(text, **style) if has_colours(stream) else text  # type: ignore[arg-type]


def echo_good(text: str) -> None:
    """Print a line on stdout, in green if stdout has colours."""
    click.echo(styled(text, sys.stdout, fg="green"))
