"""The memory of the merge sort model, and the interpretation of its slots.

Memory holds keys with their original bits; they are compared in the order of their type.  Sorts with values merge pairs
of a key and its index: here 64-bit numbers, the rank of the key among all distinct keys << 32 plus the index, which are
in the same order; so the padding, the greatest number, is greater than every pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options
from hsgen.operations import oracle

Keys = NDArray[np.unsignedinteger]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_] | np.bool_


class Fault(AssertionError):
    """An illegal operation of a kernel."""


def demand(holds: bool | np.bool_, what: str) -> None:
    """Raise a fault unless a condition holds."""
    if not holds:
        raise Fault(what)


@dataclass(frozen=True, slots=True)
class Typed:
    """Slots with keys of a type: registers have unsigned keys in the same order."""

    how: Options

    def enter(self, keys: Keys, slots: Numbers) -> Keys:
        """Return the register contents for the keys in `slots`."""
        return oracle.ordered(keys, self.how.kind, descending=self.how.descending)

    def leave(self, keys: Keys) -> Keys:
        """Return the inverse of `enter`."""
        bits = 8 * keys.dtype.itemsize
        sign, every = keys.dtype.type(1 << (bits - 1)), keys.dtype.type((1 << bits) - 1)
        out = keys ^ every if self.how.descending else keys.copy()
        if self.how.kind == 2:
            return np.where(out & sign == 0, ~out, out ^ sign)
        return out ^ sign if self.how.kind else out


class Pairs:
    """Slots with keys: registers have pairs of a key and the slot that it was read from."""

    def __init__(self, keys: Keys, how: Options) -> None:
        self._typed = Typed(how)
        self._distinct = np.unique(self._typed.enter(keys, np.arange(0)))

    def enter(self, keys: Keys, slots: Numbers) -> Keys:
        """Return the pairs of the keys in `slots`."""
        ranks = np.searchsorted(self._distinct, self._typed.enter(keys, slots))
        pairs: Keys = ranks.astype(np.uint64) << np.uint64(32) | slots.astype(np.uint64)
        return pairs

    def leave(self, keys: Keys) -> Keys:
        """Return the keys of pairs."""
        return self._typed.leave(self._distinct[keys >> np.uint64(32)])


class Memory:
    """Slots on the last axis of `keys`; every access is checked.  `defined`: all of them hold keys from the start.

    `form` converts between keys in memory and in registers; without it they are equal.
    """

    def __init__(self, keys: Keys, *, defined: bool, signature: Typed | Pairs | None = None) -> None:
        self.keys, self.end, self.signature = keys, keys.shape[-1], signature
        self.defined, self.owner = np.full(self.end, defined), np.full(self.end, -1)

    def barrier(self) -> None:
        """Allow every slot to be accessed by another lane."""
        self.owner[:] = -1

    def _touch(self, at: Numbers, live: Mask, owner: Numbers | None) -> tuple[Numbers, Mask]:
        owner = np.arange(at[0].size).reshape(at[0].shape) if owner is None else owner
        at, live, owner = np.broadcast_arrays(at, live, owner)
        slots, owner = at[live], owner[live]
        demand(((slots >= 0) & (slots < self.end)).all(), f"a slot outside 0 to {self.end} is accessed")
        free = (self.owner[slots] == -1) | (self.owner[slots] == owner)
        self.owner[slots] = owner
        demand((free & (self.owner[slots] == owner)).all(), "two lanes access a slot without a barrier in between")
        return slots, live

    def read(self, at: Numbers, live: Mask = np.True_, low: Mask = np.False_, owner: Numbers | None = None) -> Keys:
        """Return the keys of the slots `at` where `live`; elsewhere the least key where `low`, or the greatest.

        `owner` numbers the readers: by default the lanes of a tile; groups, if a barrier precedes the next access.  All
        have one shape or broadcast to it; the result has it after the memory's other axes.
        """
        slots, live = self._touch(at, live, owner)
        demand(self.defined[slots].all(), "a slot is read before it is written")
        keys = self.keys[..., slots]
        keys = keys if self.signature is None else self.signature.enter(keys, slots)
        out: Keys = np.full(self.keys.shape[:-1] + live.shape, np.iinfo(keys.dtype).max, keys.dtype)
        out[..., np.broadcast_to(low, live.shape)] = 0
        out[..., live] = keys
        return out

    def write(self, keys: Keys, at: Numbers, live: Mask = np.True_, owner: Numbers | None = None) -> None:
        """Write registers to the slots that `read` with the same arguments reads; slots that are not live stay
        unchanged."""
        slots, live = self._touch(at, live, owner)
        self.defined[slots] = True
        self.keys[..., slots] = keys[..., live] if self.signature is None else self.signature.leave(keys[..., live])
