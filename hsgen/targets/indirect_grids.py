"""A step for plans whose count is in device memory, which computes the sizes of grids on the device.

The host does not know the count, and cannot compute the grids.  On hosts with indirect dispatch, a first launch loads
the count, and stores the grids of all other launches.
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
"""The greatest number of lanes in a work-group of the step that computes grids."""


def counted(kernels: tuple[Kernel, ...], plan: Plan, lanes: int = LANES) -> tuple[tuple[Kernel, ...], Plan]:
    """Return the kernels and the plan of a sort with a new first step, which computes the grids of all other steps.

    The step stores the grids at the start of scratch.  All scratch offsets of the other steps grow accordingly.
    lanes: the greatest work-group of the device, in lanes.
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
    """Return pairs (guard, grid) of all steps, from which the kernel of the first step computes the grids.

    If a step's kernel has `Kernel.always`, the guard here has no lower bound, so the step also runs for the count 0.
    """
    always = {k.name for k in kernels if k.always}
    return tuple(
        (replace(s.guard, min_n=0, at_zero=True) if s.kernel in always else s.guard, s.grid) for s in plan.steps
    )
