"""Pieces of buckets in numpy, where a sample of the keys says how many digits are passed first.

On the scratch of `hsgen.algorithms.radix.hybrid.pairs`, and the table of templates/radix/hybrid/pieces.j2.  The on-chip
sort of pairs is that of `models.radix.pair_buckets`.  The sort is not stable either, so equal keys keep their order
only by their slots.  Keys alone are first partitioned into buckets (`models.radix.key_buckets`); where buckets were not
tried, keys are passed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix import Params
from hsgen.algorithms.radix.hybrid import buckets, pairs, pieces
from hsgen.algorithms.radix.parts import SQUARES
from hsgen.algorithms.radix.words import words
from hsgen.core.interpreter import offset
from hsgen.operations import oracle
from models.radix import sample
from models.radix.key_buckets import restored
from models.radix.memory import Fault, Keys, Memory, Pass
from models.radix.pair_buckets import living, ordered

Ranges = list[tuple[int, int]]


def chosen(found: sample.Sample, live: list[bool], digit: int, mean: int, held: int) -> int:
    """Return the lowest digit that is passed before buckets are sorted on chip; 0 where all are passed."""
    often, others = found.often and found.n // 16 > held, max(found.singles - found.size // 8, 0)
    if often and found.frequent and found.singles:
        return 0
    for r in range(len(found.alike) - 1):
        if r + 1 >= found.top:
            break
        low = found.top - 1 - r
        if often and found.n // found.size * others >> min(30, (r + 2) * digit - 4) > 0:
            continue
        passed, left, unlike = sum(live[low:]), sum(live[:low]), found.alike[r]
        few = unlike <= found.agreeing(held // 2)
        few |= r == 0 and found.top == len(live) - 1 and unlike <= found.chance
        even = not found.crowded and few and left > 1
        if passed and (even or (found.crowded and left and _same(found, r, left, digit, mean, held))):
            return low
    return 0


def _same(found: sample.Sample, r: int, left: int, digit: int, mean: int, held: int) -> bool:
    """Whether equal keys are in order, or nearly all, by the digits of a round."""
    size, equal, unlike = found.size, found.equal, found.alike[r]
    by = min(30, (r + 2) * digit)
    values = size**2 // 2 // equal if 1 < equal <= size // 2 else 0
    each = found.n // values if values else 0
    if values and each <= held:
        return unlike <= size // 64 and (mean // (each + 1) + 1) << (3 if left > 1 else 4) < (1 << by) // values
    return unlike == 0 and equal > size // 2


def held(at: Pass) -> tuple[int, int]:
    """Return the mean of a bucket and what a work-group holds, from the lowest 20 bits of the argument."""
    size = at.number | at.shift << 8 | at.mask.bit_length() << 16
    mean = size & (1 << pairs.SLACK) - 1
    return mean, mean + (mean * (size >> pairs.SLACK) >> 7)


def _bits(m: Memory, n: int) -> int:
    """The highest bits that number the buckets."""
    return max(1, (-(-n // int(m.words["mean"][0])) - 1).bit_length())


def _starts(p: Params, m: Memory, at: Pass) -> None:
    mean, most = held(at)
    if not pieces.limit(p) == mean <= most <= pieces.capacity(p):
        raise Fault("kernels find other buckets in the argument")
    keys = oracle.ordered(m.buffers[0][: at.n], at.kind, descending=at.descending)
    found = m.sample if p.has_key_buckets else sample.taken(p, keys)
    live = living(p, m, at, m.histogram)
    low = chosen(found, live, p.digit, mean, most)
    numbers = {
        "uneven": int(low == 0),
        "over": 0,
        "held": most,
        "mean": mean,
        "low": low * p.digit,
        "repeated": int(found.crowded),
    }
    m.words.update({name: np.array([number]) for name, number in numbers.items()})
    ordered(p, m, at, [lives and q >= low for q, lives in enumerate(live)])
    if low and p.signature.index:
        m.order = {q: number + pairs.EARLY * (number > 0) for q, number in m.order.items()}


def _keys(m: Memory, at: Pass, begin: int = 0, end: int | None = None) -> Keys:
    """The bits by which keys at the destination are sorted."""
    return oracle.ordered(m.buffers[1][begin : at.n if end is None else end], at.kind, descending=at.descending)


def _shared(p: Params, m: Memory, at: Pass) -> NDArray[np.int64]:
    """The highest bits of these keys, as many as the keys of a bucket share."""
    keys = _keys(m, at)
    return (keys >> keys.dtype.type(p.key.bits - _bits(m, at.n))).astype(np.int64)


def _bounds(p: Params, m: Memory, at: Pass) -> None:
    if m.where[len(p.digits)] != 1:
        raise Fault("the passes ahead leave keys elsewhere than in the destination")
    need = offset(m.bound["words"], len(m.buffers[0])) + 4 * (words(p).tile_states.start + (12 << _bits(m, at.n)) + 1)
    if need > m.scratch:
        raise Fault(f"the table of pieces ends at {need} bytes of {m.scratch}")
    keys, low = _keys(m, at), int(m.words["low"][0])
    passed = keys >> keys.dtype.type(low)
    if (passed[:-1] > passed[1:]).any():
        raise Fault("the keys are not sorted by the digits that were passed")
    m.words["starts"] = np.searchsorted(_shared(p, m, at), np.arange((1 << _bits(m, at.n)) + 1))
    m.words["over"][0] |= int((np.diff(m.words["starts"]) > m.words["held"][0]).any())


def _cuts(p: Params, m: Memory, at: Pass) -> None:
    if not m.words["over"][0]:
        return
    bits, most = _bits(m, at.n), int(m.words["held"][0])
    mean, starts = (most + 1) // 2, m.words["starts"]
    shared, keys = _shared(p, m, at), _keys(m, at)
    passed = keys >> keys.dtype.type(m.words["low"][0])
    m.words["ends"] = np.full(1 << bits, -1)
    m.words["pieces"] = np.zeros((2 << bits, 2), np.int64)
    for number, cut in enumerate(range(0, at.n, mean)):
        begin, after = (int(x) for x in starts[shared[cut] : shared[cut] + 2])
        if after - begin <= most:
            continue

        def run(cut: int, side: Literal["left", "right"] = "left") -> int:
            return int(np.searchsorted(passed, passed[cut], side))

        piece = [max(begin, run(cut)), run(cut + mean) if after - cut > mean else after]
        if cut - begin < mean:
            m.words["ends"][shared[cut]] = piece[0]
        begun, goes_on = cut - piece[0] >= mean, piece[0] == piece[1]
        if begun != goes_on:
            piece[0 if begun else 1] = run(cut, "right")
        m.words["pieces"][number] = piece


def _ranges(m: Memory, at: Pass) -> Ranges:
    """Buckets or the first pieces of them, and further pieces; together they are all keys, each of them once."""
    starts, over = m.words["starts"], bool(m.words["over"][0])
    if over and "pieces" not in m.words:
        raise Fault("buckets that are too large are not cut")
    found = []
    for bucket, (begin, end) in enumerate(pairwise(starts)):
        cut = end - begin > m.words["held"][0]
        found.append((int(begin), int(m.words["ends"][bucket] if cut else end)))
    found += [(int(begin), int(end)) for begin, end in m.words["pieces"]] if over else []
    found = sorted((begin, end) for begin, end in found if begin != end)
    if [0, *(end for _, end in found)] != [*(begin for begin, _ in found), at.n]:
        raise Fault("pieces overlap or leave gaps")
    return found


def _crowded(keys: Keys, count: int, lanes: int) -> bool:
    """Whether keys have too many others in their places, by the highest bits in which some differ."""
    differ = int(np.bitwise_or.reduce(keys ^ keys[0]))
    shift = max(differ.bit_length() - (count.bit_length() - 1), 0)
    places = (keys >> keys.dtype.type(shift)) & keys.dtype.type(count - 1)
    own = np.bincount(places.astype(np.int64), minlength=count).reshape(lanes, -1)
    squares = (own**2).sum(1)
    return int(squares[squares > SQUARES * own.sum(1)].sum()) > SQUARES * len(keys)


def _sorted(p: Params, m: Memory, at: Pass, begin: int, end: int) -> bool:
    """Sort a piece on chip, unless it is too large, or crowded: return whether it did."""
    if end - begin > pairs.capacity(p):
        return False
    if _ready(m, _keys(m, at, begin, end)):
        return True
    slots = np.arange(end - begin)
    by = _keys(m, at, begin, end)
    one, bits = by.dtype.type, _bits(m, at.n)
    if len(np.unique(by >> one(p.key.bits - bits))) > 1:
        raise Fault("keys of a piece are of several buckets")
    slotted = by << one(bits) | slots.astype(by.dtype)
    if _crowded(slotted, p.pair_bucket.bins, p.pair_bucket.work_group):
        return False
    order = np.lexsort((-slots, slotted))  # equal elements come in the wrong order
    taken = (slotted[order] & one((1 << pairs.slot_bits(p)) - 1)).astype(np.intp)
    _moved(m, at, begin, taken)
    return True


def _ready(m: Memory, keys: Keys) -> bool:
    """Whether keys are often equal, and these are in order already."""
    return bool(m.words["repeated"][0]) and not (keys[:-1] > keys[1:]).any()


def _moved(m: Memory, at: Pass, begin: int, taken: NDArray[np.intp]) -> None:
    """Store the pairs of a piece in an order."""
    values = m.values[1]
    held = None if values is None else values[begin + taken]
    m.store(1, begin + np.arange(len(taken)), (m.buffers[1][begin + taken], held), at)


def _finish(p: Params, m: Memory, at: Pass) -> None:
    left = [(begin, end) for begin, end in _ranges(m, at) if not _sorted(p, m, at, begin, end)]
    m.words["rest"] = np.array(left, np.int64).reshape(-1, 2)


def _bucket(p: Params, m: Memory, at: Pass) -> None:
    """Sort buckets of keys alone: partitioned keys, which are in the order of their bits, or what was passed."""
    left = []
    starts = m.words["bucket_starts"] if _partitioned(p, at) else None
    for begin, end in _ranges(m, at) if starts is None else pairwise(int(x) for x in starts):
        keys = _keys(m, at, begin, end) if starts is None else m.buffers[1][begin:end].copy()
        large = len(keys) > pieces.capacity(p)
        if large and starts is not None:
            raise Fault(f"a bucket of {len(keys)} keys")
        if starts is None and not large and _ready(m, keys):
            continue
        base = keys.dtype.type(0 if starts is None else m.words["choice"][0].base)
        if large or (len(keys) and _crowded(keys - base, p.bucket.bins, p.bucket.work_group)):
            left.append((begin, end))
        else:
            keys = np.sort(keys)
        m.buffers[1][begin:end] = restored(keys, at)
    m.words["rest"] = np.array(left, np.int64).reshape(-1, 2)


def _partitioned(p: Params, at: Pass) -> bool:
    """Whether a launch is for keys alone that were partitioned."""
    return p.has_key_buckets and at.number == 0


def _settle(p: Params, m: Memory, at: Pass) -> None:
    for begin, end in m.words["rest"]:
        _moved(m, at, int(begin), np.argsort(_keys(m, at, int(begin), int(end)), kind="stable"))
    if _partitioned(p, at):
        m.order = dict.fromkeys(range(len(p.digits)), 0)
        m.where[len(p.digits)] = 1


def _needed(p: Params, name: str, n: int) -> int:
    """The number of work-groups that the kernel requires."""
    count = 1 << max(1, (-(-n // pieces.limit(p)) - 1).bit_length())
    if name == "bucket_cuts":
        return -(-2 * count // p.work_group)
    every = dict.fromkeys(("bucket_bounds", "range_sort"), pieces.groups(p))
    return {"pair_bucket": count, "bucket": count, **every}.get(name, 1)


def _idle(p: Params, m: Memory, name: str, at: Pass) -> bool:
    """Whether a kernel has nothing to do."""
    if name == "ahead_starts":
        return p.has_key_buckets and bool(m.words["fits"][1])
    partitioned = name in ("bucket", "range_sort") and _partitioned(p, at)
    return not m.words["fits"][1] if partitioned else bool(m.words["uneven"][0])


_KERNELS: dict[str, Callable[[Params, Memory, Pass], None]] = {
    "ahead_starts": _starts,
    "bucket_bounds": _bounds,
    "bucket_cuts": _cuts,
    "pair_bucket": _finish,
    "bucket": _bucket,
    "range_sort": _settle,
}


def play(name: str) -> Callable[[Params, Memory, Pass, Collection[int]], None]:
    """Return a function that executes a kernel.

    It raises:
        Fault: there are too few work-groups, keys are in the wrong buffer or in the wrong order, pieces are not all
            keys, or scratch does not hold their table.
    """

    def played(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
        if _idle(p, m, name, at):
            return
        if name == "bucket" and not _partitioned(p, at):
            if at.groups != buckets.CHIP:
                raise Fault(f"{name} gets {at.groups} work-groups, and its steps are {buckets.CHIP}")
        elif at.groups < (least := _needed(p, name, at.n)):
            raise Fault(f"{name} gets {at.groups} work-groups and needs {least}")
        _KERNELS[name](p, m, at)

    return played


PLAY = {name: play(name) for name in _KERNELS}
