"""The cooperative sort in one launch, in numpy: work-groups run sequentially between two grid barriers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix import Params
from hsgen.operations import oracle
from models.radix.memory import Fault, Memory, Pass, all_digits, digits_of


def shares(p: Params, n: int) -> tuple[int, int]:
    """Return how many work-groups take part for n keys, and how many rows of keys each of them has."""
    least = p.work_group * p.least
    groups = min((n + least - 1) // least, p.groups)
    return groups, (n + groups * p.work_group - 1) // (groups * p.work_group)


def play(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    """Run all passes; each stores keys to the destination, and values alternately to scratch and the destination.

    Raises:
        Fault: a work-group gets more keys than its tile holds, or values are stored where others still read.
    """
    groups, rows = shares(p, at.n)
    if rows > p.items:
        raise Fault(f"grid gets {rows} rows of keys, and lanes hold {p.items}")
    slots = rows * p.work_group
    spans = [slice(min(g * slots, at.n), min(g * slots + slots, at.n)) for g in range(groups)]
    keys, values_at, moved = [m.entries(p, 0, at.n)[0][s] for s in spans], 0, False
    passes = all_digits(p, at)
    by = _dealing(p, m, at, groups) if p.partitioned else None
    if by is not None and _dealt(p, m, at, groups, by):
        return
    for number, (shift, mask) in enumerate(passes):
        digits = [digits_of(k, at, shift, mask) for k in keys]
        table = np.stack([np.bincount(d, minlength=p.radix) for d in digits])
        totals = table.sum(axis=0)
        if (totals == at.n).any():
            continue
        following = 1 if values_at == 2 else 2
        if p.valued:
            m.may_move(values_at, following)
        starts = np.cumsum(totals) - totals
        for g, own in enumerate(digits):
            order = np.argsort(own, kind="stable")
            firsts = np.cumsum(table[g]) - table[g]
            bases = starts + table[:g].sum(axis=0) - firsts
            place = bases[own[order]] + np.arange(len(own))
            values = m.entries(p, values_at, at.n)[1]  # read only now, when others may have stored theirs
            to, last = m.values[following], number + 1 == len(passes)
            m.store(1, place, (keys[g][order], None), replace(at, discard=at.discard and last))
            if values is not None and to is not None:
                to[place] = values[spans[g]][order]
        values_at, moved = following, True
        keys = [m.buffers[1][s].copy() for s in spans]
    _left(p, m, at, moved=moved, values_at=values_at)


def _own(p: Params, groups: int) -> int:
    """Return the digits of a work-group, if keys are distributed by their highest digit."""
    own = p.radix
    while own > 1 and p.radix // own * 2 <= groups:
        own //= 2
    if p.radix % own:
        raise Fault(f"{own} digits per work-group do not divide {p.radix}")
    return own


def _highest(p: Params, m: Memory, at: Pass) -> NDArray[np.intp]:
    """Return the highest digits of the keys."""
    return digits_of(m.entries(p, 0, at.n)[0], at, p.key.bits - (p.radix.bit_length() - 1), p.radix - 1)


def _dealing(p: Params, m: Memory, at: Pass, groups: int) -> NDArray[np.intp] | None:
    """Return the digits by which keys are distributed; None if a sample shows that work-groups would get too many."""
    if not p.quantiles:
        return _highest(p, m, at) if _even(p, m, at, groups) else None
    own, even = _own(p, groups), p.bins // p.radix
    more, said, eighths = (4, 15, 8) if at.n > 1 << 18 else (1, 3, 7)
    kept = min(p.tile // p.bins, 4) if at.n > 1 << 20 else 1
    most = p.bins * kept * (p.tile // 64) // (at.n // 64 + 1) * eighths // 8
    if most * 8 < even * 11 * own * kept or at.n < p.bins:
        return None
    keys = oracle.ordered(m.entries(p, 0, at.n)[0], at.kind, descending=at.descending).astype(object)
    sample = keys[_drawn(at.n, p.bins * more)]
    weights = said * np.bincount(_steps(p, sample), minlength=p.bins) + more
    curve = _curve(p, weights, more * (said + 1))
    if np.bincount(_digits(p, sample[: p.bins * kept], curve) // own).max() > most:
        return None
    return _digits(p, keys, curve)


def _drawn(n: int, count: int) -> NDArray[np.intp]:
    """Return which of `n` keys are drawn: runs of 8 at about equal distances."""
    one, runs, room = np.arange(count), count // 8, n - 7
    return room * (one // 8) // runs + room // runs * (one // 8 * 37 % 64) // 64 + one % 8


def _steps(p: Params, keys: NDArray[Any]) -> NDArray[np.intp]:
    """Return the highest bits of keys, of which a sample is counted."""
    return (keys >> (p.key.bits - (p.bins.bit_length() - 1))).astype(np.intp)


def _curve(p: Params, weights: NDArray[np.intp], scale: int) -> NDArray[np.intp]:
    """Return the share of keys with lesser highest bits, of `radix` times `places`.

    Raises:
        Fault: the weights are those of another number of samples.
    """
    curve = np.concatenate([[0], np.cumsum(weights)]) * p.radix // scale
    if curve[-1] != p.radix * p.bins:
        raise Fault(f"the curve ends at {curve[-1]}, not at {p.radix * p.bins}")
    return curve


def _digits(p: Params, keys: NDArray[Any], curve: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the digits of the shares of keys: between two steps of a curve keys are taken to be even."""
    step, left = _steps(p, keys), p.key.bits - (p.bins.bit_length() - 1)
    low = (keys % (1 << left) * (1 << 32) // (1 << left)).astype(np.int64)
    share = curve[step] + (low * (curve[step + 1] - curve[step]) >> 32)
    return share // p.bins


def _even(p: Params, m: Memory, at: Pass, groups: int) -> bool:
    """Return whether a sample of a key per lane leaves each work-group few enough of them; of pairs about its share."""
    lanes = np.arange(p.work_group)
    each = at.n // p.work_group
    sample = _highest(p, m, at)[each * lanes + each * (lanes * 37 % 64) // 64]
    own, bound = _own(p, groups), p.work_group * p.tile // at.n * 3 // 2
    if p.valued:
        bound = min(bound, 2 * p.work_group * own // p.radix)
    return bool(np.bincount(sample // own).max() <= bound + 12)


def _dealt(p: Params, m: Memory, at: Pass, groups: int, by: NDArray[np.intp]) -> bool:
    """Sort by distributing keys by digits; return whether each work-group holds its keys.  Values are
    distributed to scratch, and sorted from there.

    Raises:
        Fault: keys with one value of the digit go to two work-groups.
    """
    own = _own(p, groups)
    shares_ = np.bincount(by // own, minlength=p.radix // own)
    if (shares_ > p.tile).any():
        return False
    (keys, values), everywhere = m.entries(p, 0, at.n), np.arange(at.n)
    order = np.argsort(by, kind="stable")
    within = _within(keys[order], np.cumsum(shares_) - shares_, shares_, at)
    m.store(1, everywhere, (keys[order], None), replace(at, discard=False))
    m.store(1, everywhere, (keys[order][within], None), at)
    if values is not None:
        m.may_move(0, 2)
        for number, moved in ((2, values[order]), (1, values[order][within])):
            m.store(number, everywhere, (keys, moved), replace(at, discard=True))
    return True


def _within(keys: NDArray[Any], begins: NDArray[np.intp], sizes: NDArray[np.intp], at: Pass) -> NDArray[np.intp]:
    """Return the stable order of the keys of each work-group."""
    parts = []
    for begin, size in zip(begins, sizes, strict=True):
        by = oracle.ordered(keys[begin : begin + size], at.kind, descending=at.descending)
        parts.append(begin + np.argsort(by, kind="stable"))
    return np.concatenate(parts)


def _left(p: Params, m: Memory, at: Pass, *, moved: bool, values_at: int) -> None:
    """Copy to the destination the keys that no pass, or one too few, has moved."""
    places = np.arange(at.n)
    if not moved:
        m.store(1, places, (m.entries(p, 0, at.n)[0], None), at)
    values, to = m.entries(p, values_at, at.n)[1], m.values[1]
    if values_at != 1 and values is not None and to is not None:
        to[: at.n] = values
