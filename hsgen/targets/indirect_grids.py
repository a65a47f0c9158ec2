"""Adds support for device-side counts to a plan.

The count of keys is then in device memory, and the host does not know it.  A first step computes the grids of all other
steps from this count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hsgen.algorithms.buffers import DEVICE_N
from hsgen.core.buffers import Buffer
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, Grid, Guard, IndirectGrids, Plan, Step, fixed
from hsgen.core.scratch import Scratch, ScratchRule, aligned

LANES = 64
"""The work-group size of the step that computes grids, in lanes, unless the device's greatest work-group is smaller."""


def counted(kernels: tuple[Kernel, ...], plan: Plan, lanes: int = LANES) -> tuple[tuple[Kernel, ...], Plan]:
    """Add a first step that computes the grids of all other steps; return the kernels and the plan with it.

    The step stores the grids at the start of scratch.  The scratch of the other steps moves behind the grids.  `lanes`
    is the greatest work-group of the device.
    """
    room = aligned(12 * (len(plan.steps) + 1))
    rows = _grid_rows(kernels, plan)
    lanes = min(lanes, LANES)
    groups = -(-(len(rows) + 1) // lanes)
    first = kernels[0]
    grids = Kernel(
        name="grids",
        template="grids",
        summary="work out the grids of all steps from the count",
        work_group=lanes,
        always=True,
        buffers=(DEVICE_N, Buffer(name="words", type="u32")),
        algorithm=first.algorithm,
        params=first.params,
        data=rows,
    )
    step = Step(
        kernel="grids",
        bindings=(Binding(role="count"), Binding(role="scratch")),
        guard=Guard(max_n=plan.max_n),
        grid=fixed(groups),
        argument=IndirectGrids(),
    )
    moved = plan.after(room)
    scratch = Scratch((ScratchRule(plus=room), *moved.scratch.rules))
    return (grids, *kernels), replace(moved, steps=(step, *moved.steps), scratch=scratch)


def _grid_rows(kernels: Iterable[Kernel], plan: Plan) -> tuple[tuple[Guard, Grid], ...]:
    """Return the guard and the grid of each step, from which the first step computes the grids.

    Steps with an `always` kernel also run for count 0 and for all small counts, so their guards start at 0.
    """
    always = {k.name for k in kernels if k.always}
    return tuple(
        (replace(s.guard, min_n=0, at_zero=True) if s.kernel in always else s.guard, s.grid) for s in plan.steps
    )
