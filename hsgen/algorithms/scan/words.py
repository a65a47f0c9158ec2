"""The scratch layout of a prefix sum: sums of work-groups, or states of tiles."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.scan.params import Params
from hsgen.core.plan import Binding, DeviceStatus
from hsgen.core.regions import Region
from hsgen.core.scratch import Scratch, scratch_of

FAILED, TICKET, STATES = 0, 1, 32
"""The first word of each region of `Words`."""

COUNTED, SUMMED, OPEN = 1, 2, 3
"""The kinds of states, in the two high bits of every word; 0 means empty.  See templates/scan/words.j2.

COUNTED: partial, the sum of the tile.  SUMMED: inclusive, the sum of all tiles up to and including this tile.  OPEN:
exclusive, the sum of all earlier tiles, for a tile whose look-back gave up."""

SCRATCH = Binding(role="scratch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch of a sum whose tiles have states.

    failed: a flag; of size 0 if no look-back gives up.  ticket: a counter.  states: for each tile and column, `pieces`
    words.
    """

    failed: Region
    ticket: Region
    states: Region


def words(p: Params) -> Words | None:
    """Return the layout of a sum whose tiles have states; None for other sums."""
    if not p.states:
        return None
    bounded = 0 if p.forward_progress else 1
    return Words(
        failed=Region(name="FAILED", start=FAILED, size=bounded, meaning="1 if a look-back gave up"),
        ticket=Region(name="TICKET", start=TICKET, size=1, meaning="the number of tiles drawn"),
        states=Region(name="STATES", start=STATES, meaning="of each tile and column: a sum and its kind"),
    )


def scratch(p: Params) -> Scratch:
    """Return the scratch size: a row of sums per work-group, or a row of states per tile."""
    if not p.states:
        return scratch_of(min_n=p.tile, unit=p.tile, per_unit=p.columns * p.key.bytes, units=p.groups)
    row = 4 * p.columns * p.pieces
    return scratch_of(min_n=p.tile, plus=4 * STATES, unit=p.tile, per_unit=row, units=-(-p.max_n // p.tile))


def device_status(p: Params) -> DeviceStatus | None:
    """Return the status, which reports whether tiles were redone; None if no tile can be redone."""
    return DeviceStatus(binding=SCRATCH, words=1, min_n=p.tile) if p.looks and not p.forward_progress else None
