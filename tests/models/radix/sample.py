"""The sample of the keys in numpy: templates/radix/hybrid/sample.j2, where the last one stays of keys that meet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix import Params
from hsgen.algorithms.radix.hybrid import buckets as msd
from hsgen.algorithms.radix.parts import EQUAL
from models.radix.memory import Keys

_BELOW = np.uint64((1 << 32) - 1)
_FACTORS = np.uint64(2246822519), np.uint64(2654435769)  # of the first and the second hash
_HIGHER = np.uint64(3266489917)  # the factor of the higher word of a key


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a sample of `n` keys has shown.

    alike: for each round but the last how many keys agree with unequal ones above a bit, in the last how many are
    equal to others.  top: the highest digit in which some differ.  frequent: whether one key is more than 1/16 of all.
    often: whether one key has more than `rare(size)` copies.  singles: the keys that equal none.
    """

    n: int
    size: int
    alike: tuple[int, ...]
    top: int
    frequent: bool = False
    often: bool = False
    singles: int = 0

    @property
    def equal(self) -> int:
        """How many are equal to others."""
        return self.alike[-1]

    @property
    def crowded(self) -> bool:
        """Whether equal keys crowd places."""
        return self.equal > max(1, self.agreeing(EQUAL))

    @property
    def chance(self) -> int:
        """How many agree in the 16 highest bits where these are evenly spread, with what chance adds."""
        mean = self.size**2 / 2**17
        return round(1.3 * mean + 4 * mean**0.5) + 2

    def agreeing(self, most: int) -> int:
        """How many of the sample agree with another one where `most` of all keys agree on average."""
        return most * (self.size // 2) // (self.n // self.size + 1)


def rare(size: int) -> int:
    """Return the greatest number of copies of a key that is not `often` in a sample of this size."""
    return min(8, size // 32)


def positions(n: int, size: int) -> NDArray[np.int64]:
    """Return where the keys of a sample lie."""
    place = np.arange(size, dtype=np.uint64) * _FACTORS[1] & _BELOW
    place = (place ^ place >> np.uint64(16)) * _FACTORS[0] & _BELOW
    return ((place ^ place >> np.uint64(13)) % np.uint64(n)).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The bits that are the number of a bucket, and whether buckets are tried.

    bits, low: the number of these bits, and the lowest of them, in a key less `base`.
    """

    bits: int
    low: int
    base: int = 0
    fits: bool = True

    def buckets(self, keys: Keys) -> NDArray[np.int64]:
        """Return the bucket of each key; a key that the sample has missed may have a number that is too great."""
        one = keys.dtype.type
        return ((keys - one(self.base)) >> one(self.low)).astype(np.int64)


def chosen(p: Params, keys: Keys) -> Choice:
    """Return what the launch before the first histogram chooses, by a sample if there is one."""
    n, size, bits = len(keys), p.sampled, sum(msd.widths(p, len(keys)))
    if not size or n < size:
        return Choice(bits=bits, low=p.key.bits - bits)
    found = keys[positions(n, size)]
    low, high = int(found.min()), int(found.max())
    more = (high - low) >> size.bit_length() - 4
    first, last = max(low - more, 0), min(high + more, p.key.greatest)
    widths = max((low ^ high).bit_length(), 1), max((last - first).bit_length(), 1)
    base, width = (first, widths[1]) if widths[1] < widths[0] else (low >> widths[0] << widths[0], widths[0])
    if width <= bits:
        return Choice(bits=bits, low=0, base=base, fits=False)
    used = ((high - low) >> width - bits) + 1
    used += used >> size.bit_length() - 5
    bits += bits < 2 * p.partition_bits and n // used > msd.limit(p)
    choice = Choice(bits=bits, low=width - bits, base=base)
    return replace(choice, fits=_fits(p, choice, found, n))


def _fits(p: Params, choice: Choice, found: Keys, n: int) -> bool:
    """Whether pairs of sampled keys in one bucket are few, and, of sorts without pieces, pairs of equal keys."""
    slots, words = choice.buckets(found), 2 * p.sampled
    if 1 << choice.bits > words:
        pairs = len(found) - len(np.unique(slots >> max(choice.bits - (32 * words).bit_length() + 1, 0)))
    else:
        pairs = int((own := np.bincount(slots)) @ (own - 1)) // 2
    expected = msd.capacity(p) * (p.sampled // 2) // (n // p.sampled + 1)
    if max(pairs - expected, 0) ** 2 > 25 * (expected + 1):
        return False
    return p.pieces or not taken(p, found, n).crowded


def _round(keys: Keys, low: int, many: int, *, equal: bool, second: bool = False) -> tuple[int, int, int]:
    """Count a round: keys without the bits below `low` that agree with the one that stayed where they meet.

    Also return, of a round of equal keys, how many at most met one, and how many met none.
    second: whether keys meet by the second hash.
    """
    size, one = len(keys), keys.dtype.type
    cut = keys >> one(low) << one(low)
    words = [cut.astype(np.uint64) & _BELOW, cut.astype(np.uint64) >> np.uint64(32)]
    hashes = (words[0] + words[1] * _HIGHER & _BELOW) * _FACTORS[second] & _BELOW
    spots = (hashes >> np.uint64(32 - size.bit_length())).astype(np.int64)
    last = np.zeros(2 * size, np.int64)
    last[spots] = np.arange(size)
    other = last[spots]
    counted = (other != np.arange(size)) & (cut == cut[other]) & ((keys == keys[other]) == equal)
    met = np.bincount(other[counted], minlength=size)
    if equal:
        alone = (other == np.arange(size)) & (met == 0)
        return int(met.sum()), int(met.max()), int(alone.sum())
    return int(np.where(met > many, met - 1 + size, met).sum()), 0, 0


def taken(p: Params, keys: Keys, of: int = 0) -> Sample:
    """Return what a sample of keys shows, which are in the order of their bits.

    A round for each of the highest digits from two on, and one for equal keys.
    of: the number of keys, if `keys` are the sample.
    """
    n, size = of or len(keys), p.sampled
    if n < size:
        return Sample(n=n, size=size, alike=(0,) * p.rounds, top=len(p.digits) - 1)
    found = keys if of else keys[positions(n, size)]
    many = 4 * size // (n // size + 1) + 4
    top = max(int(np.bitwise_or.reduce(found ^ found[0])).bit_length() - 1, 0) // p.digit
    cuts = [max(top - 1 - r, 0) * p.digit for r in range(p.rounds - 1)]
    alike = [_round(found, low, many, equal=False)[0] for low in cuts]
    first, second = (_round(found, 0, many, equal=True, second=again) for again in (False, True))
    equal, most, singles = max(first[0], second[0]), max(first[1], second[1]), first[2]
    flags = {"frequent": most > size // 16, "often": most > rare(size)}
    return Sample(n=n, size=size, alike=(*alike, equal), top=top, singles=singles, **flags)
