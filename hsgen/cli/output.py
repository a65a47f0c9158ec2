"""Prints the output of commands: tables, lines of text, and JSON."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from hsgen.cli import tables, terminal
from hsgen.core.errors import printable


def emit_json(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a JSON list, each row on a line."""
    click.echo("[" + ",\n ".join(json.dumps(r) for r in rows) + "]")


def emit_document(document: Mapping[str, Any], rows: str) -> None:
    """Print an object as JSON.

    rows: the name of the object's field with a list.  The field is printed last, with each element on its own line.
    """
    head = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in document.items() if name != rows]
    lines = ",\n  ".join(json.dumps(row) for row in document[rows])
    click.echo("{" + ",\n ".join([*head, f"{json.dumps(rows)}: [\n  {lines}]"]) + "}")


def emit_table(
    head: Sequence[str], rows: Iterable[Sequence[object]], styles: Mapping[str, tables.Style] | None = None
) -> None:
    """Print a table; numbers are right-aligned, and control characters are escaped.

    On a terminal, the table is fitted to the terminal's width, and cells have colours.  `styles` gives the style of a
    column's cells, by the column's name.
    """
    cells = [[printable(c) for c in row] for row in rows]
    if terminal.is_terminal(sys.stdout):
        tables.show(tables.Table(head, cells, _numeric, styles or {}))
        return
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for row in [list(head), *cells]:
        parts = [c.rjust(w) if _numeric(c) else c.ljust(w) for c, w in zip(row, widths, strict=True)]
        click.echo("  ".join(parts).rstrip())


def emit_text(text: str, indent: int = 0) -> None:
    """Print a line of text; on a terminal it is wrapped between words, and further lines begin with `indent` spaces."""
    if terminal.is_terminal(sys.stdout):
        lines = textwrap.wrap(
            text, terminal.width(), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
        )
        text = "\n".join(lines)
    click.echo(text)


def fault(cell: str) -> str:
    """Return the style of a cell with a number of faults: green for 0, bold red for others, none for "-"."""
    return "" if cell == "-" else "green" if cell == "0" else "bold red"


def _numeric(cell: str) -> bool:
    return re.fullmatch(r"-?[\d.,]+( ?[%x])?|-", cell) is not None
