"""Steps changed in one member, wherever it lies."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from hsgen.core.plan import Grid, Guard, Step

_GUARD, _GRID = ({f.name for f in fields(kind)} for kind in (Guard, Grid))


def changed(step: Step, **changes: Any) -> Step:
    """Return a step with members of itself, its guard, its grid or its argument (`bits`, `flags`, ...) replaced."""
    own = {f.name: changes.pop(f.name) for f in fields(step) if f.name in changes}
    step = replace(step, **own)
    guard = {name: changes.pop(name) for name in _GUARD & set(changes)}
    grid = {name: changes.pop(name) for name in _GRID & set(changes)}
    return replace(
        step,
        guard=replace(step.guard, **guard),
        grid=replace(step.grid, **grid),
        argument=replace(step.argument, **changes),
    )
