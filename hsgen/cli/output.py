"""Output of commands: tables, text, JSON."""

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
    """Print rows as a JSON list, with a line per row."""
    click.echo("[" + ",\n ".join(json.dumps(r) for r in rows) + "]")


def emit_document(document: Mapping[str, Any], rows: str) -> None:
    """Print an object as JSON; the field named `rows` is last, with a line per row."""
    head = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in document.items() if name != rows]
    lines = ",\n  ".join(json.dumps(row) for row in document[rows])
    click.echo("{" + ",\n ".join([*head, f"{json.dumps(rows)}: [\n  {lines}]"]) + "}")


def emit_table(
    head: Sequence[str], rows: Iterable[Sequence[object]], styles: Mapping[str, tables.Style] | None = None
) -> None:
    """Print rows under a head; numbers are right-aligned, and control characters in foreign text are escaped.

    A table on a terminal fits the terminal's width, and `styles` colour cells by the names of columns.
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
    """Print a line; a terminal gets it wrapped between words, with `indent` spaces before further lines."""
    if terminal.is_terminal(sys.stdout):
        lines = textwrap.wrap(
            text, terminal.width(), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
        )
        text = "\n".join(lines)
    click.echo(text)


def fault(cell: str) -> str:
    """Return the style of a number of faults: green for 0, red for other numbers."""
    return "" if cell == "-" else "green" if cell == "0" else "bold red"


def _numeric(cell: str) -> bool:
    return re.fullmatch(r"-?[\d.,]+( ?[%x])?|-", cell) is not None
