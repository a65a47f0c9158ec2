"""Output of commands: tables, JSON, progress."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import click

from hsgen.core.errors import printable

T = TypeVar("T")


def emit_json(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a JSON list, one object a line."""
    click.echo("[" + ",\n ".join(json.dumps(r) for r in rows) + "]")


def emit_document(found: Mapping[str, Any], rows: str) -> None:
    """Print an object as JSON, its list `rows` last, with one line for each row."""
    head = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items() if name != rows]
    lines = ",\n  ".join(json.dumps(row) for row in found[rows])
    click.echo("{" + ",\n ".join([*head, f"{json.dumps(rows)}: [\n  {lines}]"]) + "}")


def emit_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under a head, numbers right-aligned; control characters in foreign text are escaped."""
    cells = [[printable(c) for c in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for row in [list(head), *cells]:
        parts = [c.rjust(w) if _numeric(c) else c.ljust(w) for c, w in zip(row, widths, strict=True)]
        click.echo("  ".join(parts).rstrip())


def _numeric(cell: str) -> bool:
    return re.fullmatch(r"-?[\d.,]+( ?[%x])?|-", cell) is not None


def progress(label: str, length: int) -> Callable[[Iterator[T]], Iterator[T]]:
    """Return a wrapper that shows the progress of an iteration on stderr; on other than a terminal, only the label."""

    def wrap(items: Iterator[T]) -> Iterator[T]:
        with click.progressbar(items, length=length, label=label, file=sys.stderr, show_pos=True) as bar:
            yield from bar

    return wrap
