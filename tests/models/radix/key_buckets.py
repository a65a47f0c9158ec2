"""The hybrid sort by buckets in numpy, launch by launch, on the scratch of `hsgen.algorithms.radix.hybrid.buckets`.

Between the digits keys have transformed bits, as in kernels, and those of one digit value are unordered: the model
permutes them.  The on-chip sort is numpy's, except for crowded positions, which the kernel for the rest must find in
its list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix import Params
from hsgen.algorithms.radix.hybrid import buckets as msd
from hsgen.algorithms.radix.parts import CROWD
from hsgen.operations import oracle
from models.radix import sample
from models.radix.memory import Fault, Keys, Memory, Pass

_DEALT = 2  # the number of the buffer in scratch


def done(p: Params, m: Memory, at: Pass) -> bool:
    """Whether the look-back kernels find the keys sorted."""
    return p.has_key_buckets and (at.begin, at.end) == (0, p.key.bits) and partitioned(p, m, at.n)


def partitioned(p: Params, m: Memory, n: int) -> bool:
    """Whether buckets have sorted `n` keys, if they were tried."""
    return msd.least(p) < n <= msd.most(p) and bool(m.words["fits"][1])


def needed(p: Params, name: str, m: Memory, n: int) -> int:
    """Return the number of work-groups that the kernel requires, if everything counted so far fits."""
    tile, count = msd.tile(p), 1 << sum(msd.widths(p, n))
    tiles = -(-n // tile)
    shares = {
        "first_histogram": min(tiles, msd.groups(p)) + int(p.pieces),
        "first_partition": tiles,
        "second_starts": 1 << (_choice(m).bits + 1) // 2 if "choice" in m.words else 1,
        "bucket": count,
        "bucket_count": count,
        "bucket_rest": min(count, msd.groups(p)),
    }
    if name in ("second_histogram", "second_partition"):
        return int(m.words["tiles"][-1])
    return shares.get(name, 1)


def _choice(m: Memory) -> sample.Choice:
    """The bits that are the number of a bucket."""
    choice = m.words["choice"][0]
    assert isinstance(choice, sample.Choice)
    return choice


def _digit(m: Memory, keys: Keys, level: int) -> NDArray[np.int64]:
    """The first or the second digit of keys after the key transform."""
    bits = _choice(m).bits
    numbers = _choice(m).buckets(keys)
    return numbers >> bits // 2 & (1 << (bits + 1) // 2) - 1 if level == 1 else numbers & (1 << bits // 2) - 1


def _given(m: Memory, at: Pass) -> Keys:
    return oracle.ordered(m.buffers[0][: at.n], at.kind, descending=at.descending)


def restored(keys: Keys, at: Pass) -> Keys:
    """The keys before the transform: the inverse of `hsgen.operations.oracle.ordered`."""
    bits = 8 * keys.dtype.itemsize
    sign, every = keys.dtype.type(1 << (bits - 1)), keys.dtype.type((1 << bits) - 1)
    up = keys ^ every if at.descending else keys
    if at.kind == 2:
        return np.where(up & sign != 0, up ^ sign, ~up)
    return up ^ sign if at.kind else up


def _begin(p: Params, m: Memory, at: Pass) -> None:
    whole = not (p.index64 and p.signature.bit_range) or (at.begin, at.end) == (0, p.key.bits)
    choice = sample.chosen(p, _given(m, at))
    m.words = {
        "choice": np.array([choice]),
        "fits": np.full(2, int(whole and choice.fits), np.int64),
        "counts": np.zeros(p.partition_radix, np.int64),
        "rest": np.zeros(0, np.int64),
        "uneven": np.ones(1, np.int64),
    }


def _histogram(p: Params, m: Memory, at: Pass) -> None:
    keys, choice = _given(m, at), _choice(m)
    m.look(p, at.n, at, (0, p.key.bits))
    m.words["counts"] += np.bincount(_digit(m, keys, 1), minlength=p.partition_radix)
    m.words["buckets"] = np.zeros(1 << choice.bits, np.int64)
    if p.sampled:
        m.sample = sample.taken(p, keys)
        m.words["fits"] *= not in_vain(p, keys)


def in_vain(p: Params, keys: Keys) -> bool:
    """Whether no buckets are tried, by what a sample shows, or since the sample has missed keys of other ranges."""
    choice = sample.chosen(p, keys)
    missed = choice.buckets(keys) >> choice.bits != 0
    return not choice.fits or bool(missed.any()) or (p.pieces and sample.taken(p, keys).crowded)


def _starts(p: Params, m: Memory, at: Pass) -> None:
    counts, second = m.words["counts"], _choice(m).bits // 2
    if not m.unsorted or (counts > msd.capacity(p) << second).any():
        m.words["fits"][:] = 0
    m.words["starts"] = np.concatenate(([0], np.cumsum(counts)))
    m.words["cursors"] = m.words["starts"][:-1].copy()
    m.words["tiles"] = np.concatenate(([0], np.cumsum(-(-counts // msd.tile(p)))))


def _dealt(keys: Keys, digits: NDArray[np.int64], cursors: NDArray[np.int64], to: Keys, tile: int) -> None:
    """Distribute keys by digit, tile by tile from the last one on, and advance the cursors."""
    for begin in reversed(range(0, len(keys), tile)):
        mine, own = keys[begin : begin + tile], digits[begin : begin + tile]
        order = np.argsort(own, kind="stable")[::-1]
        for d in np.unique(own):
            which = order[own[order] == d]
            to[cursors[d] : cursors[d] + len(which)] = mine[which]
            cursors[d] += len(which)


def _first(p: Params, m: Memory, at: Pass) -> None:
    keys = _given(m, at)
    _dealt(keys, _digit(m, keys, 1), m.words["cursors"], m.buffers[_DEALT], msd.tile(p))


def _values(p: Params, m: Memory, at: Pass) -> list[tuple[int, slice, slice]]:
    """The values of the first digit, each with the positions of its keys and of its buckets."""
    first, second = (_choice(m).bits + 1) // 2, _choice(m).bits // 2
    starts = m.words["starts"]
    return [
        (v, slice(int(starts[v]), int(starts[v + 1])), slice(v << second, v + 1 << second)) for v in range(1 << first)
    ]


def _count(p: Params, m: Memory, at: Pass) -> None:
    for _, keys, buckets in _values(p, m, at):
        digits = _digit(m, m.buffers[_DEALT][keys], 2)
        m.words["buckets"][buckets] += np.bincount(digits, minlength=buckets.stop - buckets.start)


def _places(p: Params, m: Memory, at: Pass) -> None:
    counts = m.words["buckets"].copy()
    if (counts > msd.capacity(p)).any():
        m.words["fits"][1] = 0
    m.words["bucket_starts"] = np.concatenate(([0], np.cumsum(counts)))
    m.words["buckets"] = m.words["bucket_starts"][:-1].copy()


def _second(p: Params, m: Memory, at: Pass) -> None:
    for _, keys, buckets in _values(p, m, at):
        mine = m.buffers[_DEALT][keys]
        _dealt(mine, _digit(m, mine, 2), m.words["buckets"][buckets], m.buffers[1], msd.tile(p))


def _sorted(p: Params, m: Memory, at: Pass, bucket: int, *, crowded: bool) -> bool:
    """Sort a bucket; without `crowded` only if it has no crowded position: return whether it did."""
    starts = m.words["bucket_starts"]
    mine = slice(int(starts[bucket]), int(starts[bucket + 1]))
    keys = m.buffers[1][mine].copy()
    if len(keys) > msd.capacity(p):
        raise Fault(f"a bucket of {len(keys)} keys")
    places = p.bucket.bins.bit_length() - 1
    low = max(_choice(m).low - places, 0)
    found = (keys - keys.dtype.type(_choice(m).base) >> keys.dtype.type(low)) & keys.dtype.type(p.bucket.bins - 1)
    if not crowded and len(keys) and np.bincount(found.astype(np.int64)).max() > CROWD:
        return False
    m.buffers[1][mine] = restored(np.sort(keys), at)
    return True


def _bucket(p: Params, m: Memory, at: Pass) -> None:
    left = [b for b in range(len(m.words["buckets"])) if not _sorted(p, m, at, b, crowded=False)]
    m.words["rest"] = np.array(left, np.int64)


def _tally(p: Params, m: Memory, at: Pass) -> None:
    """Sort buckets, whose keys share all but the bits that are counted."""
    for bucket in range(len(m.words["buckets"])):
        mine = slice(int(m.words["bucket_starts"][bucket]), int(m.words["bucket_starts"][bucket + 1]))
        if (m.buffers[1][mine] >> np.uint64(p.counting.bits).astype(m.buffers[1].dtype) != bucket).any():
            raise Fault(f"keys of bucket {bucket} differ above the bits that are counted")
        _sorted(p, m, at, bucket, crowded=True)


def _rest(p: Params, m: Memory, at: Pass) -> None:
    for bucket in m.words["rest"]:
        _sorted(p, m, at, int(bucket), crowded=True)
    if not p.index64:
        m.order = dict.fromkeys(range(len(p.digits)), 0)
        m.where[len(p.digits)] = 1


_PLAY: dict[str, tuple[int, Callable[[Params, Memory, Pass], None]]] = {
    "partition_begin": (-1, _begin),
    "first_histogram": (-1, _histogram),
    "first_starts": (-1, _starts),
    "first_partition": (0, _first),
    "second_histogram": (0, _count),
    "second_starts": (0, _places),
    "second_partition": (1, _second),
    "bucket": (1, _bucket),
    "bucket_count": (1, _tally),
    "bucket_rest": (1, _rest),
}
"""Kernels, each with the flag that says whether it has work, -1 without a flag."""
KERNELS = tuple(_PLAY)
"""The kernels of buckets of keys alone, in the order of their launches."""


def play(name: str) -> Callable[[Params, Memory, Pass, Collection[int]], None]:
    """Return a function that executes a kernel.

    It raises:
        Fault: there are too few work-groups, or a bucket is too large.
    """
    flag, kernel = _PLAY[name]

    def played(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
        if flag >= 0 and not m.words["fits"][flag]:
            return
        if at.groups < (least := needed(p, name, m, at.n)):
            raise Fault(f"{name} gets {at.groups} work-groups and needs {least}")
        kernel(p, m, at)

    return played


PLAY = {name: play(name) for name in _PLAY}
