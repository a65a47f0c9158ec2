"""A radix sort for CPUs: each lane, or each subgroup, counts and scatters the keys of its own chunk one after another.

Each lane or subgroup has its own counters.  As in reduce-scan, the launches of a pass count, scan and scatter; a chunk
takes the place of a tile.  The method is that of a tutorial by Intel.
"""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.radix import rows
from hsgen.algorithms.radix.parts import copy
from hsgen.algorithms.radix.per_thread.kernels import count, kernels, scanned, scatter, single, stream
from hsgen.algorithms.radix.per_thread.params import FIELDS, PerThread, counters, problems, space
from hsgen.algorithms.radix.words import max_n
from hsgen.core.flags import DIRECT
from hsgen.core.plan import Plan, Step

Params = PerThread


def _counted(p: PerThread, number: int) -> list[Step]:
    """Return the plan rows of pass `number`."""
    low, high = p.alone, max_n(p)
    steps = [rows.row(p, count(p), rows.tiles(p), rows.nth(p, number))]
    if not p.folded:
        values = p.radix if p.signature.bit_range else 1 << p.digits[number][1]
        steps.append(rows.row(p, scanned(p), rows.fixed(-(-values // p.work_group)), rows.nth(p, number)))
    cut = min(max(p.stream - 1, low), high) if p.stream else high
    for kernel, least, most in ((scatter, low, cut), (stream, cut, high)):
        if least < most:
            steps.append(rows.row(p, kernel(p), rows.tiles(p), rows.nth(p, number, DIRECT), low=least, high=most))
    return steps


def plan(p: PerThread) -> Plan:
    """Return the launch plan of the sort.  Passes alternate between two buffers, as in `reduce_scan.plan`."""
    steps = rows.single(p, single(p))
    for number in range(len(p.digits)):
        steps += _counted(p, number)
    return rows.plan(p, [*steps, *rows.copied(p, copy(p))])


def moved(p: PerThread, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` reads and writes for `n` keys, if every pass moves all keys."""
    return rows.moved(p, step, n)


def test_counts(p: PerThread, greatest: int) -> set[int]:
    """Return the counts up to `greatest` at which the launches or their work change."""
    return rows.test_counts(p, greatest) | ({p.stream} if p.stream else set())


def fitted(p: PerThread) -> PerThread:
    """Return the parameters, with `sorted_exit` off in a sort by a bit range.

    The kernels of a pass know only the bits of its digit, not the bit range of the call.  The kernels therefore cannot
    check whether keys are in order.
    """
    return replace(p, sorted_exit=p.sorted_exit and not p.signature.bit_range)


def notes(p: PerThread) -> list[tuple[str, str]]:
    """Return the ranker as a (name, text) pair, for `hsgen show`."""
    return [("ranker", "serial" + (f", subgroups of {p.subgroup}" if p.subgroup > 1 else ""))]


__all__ = [
    "FIELDS",
    "Params",
    "PerThread",
    "counters",
    "fitted",
    "kernels",
    "moved",
    "notes",
    "plan",
    "problems",
    "space",
    "test_counts",
]
