"""What several commands share: options, tables, JSON, progress."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from hsgen.errors import Unavailable, Wrong
from hsgen.spec import KEYS

T = TypeVar("T")

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
key_option = click.option("--key", "keys", multiple=True, type=click.Choice(list(KEYS)), help="Only this key type.")
require_option = click.option("--require", is_flag=True, help="Exit with 1, not 3, where this machine cannot answer.")
seed_option = click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of random keys.")
device_option = click.option("--device", help="A part of the name of the device to use.")


class Count(click.ParamType):  # type: ignore[type-arg]  # (generic since click 8.5 only)
    """A number of keys: 1000 or 2^20."""

    name = "count"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; click reports what is none."""
        if isinstance(value, int):
            return value
        count = parse_count(str(value))
        if count is None:
            self.fail(f"'{value}' is no count; write for example 1000 or 2^20", param, ctx)
        return count


def parse_count(text: str) -> int | None:
    """Return the count that `text` names, a number or a power such as 2^16, or None."""
    found = re.fullmatch(r"(?:2\^(\d{1,2})|(\d{1,12}))", text.strip())
    if found is None:
        return None
    return 1 << int(found[1]) if found[1] else int(found[2])


def emit_json(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a JSON list, one object a line."""
    click.echo("[" + ",\n ".join(json.dumps(r) for r in rows) + "]")


def emit_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under a head; numbers to the right."""
    cells = [[str(c) for c in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for row in [list(head), *cells]:
        parts = [c.rjust(w) if _numeric(c) else c.ljust(w) for c, w in zip(row, widths, strict=True)]
        click.echo("  ".join(parts).rstrip())


def _numeric(cell: str) -> bool:
    return re.fullmatch(r"-?[\d.,]+( ?[%x])?|-", cell) is not None


@contextmanager
def required(require: bool) -> Iterator[None]:
    """Turn "cannot answer here" into "no" where the user asked for an answer."""
    try:
        yield
    except Unavailable as e:
        if require:
            raise Wrong(*e.lines) from None
        raise


def progress(label: str, length: int) -> Callable[[Iterator[T]], Iterator[T]]:
    """Return a wrapper that shows on stderr how far an iteration is; only what is done where stderr is no terminal."""

    def wrap(items: Iterator[T]) -> Iterator[T]:
        with click.progressbar(items, length=length, label=label, file=sys.stderr, show_pos=True) as bar:
            yield from bar

    return wrap
