"""The layout of scratch in a prefix sum: the sums of work-groups, or with look-back the states of tiles."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.scan.params import Params
from hsgen.core.plan import Binding, DeviceStatus
from hsgen.core.regions import Region
from hsgen.core.scratch import Scratch, scratch_of

FAILED, TICKET, STATES = 0, 1, 32
"""The index of the first word of each region of `Words`."""

COUNTED, SUMMED, OPEN = 1, 2, 3
"""The kinds of states, in the two high bits of each word of a state; 0 means that the word is empty.

`COUNTED`: the partial sum, which is that of this tile alone.  `SUMMED`: the inclusive sum, over all tiles up to and
including this one.  `OPEN`: the exclusive sum, over all earlier tiles; only tiles whose look-back gave up have it.
templates/scan/words.j2 names these kinds HS_PARTIAL, HS_INCLUSIVE and HS_EXCLUSIVE.
"""

SCRATCH = Binding(role="scratch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch, if tiles have states.

    failed: 1 word, which becomes 1 if a look-back gives up; empty if none can give up.
    ticket: 1 word: a counter from which work-groups draw the numbers of their tiles.
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
    """Return the rule for the size of scratch: one row of sums for each work-group, or of states for each tile."""
    if not p.states:
        return scratch_of(min_n=p.tile, unit=p.tile, per_unit=p.columns * p.key.bytes, units=p.groups)
    row = 4 * p.columns * p.pieces
    return scratch_of(min_n=p.tile, plus=4 * STATES, unit=p.tile, per_unit=row, units=-(-p.max_n // p.tile))


def device_status(p: Params) -> DeviceStatus | None:
    """Return where the host finds whether tiles were scanned again; None if no look-back can give up."""
    return DeviceStatus(binding=SCRATCH, words=1, min_n=p.tile) if p.looks and not p.forward_progress else None
