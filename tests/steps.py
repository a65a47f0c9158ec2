"""Steps with one changed member at any level."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from hsgen.core.plan import Grid, Guard, Step

_GUARD, _GRID = ({f.name for f in fields(kind)} for kind in (Guard, Grid))


def changed(step: Step, **run_boundaries: Any) -> Step:
    """Return a step with members of itself, its guard, its grid or its argument (`bits`, `flags`, ...) replaced."""
    own = {f.name: run_boundaries.pop(f.name) for f in fields(step) if f.name in run_boundaries}
    step = replace(step, **own)
    guard = {name: run_boundaries.pop(name) for name in _GUARD & set(run_boundaries)}
    grid = {name: run_boundaries.pop(name) for name in _GRID & set(run_boundaries)}
    return replace(
        step,
        guard=replace(step.guard, **guard),
        grid=replace(step.grid, **grid),
        argument=replace(step.argument, **run_boundaries),
    )
