"""Prints the rows of `hsgen bench` as a table, JSON or CSV, and draws the plot."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from io import StringIO
from itertools import groupby
from typing import Any, TypeVar

import click

from hsgen import operations
from hsgen.apis import APIS
from hsgen.cli.bench_baselines import PREFIX
from hsgen.cli.options import gathered, json_option
from hsgen.cli.output import emit_document, emit_table, emit_text
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, launches
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.targets.target import AUTO
from hsgen.tools.bench import Row, candidate, document, plot
from hsgen.tools.bench.candidates import COPY

T = TypeVar("T")

AIM = 0.95
"""The sort "auto" selects among other sorts by count.  If its speed is less than this fraction of the speed of one of
them alone, a note suggests `hsgen tune`.
"""
NUMPY = "numpy"
HEAD = ["n", "what", "Mkeys/s", "min", "q1", "q3", "max", "device", "of roof", "hsgen is", "90 % interval"]


@dataclass(frozen=True, slots=True)
class Output:
    """How to print the rows of a benchmark, and the file for their plot."""

    as_json: bool
    as_csv: bool
    picture: str | None

    def check(self) -> None:
        """Check that only one format is selected.

        Raises:
            Usage: both formats are selected.
        """
        if self.as_json and self.as_csv:
            raise Usage("--json and --csv: both print rows; give one of them")

    def check_picture(self) -> None:
        """Check that the plot can be written, before anything is measured.

        Raises:
            Usage: the file has another suffix, or its folder does not exist.
            Unavailable: matplotlib is not installed.
        """
        if self.picture:
            plot.check(self.picture)

    def emit(self, rows: Sequence[Row], *, rounds: int, seed: int, notes: Sequence[str] = ()) -> None:
        """Print the rows, and draw the plot; `notes` are lines that are printed below a table."""
        if self.as_json:
            emit_document(document(rows, rounds=rounds, seed=seed), "rows")
        elif self.as_csv:
            click.echo(_csv(rows), nl=False)
        else:
            _table(rows)
            for note in notes:
                emit_text(note)
        if self.picture:
            plot.save([row.record() for row in rows], self.picture)


def output_options(command: Callable[..., T]) -> Callable[..., T]:
    """Add the options of `Output` to a command, which receives it as `output`."""
    return gathered(
        "output",
        Output,
        json_option,
        click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of a table."),
        click.option(
            "--plot", "picture", metavar="FILE", help="Also plot throughput against the count: FILE.svg or FILE.png."
        ),
    )(command)


def _csv(rows: Sequence[Row]) -> str:
    """Return the rows as CSV, with the names of the fields in the first line.

    None becomes an empty cell.  True and False are written as in JSON, and bit ranges in the form 0..32.
    """
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
    """Return the title of a table: the values that are equal in all its rows."""
    words = [row.target, row.key + " down" * (row.order == "descending"), row.value or "no values", row.kind]
    words += [f"bits {row.bits[0]}..{row.bits[1]}"] if row.bits != [0, int(row.key[1:])] else []
    words += ["device-side count"] * row.device_count + ["run boundaries"] * row.run_boundaries
    words += ["with an epilogue"] * row.epilogue
    workload = operations.EVERY[row.task].workload
    words += [workload] * bool(workload)
    words += [f"{row.segments} segments{' of equal length' * (row.layout == 'equal')}"] if row.segments else []
    words += [operations.EVERY[row.task].take_label.format(row.take)] if row.take else []
    return "  ".join(words)


def _table(rows: Sequence[Row]) -> None:
    """Print a table for each sort, call and kind of input, in the order of their first rows."""
    tables: dict[str, list[Row]] = {}
    for row in rows:
        tables.setdefault(title(row), []).append(row)
    emit_text(f"{rows[0].api} on {rows[0].device}, {rows[0].runs} rounds")
    for head, of_table in tables.items():
        click.echo()
        emit_text(head)
        lines = []
        for _, group in groupby(of_table, lambda r: r.n):
            lines += [_line(row) for row in group]
        emit_table(HEAD, lines, {"what": lambda cell: "bold" * cell.startswith("hsgen ")})
    for baseline, version in {r.baseline: r.baseline_version for r in rows if r.baseline_version}.items():
        emit_text(f"{baseline}: {version}", 2)


def _line(r: Row) -> list[object]:
    low, high = r.ratio_low, r.ratio_high
    return [
        r.n,
        candidate(r.record()),
        *(_rate(x) for x in (r.mkeys_per_s, r.min, r.q1, r.q3, r.max, r.device_mkeys_per_s)),
        "-" if r.roof_share is None else f"{100 * r.roof_share:.0f} %",
        "-" if r.hsgen_ratio is None else f"{r.hsgen_ratio:.2f} x",
        "-" if low is None or high is None else f"{low:.3f} to {high:.3f}",
    ]


def _rate(value: float | None) -> str:
    """Return a rate as text; a rate below 1000 has one to three decimals."""
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def of_plan(sort: Sort, rows: Sequence[Row]) -> list[str]:
    """Return a line that compares the sort "auto" with the sorts among which it selects; no line if none of these was
    measured alone.
    """
    alone = {f"{PREFIX}{part.label}" for part in sort.parts} if sort.algorithm == AUTO else set()
    ratios = [(r.hsgen_ratio, r) for r in rows if r.baseline in alone and r.hsgen_ratio is not None]
    if not ratios:
        return []
    least, row = min(ratios, key=lambda pair: pair[0])
    label = str(row.baseline).removeprefix(PREFIX)
    text = f"{sort.name}: at least {least:.2f} times as fast as each of its sorts alone ({label} at {row.n} keys)"
    if least < AIM:
        text += f"; below {AIM}, so `hsgen tune -t {sort.target}` on a quiet machine may find better ranges"
    return [text]


def of_host(sort: Sort, rows: Sequence[Row], options: Options, host: Host) -> list[str]:
    """Return lines that explain why numpy, on one core of the host, is faster than a sort at some counts.

    One line lists the counts at which launches take at least half of the sort's time.  A second line lists the other
    counts.  There is no line if numpy is never faster.
    """
    times = {(r.n, r.kind, r.segments, r.baseline): r.seconds for r in rows}
    waiting: set[int] = set()
    working: set[int] = set()
    for row in rows:
        if row.baseline == NUMPY and row.hsgen_ratio is not None and row.hsgen_ratio < 1:
            steps = launches(sort.plan, row.n, in_place=False, how=replace(options, device_count=False))
            waits = len(list(steps)) * times[row.n, row.kind, row.segments, COPY]
            half = times[row.n, row.kind, row.segments, None] / 2
            (waiting if waits >= half else working).add(row.n)
    out = []
    if waiting:
        latency = 1e6 * min(r.seconds for r in rows if r.baseline == COPY)
        out.append(
            f"{sort.name}: numpy is faster at {_counts(waiting)} keys, where launches are at least half of the sort's "
            f"time: a copy, which is one launch, takes {latency:.0f} us"
        )
    if working:
        same = " on the same CPU" if host.type == "cpu" else ""
        out.append(
            f"{sort.name}: numpy is faster at {_counts(working)} keys: numpy has code for this CPU's vector "
            f"instructions, and hsgen runs portable {APIS[host.api].language}{same}"
        )
    return out


def _counts(counts: set[int]) -> str:
    return ", ".join(map(str, sorted(counts)))
