"""Buckets of pairs in numpy, and the passes before them, on the scratch of `hsgen.algorithms.radix.hybrid.pairs`.

The on-chip sort uses the keys that kernels make: with slots in place of the bits that a bucket shares.  It is not
stable, so equal keys keep their order only if slots distinguish them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix import Params
from hsgen.algorithms.radix.hybrid import pairs as finish
from hsgen.algorithms.radix.parts import CROWD
from hsgen.operations import oracle
from models.radix.memory import Fault, Memory, Pass


def ordered(p: Params, m: Memory, at: Pass, live: list[bool], place: int = 0, number: int = 0) -> None:
    """Decide which passes move keys, and where to; the keys are in buffer `place`, after `number` passes."""
    left = sum(live)
    more = left % 2
    if place == 0:
        more = int(left == 0) if at.direct else 2 if p.signature.index and left == 0 else more
    more = more if left + more <= len(live) else 0
    first = 1 if at.direct and (left + more) % 2 else 2
    for q, lives in enumerate(live):
        runs = lives or more > 0
        more -= runs and not lives
        m.where[q] = place
        number += runs
        m.order[q] = number if runs else 0
        place = place if not runs else first if place == 0 else 3 - place
    m.where[len(live)] = 1 if place == 0 and not p.signature.index else place


def living(p: Params, m: Memory, at: Pass, histogram: list[NDArray[np.int64]]) -> list[bool]:
    """Return which digits are not constant; for sorted keys, the last ones by which some pass must move keys."""
    if m.unsorted:
        return [not (h == at.n).any() for h in histogram]
    count = 1 if at.direct else 2 if p.signature.index else 0
    return [q >= len(histogram) - count for q in range(len(histogram))]


def _starts(p: Params, m: Memory, at: Pass) -> None:
    digits, top = len(p.digits), p.digits[-1][1]
    live = living(p, m, at, m.histogram)
    full = m.histogram[-1].max() > finish.capacity(p) << max(finish.bits(p, at.n) - top, 0)
    uneven = not m.unsorted or bool(full) or not (live[-1] and live[-2])
    m.words = {"live": np.array(live), "uneven": np.array([uneven]), "rest": np.zeros(0, np.int64)}
    for q in range(2):
        m.order[digits - 2 + q] = 0 if uneven else finish.EARLY + 1 + q
        m.where[digits - 2 + q] = 2 * q
    m.where[digits] = 0 if uneven else 1


def _shared(p: Params, m: Memory, at: Pass) -> NDArray[np.int64]:
    """The highest bits of the keys at the destination, as many as the keys of a bucket share."""
    keys = oracle.ordered(m.buffers[1][: at.n], at.kind, descending=at.descending)
    return (keys >> keys.dtype.type(p.key.bits - finish.bits(p, at.n))).astype(np.int64)


def _bounds(p: Params, m: Memory, at: Pass) -> None:
    if m.where[len(p.digits)] == 0:
        return
    shared = _shared(p, m, at)
    if (np.diff(shared) < 0).any():
        raise Fault("the keys are not sorted by their highest bits")
    m.words["bounds"] = np.searchsorted(shared, np.arange((1 << finish.bits(p, at.n)) + 1))
    if (np.diff(m.words["bounds"]) > finish.capacity(p)).any():
        m.words["uneven"][0] = True


def _sorted(p: Params, m: Memory, at: Pass, bucket: int, *, crowded: bool) -> bool:
    """Sort a bucket; without `crowded` only if it has no crowded position: return whether it did."""
    begin, end = (int(x) for x in m.words["bounds"][bucket : bucket + 2])
    slots = np.arange(end - begin)
    keys, values = m.buffers[1][begin:end].copy(), m.values[1]
    by = oracle.ordered(keys, at.kind, descending=at.descending)
    one, bits = by.dtype.type, finish.bits(p, at.n)
    slotted = by << one(bits) | slots.astype(by.dtype)
    places = (slotted >> one(p.key.bits - p.pair_bucket.bins.bit_length() + 1)).astype(np.int64)
    if not crowded and len(keys) and np.bincount(places).max() > CROWD:
        return False
    order = np.lexsort((-slots, slotted))  # equal elements come in the wrong order
    taken = (slotted[order] & one((1 << finish.slot_bits(p)) - 1)).astype(np.intp)
    held = None if values is None else values[begin:end].copy()
    m.store(1, begin + slots, (keys[taken], None if held is None else held[taken]), at)
    return True


def _finish(p: Params, m: Memory, at: Pass) -> None:
    if not m.words["uneven"][0]:
        left = [b for b in range(1 << finish.bits(p, at.n)) if not _sorted(p, m, at, b, crowded=False)]
        m.words["rest"] = np.array(left, np.int64)


def _rest(p: Params, m: Memory, at: Pass) -> None:
    for bucket in m.words["rest"]:
        _sorted(p, m, at, int(bucket), crowded=True)


def _again(p: Params, m: Memory, at: Pass) -> None:
    m.order = dict.fromkeys(range(len(p.digits)), 0)
    m.drawn = {}
    if m.words["uneven"][0]:
        place = m.where[len(p.digits)]
        ordered(p, m, at, [bool(x) for x in m.words["live"]], place, 2 if place else 0)


def _needed(p: Params, name: str, n: int) -> int:
    """The number of work-groups that the kernel requires."""
    buckets = 1 << finish.bits(p, n)
    return {
        "pair_bucket": buckets,
        "bucket_bounds": buckets // p.work_group + 1,
        "pair_bucket_rest": finish.groups(p),
    }.get(name, 1)


def play(name: str) -> Callable[[Params, Memory, Pass, Collection[int]], None]:
    """Return a function that executes a kernel.

    It raises:
        Fault: there are too few work-groups, or keys are in the wrong buffer.
    """
    kernel = {
        "ahead_starts": _starts,
        "bucket_bounds": _bounds,
        "pair_bucket": _finish,
        "pair_bucket_rest": _rest,
        "ahead_fallback": _again,
    }[name]

    def played(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
        if at.groups < (least := _needed(p, name, at.n)):
            raise Fault(f"{name} gets {at.groups} work-groups and needs {least}")
        kernel(p, m, at)

    return played


PLAY = {
    name: play(name) for name in ("ahead_starts", "bucket_bounds", "pair_bucket", "pair_bucket_rest", "ahead_fallback")
}
KERNELS = (*PLAY, "ahead_begin", "ahead_histogram", "ahead_decide")
"""The kernels of buckets of pairs, where passes look back or count."""
