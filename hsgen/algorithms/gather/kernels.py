"""The kernel of a gather."""

from __future__ import annotations

from hsgen.algorithms.buffers import SOURCE, VALUES_IN, VALUES_OUT
from hsgen.algorithms.gather.params import Params
from hsgen.core.kernels import Kernel


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the one kernel."""
    made = Kernel(
        name="gather",
        template="gather/gather",
        summary="move the items of a table by index",
        work_group=p.work_group,
        buffers=(SOURCE, VALUES_IN, VALUES_OUT),
        algorithm="gather",
        params=p,
    )
    return (made,)


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`: none."""
    return {}
