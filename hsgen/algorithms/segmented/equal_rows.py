"""Rows of equal length that no work-group holds: the launches of a segmented sort that have work.

The host knows the length of rows, hence which of the lists of segments stay empty.  Launches for an empty list return
at once, and are omitted; their kernels then need not be compiled.  Plans of bundles have all launches (`plan`).
"""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.segmented.params import Params
from hsgen.core.plan import Plan
from hsgen.core.sort import Sort

_LISTS = {"begin", "sift"}
_SHORT = {"windows", "windows_rest"}
_MEDIUM = {"alone"}


def plan(sort: Sort, rows: int, length: int) -> Plan | None:
    """Return the plan without launches that have no work for `rows` rows of `length` keys; None if all are needed.

    A window sorts the rows that start in the window, except a last row of more than `Params.small` keys.  If rows are
    as long as a window, no other row starts there.  `sift` lists rows of more than `Params.tile` keys for the passes,
    and other rows of more than `Params.small` keys for `alone`.
    """
    p = sort.parts[0].params
    if not isinstance(p, Params) or p.serial or rows < 1 or length < 1:
        return None
    idle = set(_MEDIUM) if not p.small < length <= p.tile else set()
    if length > p.small and length >= p.window:
        idle |= _SHORT
    if length <= p.tile:
        idle |= {s.kernel for s in sort.plan.steps} - _LISTS - _SHORT - _MEDIUM
    steps = tuple(s for s in sort.plan.steps if s.kernel not in idle)
    return replace(sort.plan, steps=steps) if len(steps) < len(sort.plan.steps) else None
