"""Buckets by the highest digits, which work-groups then sort on chip; what buckets do not hold goes by look-back.

After Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs" (SIGMOD 2017).  Keys alone are
dealt out twice (`buckets`); keys with values are passed by two digits in their order (`pairs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import onesweep, reduce_scan, rows, single
from hsgen.algorithms.radix.hybrid import buckets, buckets_plan, pairs, pairs_plan
from hsgen.algorithms.radix.hybrid.params import KEYS, NO_KEYS, NO_PAIRS, PAIRS, Hybrid
from hsgen.algorithms.radix.parts import copy
from hsgen.algorithms.radix.rankers import digit_arrays, rank_arrays
from hsgen.algorithms.radix.words import max_n, words
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Plan, Step

FIELDS = {**KEYS, **PAIRS}
"""What its own table has; the look-back behind it has another."""

Params = Hybrid


def kernels(p: Hybrid) -> tuple[Kernel, ...]:
    """Return every kernel, in the order in which a sort uses them."""
    made = [single.kernel(single.of(p))] if p.alone else []
    if p.msd:
        made += buckets.kernels(p, rank_arrays(buckets.rest(p)))
    made += onesweep.swept(p)
    if p.finish:
        made += pairs.kernels(p, words(p).finish, digit_arrays(p), rank_arrays(pairs.rest(p)))
    return (*made, *onesweep.again(p))


def plan(p: Hybrid) -> Plan:
    """Return the whole sort: that of `onesweep.plan`, with the rows of buckets before it, or within it for pairs."""
    high, own = max_n(p), kernels(p)
    steps = rows.single(p, single.kernel(single.of(p)))
    steps += buckets_plan.steps(p, own, high) if p.msd else []
    steps += onesweep.head(p)
    least, most = pairs_plan.span(p, high) if p.finish else (high, high)
    steps += [*onesweep.started(p, p.alone, least), *onesweep.started(p, most, high)]
    if least < most:
        steps += onesweep.started(p, least, most, "part") if p.signature.bit_range else []
        steps += pairs_plan.steps(p, own, high)
    return reduce_scan.joined(p, rows.plan(p, [*steps, *onesweep.passes(p), *rows.copied(p, copy(p))]))


def moved(p: Hybrid, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` for `n` keys reads and writes where buckets hold them."""
    if step.kernel in ("bucket_rest", "finish_rest"):
        return 0
    if p.msd and (dealt := buckets_plan.moved(p, step.kernel, n)) is not None:
        return dealt
    if p.finish and (ended := pairs_plan.moved(p, step, n)) is not None:
        return ended
    return onesweep.moved(p, step, n)


def test_counts(p: Hybrid, greatest: int) -> set[int]:
    """Return the counts up to `greatest` at which the sort changes its way."""
    found = onesweep.test_counts(p, greatest)
    found |= set(buckets_plan.test_counts(p)) if p.msd else set()
    return found | (set(pairs_plan.test_counts(p)) if p.finish else set())


def problems(p: Hybrid, device: Device) -> Iterator[Problem]:
    """Yield what cannot work; of buckets only where the look-back behind them can."""
    behind = list(onesweep.problems(p, device))
    yield from behind or [*buckets_plan.problems(p, device), *pairs_plan.problems(p, device)]


def fitted(p: Hybrid) -> Hybrid:
    """Return the shape for its key and form: keys of a bucket come in any order, and narrow ones have few passes."""
    few = p.key.bytes < 4
    none = {
        **(NO_KEYS if p.signature.value != "none" or few else {}),
        **(NO_PAIRS if p.signature.value == "packed" or few else {}),
    }
    return replace(p, large=p.large and not (p.signature.device_count or p.signature.followed), **none)


def notes(p: Hybrid) -> list[tuple[str, str]]:
    """Return derived values for people."""
    return [
        *onesweep.notes(p),
        *([("buckets", _keys(p))] if p.msd else []),
        *([("buckets of pairs", _pairs(p))] if p.finish else []),
    ]


def _keys(p: Hybrid) -> str:
    dealt = f"{p.msd_group} lanes x {p.msd_items} = {p.msd_group * p.msd_items} keys dealt at once"
    held = f"{p.bucket_group} lanes x {p.bucket_items} = {p.bucket_group * p.bucket_items} keys at most"
    return f"from {max(p.msd_from, p.alone) + 1} keys on, {dealt}; a bucket {held}, {p.bucket_places} places"


def _pairs(p: Hybrid) -> str:
    held = f"{p.finish_group} lanes x {p.finish_items} = {p.finish_group * p.finish_items} pairs at most"
    return f"from {max(p.finish_from, p.alone) + 1} pairs on; a bucket {held}, {p.finish_places} places"
