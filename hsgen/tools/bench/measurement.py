"""Measures a benchmark: checks the results of hsgen's sorts and the baselines, then times them and a copy in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from hsgen import operations
from hsgen.core.errors import Usage, Wrong
from hsgen.core.interpreter import PLAIN, Options, bit_range
from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines import Run, able, start
from hsgen.tools.bench.candidates import OWN, copying, fill, sorting, wipe
from hsgen.tools.bench.inputs import for_alternative, load
from hsgen.tools.bench.memory import fits
from hsgen.tools.bench.rounds import Beat, clock, timed
from hsgen.tools.bench.rows import Row, Times, rows_of

Spans = Sequence[tuple[int, int]]
"""Ranges of counts; (a, b) means the counts above a, up to and including b."""


def known(sort: Sort, options: Options) -> list[str]:
    """Return the names of the baselines that can perform a sort with these options.

    Most baselines sort only unsigned keys, by all bits, in ascending order; some support values.  No baseline supports
    run boundaries or epilogues.
    """
    plain = operations.of(sort).typed_baselines or not (options.kind or options.descending)
    if bit_range(sort.plan, options) != (0, sort.key.bits) or not plain or sort.signature.value == "index64":
        return []
    if sort.signature.followed:
        return []
    return able(sort)


def check(sort: Sort, options: Options, against: Sequence[str]) -> None:
    """Check that baselines support a sort with these options.

    Raises:
        Usage: a baseline does not support it; the message names the first such baseline.
    """
    have = known(sort, options)
    for name in against:
        if name not in have:
            hint = f"take {', '.join(have)}, or none" if have else "omit baselines"
            raise Usage(f"baseline {name}: cannot sort in this way; {hint} with --against ''")


def measure(
    engine: Engine,
    sizes: Sequence[int],
    against: Sequence[str],
    rounds: int,
    seed: int,
    device: str,
    progress: Callable[[Iterator[Any]], Iterator[Any]] = iter,
    options: Options = PLAIN,
    *,
    alternatives: Mapping[str, Engine] | None = None,
    spans: Mapping[str, Spans] = MappingProxyType({}),
    kinds: Sequence[str] = ("random",),
    segments: Sequence[int] = (0,),
    beat: Beat = lambda: None,
) -> Iterator[list[Row]]:
    """Measure a sort; yield a list of rows for each combination of `sizes`, `segments` and `kinds`.

    The rows are, in this order: the sort of `engine`, alternatives that `against` does not name, the sorts that
    `against` names, and the copy.  In a row, `hsgen_ratio` above 1 means that `engine` is faster.
    alternatives: further sorts of hsgen, by the name in their rows.  Plain sorts sort all segments as one array.
    spans: the ranges of counts at which an alternative is measured; alternatives without ranges are measured at all.

    Raises:
        Usage: a baseline does not support the sort.
        Unavailable: a baseline cannot run here, or a count exceeds the memory; nothing was timed.
        Wrong: a sort returned unsorted keys, or a baseline's process ended.
    """
    sort, sorts, rng = engine.sort, dict(alternatives or {}), np.random.default_rng(seed)
    names = [*(name for name in sorts if name not in against), *against]
    check(sort, options, [name for name in names if name not in sorts])
    _check_alternatives(sorts, sort, sizes, spans)
    fits([engine, *sorts.values()], max(sizes, default=0), replace(options, segment_count=max(segments, default=0)))
    for n, parts, kind in progress(product(sizes, segments, kinds)):
        work = load(sort, n, replace(options, segment_count=parts), rng, kind)
        taking = [name for name in names if name not in sorts or _measures(spans, name, n)]
        racing = {name: sorts[name] for name in taking if name in sorts}
        loads = {engine: work, **{rival: for_alternative(work, sort, rival.sort) for rival in racing.values()}}
        measured = _measured(engine, loads, racing, taking, rounds, beat)
        yield rows_of(engine, device, work, *measured, {x: (o.sort, loads[o].how) for x, o in racing.items()})


def _measures(spans: Mapping[str, Spans], name: str, n: int) -> bool:
    """Return whether the alternative `name` is measured for `n` keys."""
    return name not in spans or any(after < n <= last for after, last in spans[name])


def _measured(
    engine: Engine,
    loads: Mapping[Engine, Load],
    alternatives: Mapping[str, Engine],
    names: Sequence[str],
    rounds: int,
    beat: Beat,
) -> tuple[list[Run], list[Times]]:
    """Check and time `engine`, the runs `names` (baselines or alternatives) and the copy; return the runs and times."""
    work = loads[engine]
    for at in loads:
        fill(at, loads[at])
    with ExitStack() as opened:
        tried = [(sorting(engine, work), work)]
        for name in names:
            at = alternatives.get(name, engine)
            run = sorting(at, loads[at], name) if name in alternatives else _baseline(name, engine, work, opened)
            tried.append((run, loads[at]))
        _check(tried, loads, beat)
        runs = [*(run for run, _ in tried), copying(engine, work)]
        times = timed(runs, rounds, beat, loads if alternatives else {})
        if not times[0].device:
            clock(runs, list(loads), {OWN, *alternatives, runs[-1].name}, times, rounds, beat)
    return runs, times


def _baseline(name: str, engine: Engine, work: Load, opened: ExitStack) -> Run:
    """Start a baseline; it is closed together with `opened`."""
    baseline = start(name, engine, work)
    opened.callback(baseline.close)
    return baseline


def _races(alternative: Sort, sort: Sort) -> bool:
    return alternative.operation == sort.operation or operations.of(alternative).comparable


def _check_alternatives(
    alternatives: Mapping[str, Engine], sort: Sort, sizes: Sequence[int], spans: Mapping[str, Spans]
) -> None:
    """Check that all alternatives sort keys and values of the same types as `sort`, and as many keys as required.

    Raises:
        Usage: an alternative does not.
    """
    for name, theirs in ((name, engine.sort) for name, engine in alternatives.items()):
        if (theirs.label, theirs.signature.value) != (sort.label, sort.signature.value) or not _races(theirs, sort):
            wrong = f"{theirs.name} sorts other keys or values than {sort.name}"
            raise Usage(f"alternative {name}: {wrong}; name one that sorts these")
        greatest = max((n for n in sizes if _measures(spans, name, n)), default=0)
        if greatest > theirs.plan.max_n:
            raise Usage(
                f"alternative {name}: sizes up to {greatest}: {theirs.name} sorts up to {theirs.plan.max_n} keys"
            )


def _check(tried: Sequence[tuple[Run, Load]], loads: Mapping[Engine, Load], beat: Beat) -> None:
    """Overwrite the previous results, run each sort once, and compare its results with the expected results.

    Raises:
        Wrong: a result is wrong.
    """
    for run, work in tried:
        keys = work.expected
        run.prepare()
        for engine, filled in loads.items():
            wipe(engine, filled)
        run.sort()
        if not np.array_equal(run.result(), work.expected):
            raise Wrong(f"{run.name}: {len(keys)} {keys.dtype.name} keys came back unsorted; nothing was timed")
        right = work.values_expected
        if right is not None and (run.values is None or not _alike(run.values(), work, stable=run.stable)):
            raise Wrong(f"{run.name}: the values of {len(keys)} keys came back wrong; nothing was timed")
        report = work.report
        if report is not None and (run.report is None or not np.array_equal(run.report(), report)):
            raise Wrong(f"{run.name}: the run boundaries of {len(keys)} keys came back wrong; nothing was timed")
        beat()


def _alike(values: Any, work: Load, *, stable: bool) -> bool:
    """Return True if values are as expected; if not `stable`, values of equal keys may be in any order."""
    right: Any = work.values_expected
    if stable or np.array_equal(values, right):
        return np.array_equal(values, right)
    mended = [rows[np.lexsort((*rows.T, work.expected))] for rows in (values, right)]
    return np.array_equal(*mended)
