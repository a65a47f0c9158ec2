"""Measuring: sorts, rivals, peers and a copy take turns, and every one is checked before anything is timed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import cycle, islice, product
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
from hsgen.tools.bench.inputs import for_rival, load
from hsgen.tools.bench.memory import fits
from hsgen.tools.bench.rows import Row, Times, rows_of

_TICK = 1e-9  # seconds: what a clock may show as nothing
_LONG = 0.3  # seconds: what new code for an engine may take to be made in each round
_PASSES = ((8, 1e-3), (4, 4e-3), (2, 2e-2))  # passes in a round where a sort takes less than these seconds

Beat = Callable[[], object]
"""Called after each sort, so that whoever waits knows that something goes on."""


def known(sort: Sort, how: Options) -> list[str]:
    """Return the peers that can sort in this way: whole unsigned keys in ascending order, some also with values.

    None of them tells where keys change, or does what an epilogue does.
    """
    if (
        bit_range(sort.plan, how) != (0, sort.key.bits)
        or how.kind
        or how.descending
        or sort.signature.value == "index64"
    ):
        return []
    if sort.signature.followed:
        return []
    return able(sort)


def check(sort: Sort, how: Options, against: Sequence[str]) -> None:
    """Refuse peers that cannot sort in this way.

    Raises:
        Usage: that is said of the first.
    """
    have = known(sort, how)
    for name in against:
        if name not in have:
            hint = f"take {', '.join(have)}, or none" if have else "leave peers away"
            raise Usage(f"peer {name}: cannot sort in this way; {hint} with --against ''")


def measure(
    engine: Engine,
    sizes: Sequence[int],
    against: Sequence[str],
    rounds: int,
    seed: int,
    device: str,
    progress: Callable[[Iterator[Any]], Iterator[Any]] = iter,
    how: Options = PLAIN,
    *,
    rivals: Mapping[str, Engine] | None = None,
    kinds: Sequence[str] = ("random",),
    segments: Sequence[int] = (0,),
    beat: Beat = lambda: None,
) -> Iterator[list[Row]]:
    """Yield the rows of each kind of input and count: hsgen's, then those of rivals and peers in the order of
    `against`, then the copy's.  Counts come one after the other, each with all numbers of `segments`, which a
    segmented sort alone has, and all kinds.

    `rivals` are other sorts of hsgen by the names of their rows, each an engine on the same device whose sort takes
    the same keys and values; those that `against` does not name come first.  One that is a plain sort beside something
    else sorts all of the keys.  A rival's `hsgen_ratio` with its interval compares it with `engine`: above 1 that one
    is faster.  `device` is a label for the rows.

    Raises:
        Usage: a peer or a rival cannot sort in this way.
        Unavailable: a peer cannot run here, or a count does not fit the memory; raised before anything is timed.
        Wrong: a sort, hsgen's or a peer's, returned unsorted keys, or a peer's own process ended.
    """
    sort, others = engine.sort, dict(rivals or {})
    names = [*(name for name in others if name not in against), *against]
    check(sort, how, [name for name in names if name not in others])
    for name, other in others.items():
        _check_rival(name, other.sort, sort, max(sizes, default=0))
    fits([engine, *others.values()], max(sizes, default=0), replace(how, segment_count=max(segments, default=0)))
    rng = np.random.default_rng(seed)
    for n, count, kind in progress(product(sizes, segments, kinds)):
        work = load(sort, n, replace(how, segment_count=count), rng, kind)
        loads = {engine: work, **{other: for_rival(work, sort, other.sort) for other in others.values()}}
        runs, times = _measured(engine, loads, others, names, rounds, beat)
        called = {name: (other.sort, loads[other].how) for name, other in others.items()}
        yield rows_of(engine, device, work, runs, times, called)


def _measured(
    engine: Engine,
    loads: Mapping[Engine, Load],
    others: Mapping[str, Engine],
    names: Sequence[str],
    rounds: int,
    beat: Beat,
) -> tuple[list[Run], list[Times]]:
    """The contestants of these names, which were checked first, and their times: hsgen's own first, the copy last."""
    work = loads[engine]
    for some in loads:
        fill(some, loads[some])
    with ExitStack() as opened:
        tried = [(sorting(engine, work), work)]
        for name in names:
            at = others.get(name, engine)
            run = sorting(at, loads[at], name) if name in others else _peer(name, engine, work, opened)
            tried.append((run, loads[at]))
        _check(tried, loads, beat)
        runs = [*(run for run, _ in tried), copying(engine, work)]
        times = _time(runs, rounds, beat, loads if others else {})
        if not times[0].device:
            _clock(runs, list(loads), {OWN, *others, runs[-1].name}, times, rounds, beat)
    return runs, times


def _peer(name: str, engine: Engine, work: Load, opened: ExitStack) -> Run:
    """Set a peer up; it is closed with what is `opened`."""
    peer = start(name, engine, work)
    opened.callback(peer.close)
    return peer


def _races(theirs: Sort, own: Sort) -> bool:
    return theirs.operation == own.operation or operations.of(theirs).comparable


def _check_rival(name: str, theirs: Sort, own: Sort, greatest: int) -> None:
    """Refuse a rival that sorts something else, or less.

    Raises:
        Usage: it does.
    """
    if (theirs.label, theirs.signature.value) != (own.label, own.signature.value) or not _races(theirs, own):
        raise Usage(
            f"rival {name}: {theirs.name} sorts other keys or values than {own.name}; name one that sorts these"
        )
    if greatest > theirs.plan.max_n:
        raise Usage(f"rival {name}: sizes up to {greatest}: {theirs.name} sorts up to {theirs.plan.max_n} keys")


def _check(tried: Sequence[tuple[Run, Load]], loads: Mapping[Engine, Load], beat: Beat) -> None:
    """Let each sort once, and look at its keys and values; the results of the one before are wiped out."""
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
        told = work.report
        if told is not None and (run.report is None or not np.array_equal(run.report(), told)):
            raise Wrong(f"{run.name}: where {len(keys)} keys change was told wrong; nothing was timed")
        beat()


def _alike(values: Any, work: Load, *, stable: bool) -> bool:
    """Whether values are those expected, in any order among equal keys where a sort is not stable."""
    right: Any = work.values_expected
    if stable or np.array_equal(values, right):
        return np.array_equal(values, right)
    mended = [some[np.lexsort((*some.T, work.expected))] for some in (values, right)]
    return np.array_equal(*mended)


def _time(runs: Sequence[Run], rounds: int, beat: Beat, renewed: Mapping[Engine, Load]) -> list[Times]:
    """The times of each run in every round; see docs/guides/bench.md for what a round is.

    Where code and memory happen to lie makes a sort faster or slower by up to a fifth, for as long as it stays there.
    So `renewed` engines get new code and new buffers in each round, or, where that takes long, in each third:
    chance is then a part of the spread.
    """
    times, orders, every = [Times() for _ in runs], _orders(len(runs)), 1
    for number in range(rounds):
        if number == 0 or (renewed and number % every == 0):
            begin = time.perf_counter()
            _renew(renewed, back=number % 2 == 1)
            _pass(runs, beat)  # drivers may compile only now
            made = time.perf_counter() - begin
            warm = _pass(runs, beat)
            passes = next((count for count, most in _PASSES if warm[0] < most), 1)
            every = 3 if made - sum(warm) > _LONG * len(renewed) else every
        found: list[list[tuple[float, float | None]]] = [[] for _ in runs]
        for order in islice(orders, passes):
            for place in order:
                found[place].append(_once(runs[place], beat))
        for of, some in zip(times, found, strict=True):
            of.wall.append(statistics.median(wall for wall, _ in some))
            device = [seconds for _, seconds in some if seconds is not None]
            if device:
                of.device.append(statistics.median(device))
    return times


def _pass(runs: Sequence[Run], beat: Beat) -> list[float]:
    """Let each sort once, and return the seconds."""
    return [_once(run, beat)[0] for run in runs]


def _renew(engines: Mapping[Engine, Load], *, back: bool) -> None:
    """Give engines new code and new buffers, from the last to the first where it goes back."""
    for engine, work in list(engines.items())[:: -1 if back else 1]:
        engine.renew()
        fill(engine, work)


def _orders(count: int) -> Iterator[list[int]]:
    """Yield the order of each pass, without end: forth and back, then forth and back from another one on.

    Nobody is first, last, behind the same one or twice in a row more often than others.
    """
    for first in cycle(range(count)):
        order = [(first + i) % count for i in range(count)]
        yield order
        yield order[::-1]


def _once(run: Run, beat: Beat) -> tuple[float, float | None]:
    """The seconds of one sort by the clock on the wall, and by the device's where that runs."""
    run.prepare()
    begin = time.perf_counter()
    own = run.sort()
    wall = time.perf_counter() - begin if own is None else own
    device = run.device()
    beat()
    return max(wall, _TICK), None if device is None else max(device, _TICK)


def _clock(
    runs: Sequence[Run], engines: Sequence[Engine], names: set[str], times: Sequence[Times], rounds: int, beat: Beat
) -> None:
    """Have the engines time what they run, in rounds of their own, since their clocks slow what is timed by others."""
    for engine in engines:
        engine.clock(True)
    clocked = [(run, found) for run, found in zip(runs, times, strict=True) if run.name in names]
    for number, order in enumerate(islice(_orders(len(clocked)), rounds + 1)):
        for run, found in (clocked[place] for place in order):
            device = _once(run, beat)[1]
            if number > 0 and device is not None:  # the first is a warm-up
                found.device.append(device)
    for engine in engines:
        engine.clock(False)
