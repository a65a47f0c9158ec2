"""Times several runs in interleaved rounds, by the wall clock and by the device's clock."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, islice

from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines import Run
from hsgen.tools.bench.candidates import fill
from hsgen.tools.bench.rows import Times

_TICK = 1e-9  # seconds; the least time that is recorded, because some clocks report 0
_LONG = 0.3  # seconds per engine; if its recompilation takes longer, kernels are recompiled in every third round only
_PASSES = ((8, 1e-3), (4, 4e-3), (2, 2e-2))  # (n, seconds): rounds have n passes if a sort takes less than the seconds

Beat = Callable[[], object]
"""A function that is called after each sort, so that a waiting process knows that this process is alive."""


def timed(runs: Sequence[Run], rounds: int, beat: Beat, renewed: Mapping[Engine, Load]) -> list[Times]:
    """Time all runs in `rounds` rounds; return the seconds of each run.  docs/guides/bench.md defines a round.

    The addresses of code and buffers change the time of a sort by up to 20 %.  Therefore the engines in `renewed` are
    recompiled and get new buffers in each round, or in every third round if compilation takes long.  The spread of the
    times then includes this effect.
    """
    times, orders, every = [Times() for _ in runs], _orders(len(runs)), 1
    for number in range(rounds):
        if number == 0 or (renewed and number % every == 0):
            begin = time.perf_counter()
            _renew(renewed, back=number % 2 == 1)
            _pass(runs, beat)  # not timed: a driver may compile at the first run
            duration = time.perf_counter() - begin
            warm = _pass(runs, beat)
            passes = next((count for count, most in _PASSES if warm[0] < most), 1)
            every = 3 if duration - sum(warm) > _LONG * len(renewed) else every
        measured: list[list[tuple[float, float | None]]] = [[] for _ in runs]
        for order in islice(orders, passes):
            for place in order:
                measured[place].append(_once(runs[place], beat))
        for of, pairs in zip(times, measured, strict=True):
            of.wall.append(statistics.median(wall for wall, _ in pairs))
            device = [seconds for _, seconds in pairs if seconds is not None]
            if device:
                of.device.append(statistics.median(device))
    return times


def _pass(runs: Sequence[Run], beat: Beat) -> list[float]:
    """Run each sort once; return the seconds of each by the wall clock."""
    return [_once(run, beat)[0] for run in runs]


def _renew(engines: Mapping[Engine, Load], *, back: bool) -> None:
    """Recompile engines and allocate new buffers, in the order of `engines`, or in reverse order with `back`."""
    for engine, work in list(engines.items())[:: -1 if back else 1]:
        engine.renew()
        fill(engine, work)


def _orders(count: int) -> Iterator[list[int]]:
    """Yield the order of the runs in each pass, without end.

    The first pass is 0, 1, 2, ..., and the second is the reverse.  The third pass starts with run 1, and run 0 is last;
    the fourth is its reverse; and so on.  After `count` such pairs, each run has been equally often first, last, after
    each other run, and twice in a row.
    """
    for first in cycle(range(count)):
        order = [(first + i) % count for i in range(count)]
        yield order
        yield order[::-1]


def _once(run: Run, beat: Beat) -> tuple[float, float | None]:
    """Run a sort; return its seconds by the wall clock, and by the device's clock (None if it is off)."""
    run.prepare()
    begin = time.perf_counter()
    reported = run.sort()
    wall = time.perf_counter() - begin if reported is None else reported
    device = run.device()
    beat()
    return max(wall, _TICK), None if device is None else max(device, _TICK)


def clock(
    runs: Sequence[Run], engines: Sequence[Engine], names: set[str], times: Sequence[Times], rounds: int, beat: Beat
) -> None:
    """Measure the runs `names` by the device's clock, and add these seconds to `times`.

    Separate rounds are used, because the clock slows sorts down.
    """
    for engine in engines:
        engine.clock(True)
    clocked = [(run, of) for run, of in zip(runs, times, strict=True) if run.name in names]
    for number, order in enumerate(islice(_orders(len(clocked)), rounds + 1)):
        for run, of in (clocked[place] for place in order):
            device = _once(run, beat)[1]
            if number > 0 and device is not None:  # the first round is a warm-up
                of.device.append(device)
    for engine in engines:
        engine.clock(False)
