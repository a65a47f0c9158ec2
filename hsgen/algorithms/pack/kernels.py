"""The kernel of a pack."""

from __future__ import annotations

from hsgen.algorithms.buffers import DESTINATION
from hsgen.algorithms.pack.params import Params
from hsgen.core.buffers import Buffer
from hsgen.core.interpreter import LAYOUT_BITS
from hsgen.core.kernels import Kernel
from hsgen.operations.pack import BEGIN, DESCENDING, PRESENT, WIDTH
from hsgen.operations.records import OFFSET, STRIDE

COLUMNS = tuple(
    Buffer(name=name, type="u32", read_only=True, shared=True) for name in ("source", "second", "third", "fourth")
)


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the one kernel."""
    made = Kernel(
        name="pack",
        template="pack/pack",
        summary="join the columns of rows",
        work_group=p.work_group,
        buffers=(*COLUMNS, DESTINATION),
        algorithm="pack",
        params=p,
    )
    return (made,)


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    bits = {"width": WIDTH, "present": PRESENT, "descending": DESCENDING, "begin": BEGIN}
    each = LAYOUT_BITS // (STRIDE + OFFSET)
    layouts = [(("hs_rows()", "hs_take()")[i // each], (STRIDE + OFFSET) * (i % each)) for i in range(len(COLUMNS))]
    columns = [(b.name, *layout) for b, layout in zip(COLUMNS, layouts, strict=True)]
    return {"columns": columns, **bits, "stride": STRIDE, "offset": OFFSET}
