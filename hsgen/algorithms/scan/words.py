"""The scratch layout of a prefix sum: sums of work-groups, or states of tiles."""

from __future__ import annotations

from hsgen.algorithms.scan.params import Params
from hsgen.core.plan import Binding, DeviceStatus
from hsgen.core.scratch import Scratch, scratch_of

FAILED, TICKET, STATES = 0, 1, 32
"""Indices of 32-bit words: 1 if a look-back gave up; the number of tiles drawn; the first state (in the order of tiles,
then columns, with `pieces` words each)."""

COUNTED, SUMMED, OPEN = 1, 2, 3
"""The kinds of states, in the two high bits of every word: the sum of the tile; the inclusive prefix; after a look-back
gave up, the exclusive prefix of a tile that must be redone.  0: no state yet."""

SCRATCH = Binding(role="scratch")


def scratch(p: Params) -> Scratch:
    """Return the scratch size: a row of sums per work-group, or a row of states per tile."""
    if not p.states:
        return scratch_of(min_n=p.tile, unit=p.tile, per_unit=p.columns * p.key.bytes, units=p.groups)
    row = 4 * p.columns * p.pieces
    return scratch_of(min_n=p.tile, plus=4 * STATES, unit=p.tile, per_unit=row, units=-(-p.max_n // p.tile))


def device_status(p: Params) -> DeviceStatus | None:
    """Return the status, which says whether tiles were redone; None if none can be."""
    return DeviceStatus(binding=SCRATCH, words=1, min_n=p.tile) if p.looks and not p.forward_progress else None
