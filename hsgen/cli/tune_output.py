"""The output of ``hsgen tune``: a table with the change of the target file, or JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from hsgen.cli.output import emit_table
from hsgen.tools.tune import journal
from hsgen.tools.tune.final import Result, Row

SCHEMA = 1
_FAILED = ("label", "key", "table", "kind", "why")


def emit(result: Result, change: str, book: journal.Journal, written: Path | None, *, as_json: bool) -> None:
    """Print the result; `change` is the diff of the target file, `written` the file if it was changed."""
    if as_json:
        document = {
            "schema": SCHEMA,
            **{k: book.head[k] for k in ("hsgen", "target", "api", "device", "driver", "seed", "date")},
            "rows": [asdict(r) for r in result.rows],
            "tables": [{"algorithm": a, "key": k, "table": t} for (a, k), t in result.tables.items()],
            "sorts": result.autos,
            "failed": [{k: r[k] for k in _FAILED} for r in book.of("failed")],
            "diff": change,
        }
        click.echo(json.dumps(document))
        return
    emit_table(["key", "n", "before", "Mkeys/s", "after", "Mkeys/s", "ratio", "90 %"], map(_cells, result.rows))
    click.echo(f"\nwritten to {written}:\n\n{change}" if written else f"\n{change}" if change else "")


def _rate(x: float | None) -> str:
    return "-" if x is None else f"{x:.1f}"


def _cells(row: Row) -> list[object]:
    between = "-" if row.low is None or row.high is None else f"{row.low:.2f} to {row.high:.2f}"
    if row.same:
        return [row.key, row.n, row.before or "-", _rate(row.rate_before), row.after, "same", "-", "-"]
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f} x"
    return [row.key, row.n, row.before or "-", _rate(row.rate_before), row.after, _rate(row.rate_after), ratio, between]
