"""Computes the rows of a benchmark from times: rates and their spread, the bandwidth roof, and ratios."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from hsgen import __version__, operations
from hsgen.core.interpreter import Options, bit_range, launches
from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.targets import assembly
from hsgen.tools.bench.baselines import Run
from hsgen.tools.bench.candidates import OWN
from hsgen.tools.bench.intervals import median_interval

SCHEMA = 2
"""The version of the format of `document`.  Version 1 was a list of rows without a head."""


@dataclass(slots=True)
class Times:
    """The seconds of one run in each round, by the wall clock and by the device's clock.

    `device` is empty if the device does not report times.
    """

    wall: list[float] = field(default_factory=list)
    device: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a benchmark; docs/reference/json.md defines the fields.

    Rates are in Mkeys/s, times in seconds.  A field is None if it does not apply, or if its value is unknown.
    """

    target: str
    api: str
    device: str
    key: str
    value: str | None
    order: str
    bits: list[int]
    device_count: bool
    kind: str
    n: int
    algorithm: str | None
    baseline: str | None
    baseline_version: str | None
    runs: int
    mkeys_per_s: float
    min: float
    q1: float
    q3: float
    max: float
    seconds: float
    device_mkeys_per_s: float | None
    device_min: float | None
    device_q1: float | None
    device_q3: float | None
    device_max: float | None
    device_seconds: float | None
    bytes: int | None
    roof_share: float | None
    roof_mkeys_per_s: float | None
    roof_clock: str | None
    hsgen_ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    task: str = "sort"
    segments: int | None = None
    layout: str | None = None
    run_boundaries: bool = False
    epilogue: bool = False
    take: int | None = None

    def record(self) -> dict[str, Any]:
        """Return the row as an object of JSON."""
        return asdict(self)


def candidate(row: Mapping[str, Any]) -> str:
    """Return the name of the sort or baseline that a row (`Row.record`) is about.

    If the name contains the path of a target file, its folder is removed.
    """
    return re.sub(r"^(hsgen:).*[/\\]", r"\1", row["baseline"]) if row["baseline"] else f"hsgen {row['algorithm']}"


def document(rows: Sequence[Row], *, rounds: int, seed: int) -> dict[str, Any]:
    """Return the document that `hsgen bench --json` prints: the rows, and a head with what is common to all rows."""
    return {
        "schema": SCHEMA,
        "hsgen": __version__,
        "target": rows[0].target,
        "api": rows[0].api,
        "device": rows[0].device,
        "rounds": rounds,
        "seed": seed,
        "rows": [row.record() for row in rows],
    }


def rows_of(
    engine: Engine,
    device: str,
    work: Load,
    runs: Sequence[Run],
    times: Sequence[Times],
    alternatives: Mapping[str, tuple[Sort, Options]],
) -> list[Row]:
    """Return a row for each run; the first run must be hsgen's measured sort, and the last the copy.

    `alternatives` are the sort and the options of each further sort of hsgen, by the name of its run.
    """
    sort, options = engine.sort, work.how
    row_of = partial(_row_of(sort, work), target=sort.target, api=engine.api, device=device)
    rows = []
    for run, own_times in zip(runs, times, strict=True):
        sorter, called = (sort, options) if run.name == OWN else alternatives.get(run.name, (None, options))
        rows.append(
            row_of(
                algorithm=sorter.algorithm if sorter else None,
                baseline=None if run.name == OWN else run.name,
                baseline_version=run.version,
                runs=len(own_times.wall),
                **_rates(work.n, own_times.wall, ""),
                **_rates(work.n, own_times.device, "device_"),
                **_roof(sorter, called, work, own_times, times[-1], last=run is runs[-1]),
                **_ratio(own_times.wall, times[0].wall, own_row=run.name == OWN),
            )
        )
    return rows


def _row_of(sort: Sort, work: Load) -> Callable[..., Row]:
    """Return a constructor of rows in which all fields about the call are set; they are equal in all rows of `work`."""
    options, selects = work.how, operations.of(sort).selects
    segmented = work.offsets is not None or selects
    begin, end = (bit - sort.plan.first_bit for bit in bit_range(sort.plan, options))
    return partial(
        Row,
        key=f"{'uif'[options.kind]}{sort.label[1:]}",
        value=None if sort.signature.value == "none" else sort.signature.value,
        order="descending" if options.descending else "ascending",
        bits=[begin, end],
        device_count=options.device_count,
        kind=work.kind,
        n=work.n,
        task=sort.operation,
        segments=options.segment_count if segmented else None,
        layout=("equal" if options.rows or selects else "random") if segmented else None,
        take=options.take if selects else None,
        run_boundaries=sort.signature.run_boundaries,
        epilogue=bool(sort.signature.epilogue),
    )


def _rates(n: int, seconds: Sequence[float], prefix: str) -> dict[str, Any]:
    """Return the fields with the rates of `n` keys and their spread; the name of each field begins with `prefix`."""
    if not seconds:
        return {prefix + name: None for name in ("mkeys_per_s", "min", "q1", "q3", "max", "seconds")}
    rates = n / np.array(seconds) / 1e6
    least, q1, median, q3, most = (_round(float(x)) for x in np.quantile(rates, [0, 0.25, 0.5, 0.75, 1]))
    quantiles = {"mkeys_per_s": median, "min": least, "q1": q1, "q3": q3, "max": most}
    return {
        prefix + name: value for name, value in {**quantiles, "seconds": _round(statistics.median(seconds))}.items()
    }


def _roof(
    sorter: Sort | None, options: Options, work: Load, times: Times, copy: Times, *, last: bool
) -> dict[str, Any]:
    """Return the fields about the bandwidth roof: the bytes that a sort moves, and its share of the copy's bandwidth.

    The times are those of the device's clock if it timed both the sort and the copy; otherwise those of the wall clock.
    """
    if sorter is None:
        moved = 2 * work.copied if last else None
        return {"bytes": moved, "roof_share": None, "roof_mkeys_per_s": None, "roof_clock": None}
    clock = "device" if times.device and copy.device else "wall"
    sort_seconds, copy_seconds = (times.device, copy.device) if clock == "device" else (times.wall, copy.wall)
    bandwidth = 2 * work.copied / statistics.median(copy_seconds)
    moved = _moved(sorter, work.n, options)
    least = moved / bandwidth  # seconds
    roof = _round(work.n / least / 1e6) if moved else None
    share = round(least / statistics.median(sort_seconds), 4)
    return {"bytes": moved, "roof_share": share, "roof_mkeys_per_s": roof, "roof_clock": clock}


def _ratio(seconds: Sequence[float], hsgen_seconds: Sequence[float], *, own_row: bool) -> dict[str, Any]:
    """Return the fields with the ratio of hsgen's rate to the rate of another run.

    The ratio is computed in each round.  The fields have the median of these ratios, and its confidence interval.
    """
    if own_row:
        return {"hsgen_ratio": None, "ratio_low": None, "ratio_high": None}
    ratios = [s / h for s, h in zip(seconds, hsgen_seconds, strict=True)]
    low, high = median_interval(ratios) or (None, None)
    ratio = _round(statistics.median(ratios))
    return {"hsgen_ratio": ratio, "ratio_low": low and _round(low), "ratio_high": high and _round(high)}


def _round(value: float) -> float:
    """Return a value rounded to 6 significant digits."""
    return float(f"{value:.6g}")


def _moved(sort: Sort, n: int, options: Options) -> int:
    """Return the bytes that a call reads and writes; a device-side count is assumed to be `n`."""
    if (known := operations.of(sort).moved(sort, n, options)) is not None:
        return known
    options = replace(options, device_count=False)
    return sum(assembly.moved(sort, x.step, n) for x in launches(sort.plan, n, in_place=False, how=options))
