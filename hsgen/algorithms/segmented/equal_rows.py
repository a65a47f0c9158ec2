"""Plans of segmented sorts of equal rows that are too long for one work-group, without launches that have no work.

The host knows the length of the rows, and so knows which lists of segments stay empty.  A launch for an empty list
would return at once.  The plan of this module leaves out such launches, so their kernels need not be compiled.  Plans
in bundles have all launches (`hsgen.algorithms.segmented.plan.plan`).
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
    """Return the plan without launches that have no work for `rows` rows of `length` keys; None if all have work.

    - `windows` sorts the rows that start in a window, except the last of them if it has more than `Params.small` keys.
      If rows are at least as long as a window, at most one row starts in a window, so `windows` has no work.
    - `alone` sorts rows of more than `Params.small` and up to `Params.tile` keys, which `sift` lists.
    - The passes sort rows of more than `Params.tile` keys, which `sift` lists too.
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
