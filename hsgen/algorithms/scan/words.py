"""The scratch layout of a prefix sum: the sums of work-groups, or with look-back the states of tiles."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.scan.params import Params
from hsgen.core.plan import Binding, DeviceStatus
from hsgen.core.regions import Region
from hsgen.core.scratch import Scratch, scratch_of

FAILED, TICKET, STATES = 0, 1, 32
"""The index of the first word of each region in `Words`."""

COUNTED, SUMMED, OPEN = 1, 2, 3
"""The kinds of states.  The two high bits of every word hold the kind; 0 means that the word is empty.

COUNTED: the partial sum, of this tile alone.  SUMMED: the inclusive sum, of all tiles up to and including this tile.
OPEN: the exclusive sum, of all earlier tiles; only a tile whose look-back gave up has it.  templates/scan/words.j2
names these kinds HS_PARTIAL, HS_INCLUSIVE and HS_EXCLUSIVE."""

SCRATCH = Binding(role="scratch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch for a sum whose tiles have states.

    failed: a flag that is set if a look-back gave up; of size 0 if none can give up.
    ticket: a counter from which work-groups draw the numbers of their tiles.
    states: `Params.pieces` words for each tile and column.
    """

    failed: Region
    ticket: Region
    states: Region


def words(p: Params) -> Words | None:
    """Return the regions of scratch; None if tiles have no states."""
    if not p.states:
        return None
    bounded = 0 if p.forward_progress else 1
    return Words(
        failed=Region(name="FAILED", start=FAILED, size=bounded, meaning="1 if a look-back gave up"),
        ticket=Region(name="TICKET", start=TICKET, size=1, meaning="the number of tiles drawn"),
        states=Region(name="STATES", start=STATES, meaning="of each tile and column: a sum and its kind"),
    )


def scratch(p: Params) -> Scratch:
    """Return the rule for the size of scratch: one row of sums per work-group, or one row of states per tile."""
    if not p.states:
        return scratch_of(min_n=p.tile, unit=p.tile, per_unit=p.columns * p.key.bytes, units=p.groups)
    row = 4 * p.columns * p.pieces
    return scratch_of(min_n=p.tile, plus=4 * STATES, unit=p.tile, per_unit=row, units=-(-p.max_n // p.tile))


def device_status(p: Params) -> DeviceStatus | None:
    """Return the status word that reports whether tiles were redone; None if no tile can be redone."""
    return DeviceStatus(binding=SCRATCH, words=1, min_n=p.tile) if p.looks and not p.forward_progress else None
