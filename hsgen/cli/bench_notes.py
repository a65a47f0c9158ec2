"""Explanations of a benchmark's ratios, as lines below its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hsgen.apis import APIS
from hsgen.cli.bench_sorts import PREFIX
from hsgen.core.interpreter import Options, launches
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.targets.target import AUTO
from hsgen.tools.bench import Row
from hsgen.tools.bench.candidates import COPY

AIM = 0.95
"""The least speed of a plan, relative to each of its sorts alone, at which the plan needs no tuning."""
NUMPY = "numpy"


def of_plan(sort: Sort, rows: Sequence[Row]) -> list[str]:
    """Return a line that compares a plan with each of its sorts alone, if these sorts were measured."""
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
    """Return a line for each reason why numpy, on one core of the host, is faster than a sort at some counts."""
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
