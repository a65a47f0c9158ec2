"""Where a prefix sum keeps what tiles tell each other in scratch: sums of work-groups, or states of tiles."""

from __future__ import annotations

from hsgen.algorithms.scan.params import Params
from hsgen.core.plan import Binding, DeviceStatus, Scratch

FAILED, TICKET, STATES = 0, 1, 32
"""Indices of 32-bit words: 1 where a look-back gave up, tiles drawn so far, the first state (tile by tile, in each
column by column, `pieces` words each)."""

COUNTED, SUMMED, OPEN = 1, 2, 3
"""What the two high bits of every word of a state say: the sum of the tile itself, the sum up to and with it, or, after
a look-back gave up, the sum before it, which it has yet to be given.  0 is nothing."""

SCRATCH = Binding(role="scratch")


def scratch(p: Params) -> Scratch:
    """Return the scratch rule: a row of sums for each work-group, or a row of states for each tile."""
    if not p.looks:
        return Scratch(min_n=p.tile, unit=p.tile, per_unit=p.columns * p.key.bytes, units=p.groups)
    row = 4 * p.columns * p.pieces
    return Scratch(min_n=p.tile, plus=4 * STATES, unit=p.tile, per_unit=row, units=-(-p.max_n // p.tile))


def device_status(p: Params) -> DeviceStatus | None:
    """Return where the sum tells whether tiles were done again; None where none ever is."""
    return DeviceStatus(binding=SCRATCH, words=1, min_n=p.tile) if p.looks and not p.forward_progress else None
