"""The memory of a merge sort that is played in numpy, and what its slots hold.

Keys lie in memory with their own bits and are compared in the order of their type.  With values what is merged are
pairs, a key and the place that it had: here numbers of 64 bits, the rank of the key among all distinct ones << 32 and
the place, which are in the same order; so the greatest number, which pads, is greater than all.
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
    """A kernel did what no kernel may do."""


def demand(holds: bool | np.bool_, what: str) -> None:
    """Raise a fault unless something holds."""
    if not holds:
        raise Fault(what)


@dataclass(frozen=True, slots=True)
class Typed:
    """Slots that hold keys of a type: registers have unsigned keys of the same order."""

    how: Options

    def enter(self, keys: Keys, slots: Numbers) -> Keys:
        """Return what registers hold of the keys in `slots`."""
        return oracle.ordered(keys, self.how.kind, descending=self.how.descending)

    def leave(self, keys: Keys) -> Keys:
        """Return what `enter` came from."""
        bits = 8 * keys.dtype.itemsize
        sign, every = keys.dtype.type(1 << (bits - 1)), keys.dtype.type((1 << bits) - 1)
        out = keys ^ every if self.how.descending else keys.copy()
        if self.how.kind == 2:
            return np.where(out & sign == 0, ~out, out ^ sign)
        return out ^ sign if self.how.kind else out


class Pairs:
    """Slots that hold keys: registers have pairs of a key and the slot that it was read from."""

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

    What registers have of the keys, and back, is up to `form`; the same if there is none.
    """

    def __init__(self, keys: Keys, *, defined: bool, signature: Typed | Pairs | None = None) -> None:
        self.keys, self.end, self.signature = keys, keys.shape[-1], signature
        self.defined, self.owner = np.full(self.end, defined), np.full(self.end, -1)

    def barrier(self) -> None:
        """Let every slot change hands."""
        self.owner[:] = -1

    def _touch(self, at: Numbers, live: Mask, owner: Numbers | None) -> tuple[Numbers, Mask]:
        owner = np.arange(at[0].size).reshape(at[0].shape) if owner is None else owner
        at, live, owner = np.broadcast_arrays(at, live, owner)
        slots, owner = at[live], owner[live]
        demand(((slots >= 0) & (slots < self.end)).all(), f"a slot outside 0 to {self.end} is touched")
        free = (self.owner[slots] == -1) | (self.owner[slots] == owner)
        self.owner[slots] = owner
        demand((free & (self.owner[slots] == owner)).all(), "two lanes touch a slot without a barrier between")
        return slots, live

    def read(self, at: Numbers, live: Mask = np.True_, low: Mask = np.False_, owner: Numbers | None = None) -> Keys:
        """Return the keys of the slots `at` where `live`; elsewhere the least key where `low`, or the greatest.

        `owner` numbers who reads: the lanes of a tile, if not given; groups, where a barrier comes before the
        next access.  All have one shape or broadcast to it; the result has it behind the memory's other axes.
        """
        slots, live = self._touch(at, live, owner)
        demand(self.defined[slots].all(), "a slot is read that was never written")
        keys = self.keys[..., slots]
        keys = keys if self.signature is None else self.signature.enter(keys, slots)
        out: Keys = np.full(self.keys.shape[:-1] + live.shape, np.iinfo(keys.dtype).max, keys.dtype)
        out[..., np.broadcast_to(low, live.shape)] = 0
        out[..., live] = keys
        return out

    def write(self, keys: Keys, at: Numbers, live: Mask = np.True_, owner: Numbers | None = None) -> None:
        """Put registers where `read` with the same arguments took them from; slots that are not live stay."""
        slots, live = self._touch(at, live, owner)
        self.defined[slots] = True
        self.keys[..., slots] = keys[..., live] if self.signature is None else self.signature.leave(keys[..., live])
