"""Each lane, or each subgroup, walks a chunk of keys with counters of its own: for CPUs, and as in Intel's tutorial."""

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
    """The rows of a pass."""
    low, high = p.alone, max_n(p)
    made = [rows.row(p, count(p), rows.tiles(p), rows.nth(p, number))]
    if not p.folded:
        values = p.radix if p.signature.bit_range else 1 << p.digits[number][1]
        made.append(rows.row(p, scanned(p), rows.fixed(-(-values // p.work_group)), rows.nth(p, number)))
    cut = min(max(p.stream - 1, low), high) if p.stream else high
    for kernel, least, most in ((scatter, low, cut), (stream, cut, high)):
        if least < most:
            made.append(rows.row(p, kernel(p), rows.tiles(p), rows.nth(p, number, DIRECT), low=least, high=most))
    return made


def plan(p: PerThread) -> Plan:
    """Return the whole sort: passes from buffer to buffer as of `reduce_scan.plan`."""
    steps = rows.single(p, single(p))
    for number in range(len(p.digits)):
        steps += _counted(p, number)
    return rows.plan(p, [*steps, *rows.copied(p, copy(p))])


def moved(p: PerThread, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` for `n` keys reads and writes where no digit is constant."""
    return rows.moved(p, step, n)


def test_counts(p: PerThread, greatest: int) -> set[int]:
    """Return the counts up to `greatest` at which the sort changes its way."""
    return rows.test_counts(p, greatest) | ({p.stream} if p.stream else set())


def fitted(p: PerThread) -> PerThread:
    """Return the shape for its key and form: kernels of a pass do not know a whole range of bits."""
    return replace(p, sorted_exit=p.sorted_exit and not p.signature.bit_range)


def notes(p: PerThread) -> list[tuple[str, str]]:
    """Return derived values for people."""
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
