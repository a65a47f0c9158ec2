"""How `hsgen bench` prints what was measured: a table for people, JSON and CSV for programs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import fields
from io import StringIO
from itertools import groupby
from typing import Any

import click

from hsgen import operations
from hsgen.cli.common import emit_table
from hsgen.tools.bench import Row, document

HEAD = ["n", "what", "Mkeys/s", "min", "q1", "q3", "max", "device", "of roof", "hsgen is", "90 % interval"]


def emit_rows(rows: Sequence[Row], signature: str, *, rounds: int, seed: int) -> None:
    """Print the rows as "json", "csv" or a "table"."""
    if signature == "json":
        _json(document(rows, rounds=rounds, seed=seed))
    elif signature == "csv":
        click.echo(_csv(rows), nl=False)
    else:
        _table(rows)


def _json(found: dict[str, Any]) -> None:
    """Print the document, one row a line."""
    head = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items() if name != "rows"]
    lines = ",\n  ".join(json.dumps(row) for row in found["rows"])
    click.echo("{" + ",\n ".join([*head, f'"rows": [\n  {lines}]']) + "}")


def _csv(rows: Sequence[Row]) -> str:
    """The rows under their fields' names: nothing for null, true and false as in JSON, bit ranges like 0..32."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(Row))
    for row in rows:
        writer.writerow(_cell(value) for value in row.record().values())
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return json.dumps(value)
    return "..".join(map(str, value)) if isinstance(value, list) else value


def title(row: Row) -> str:
    """Return what the rows of a sort have in common, in words."""
    words = [row.target, row.key + " down" * (row.order == "descending"), row.value or "no values", row.kind]
    words += [f"bits {row.bits[0]}..{row.bits[1]}"] if row.bits != [0, int(row.key[1:])] else []
    words += ["counted on the device"] * row.device_count + ["changes told"] * row.run_boundaries
    words += ["with an epilogue"] * row.epilogue
    workload = operations.EVERY[row.task].workload
    words += [workload] * bool(workload)
    words += [f"{row.segments} segments{' of equal length' * (row.layout == 'equal')}"] if row.segments else []
    return "  ".join(words)


def _table(rows: Sequence[Row]) -> None:
    """Print a table for each sort, way to call it and kind of input; sorts come in the order of their first rows."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(title(row), []).append(row)
    click.echo(f"{rows[0].api} on {rows[0].device}, {rows[0].runs} rounds")
    for head, some in found.items():
        click.echo(f"\n{head}")
        lines = []
        for _, group in groupby(some, lambda r: r.n):
            lines += [_line(row) for row in group]
        emit_table(HEAD, lines)
    for peer, version in {r.peer: r.peer_version for r in rows if r.peer_version}.items():
        click.echo(f"{peer}: {version}")


def _line(r: Row) -> list[object]:
    low, high = r.ratio_low, r.ratio_high
    return [
        r.n,
        re.sub(r"^(hsgen:).*[/\\]", r"\1", r.peer) if r.peer else f"hsgen {r.algorithm}",  # of a file no folders
        *(_rate(x) for x in (r.mkeys_per_s, r.min, r.q1, r.q3, r.max, r.device_mkeys_per_s)),
        "-" if r.roof_share is None else f"{100 * r.roof_share:.0f} %",
        "-" if r.hsgen_ratio is None else f"{r.hsgen_ratio:.2f} x",
        "-" if low is None or high is None else f"{low:.3f} to {high:.3f}",
    ]


def _rate(value: float | None) -> str:
    """A rate with three digits or more, and at most one behind the point."""
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"
