"""The sample of the keys in numpy: templates/radix/hybrid/sample.j2, where the last one stays of keys that meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix import Params
from hsgen.algorithms.radix.parts import EQUAL
from models.radix.memory import Keys

_BELOW = np.uint64((1 << 32) - 1)
_HASHES = np.uint64(2246822519), np.uint64(2654435769)  # of the lower and the higher word of a key


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a sample of `n` keys has shown.

    alike: for each round but the last how many keys agree with unequal ones above a bit, in the last how many are
    equal to others.  top: the highest digit in which some differ.  frequent: whether one key is more than a sixteenth
    of all.  singles: the keys that equal none.
    """

    n: int
    size: int
    alike: tuple[int, ...]
    top: int
    frequent: bool = False
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


def positions(n: int, size: int) -> NDArray[np.int64]:
    """Return where the keys of a sample lie."""
    place = np.arange(size, dtype=np.uint64) * _HASHES[1] & _BELOW
    place = (place ^ place >> np.uint64(16)) * _HASHES[0] & _BELOW
    return ((place ^ place >> np.uint64(13)) % np.uint64(n)).astype(np.int64)


def _round(keys: Keys, low: int, many: int, *, equal: bool) -> tuple[int, bool, int]:
    """Count a round: keys without the bits below `low` that agree with the one that stayed where they meet.

    Also return, of a round of equal keys, whether more than a sixteenth of all met one, and how many met none.
    """
    size, one = len(keys), keys.dtype.type
    cut = keys >> one(low) << one(low)
    words = [cut.astype(np.uint64) & _BELOW, cut.astype(np.uint64) >> np.uint64(32)]
    hashes = (words[0] * _HASHES[0] + words[1] * _HASHES[1]) & _BELOW
    spots = (hashes >> np.uint64(32 - size.bit_length())).astype(np.int64)
    last = np.zeros(2 * size, np.int64)
    last[spots] = np.arange(size)
    other = last[spots]
    counted = (other != np.arange(size)) & (cut == cut[other]) & ((keys == keys[other]) == equal)
    met = np.bincount(other[counted], minlength=size)
    if equal:
        alone = (other == np.arange(size)) & (met == 0)
        return int(met.sum()), bool((met > size // 16).any()), int(alone.sum())
    return int(np.where(met > many, met - 1 + size, met).sum()), False, 0


def taken(p: Params, keys: Keys) -> Sample:
    """Return what a sample of keys shows, which are in the order of their bits.

    A round for each of the highest digits from two on, and one for equal keys.
    """
    n, size = len(keys), p.sampled
    if n < size:
        return Sample(n=n, size=size, alike=(0,) * p.rounds, top=len(p.digits) - 1)
    found = keys[positions(n, size)]
    many = 4 * size // (n // size + 1) + 4
    top = max(int(np.bitwise_or.reduce(found ^ found[0])).bit_length() - 1, 0) // p.digit
    cuts = [max(top - 1 - r, 0) * p.digit for r in range(p.rounds - 1)]
    alike = [_round(found, low, many, equal=False)[0] for low in cuts]
    equal, frequent, singles = _round(found, 0, many, equal=True)
    return Sample(n=n, size=size, alike=(*alike, equal), top=top, frequent=frequent, singles=singles)
