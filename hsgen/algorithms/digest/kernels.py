"""The kernels of a digest: clear the report, digest the elements, hash the elements beyond n."""

from __future__ import annotations

from hsgen.algorithms.buffers import SOURCE
from hsgen.algorithms.digest.params import Params
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel
from hsgen.operations.digest import SEEDS, WORDS

REPORT = Buffer(name="report", type="u32")
VALUES = Buffer(name="values_in", type="u32", unit="value", read_only=True)

SUMS = 6
"""The words of a report that are sums: two hashes of two words, and two counts."""
BEYOND, COUNT = 6, 7
"""The words of a report with the hash of the elements at or beyond n, and with the count."""


def _kernel(p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], sums: int = 0) -> Kernel:
    return Kernel(
        name=name,
        template=f"digest/{name}",
        summary=summary,
        work_group=p.work_group,
        buffers=buffers,
        arrays=(Array(name="sums", type="u32", count=sums),) if sums else (),
        algorithm="digest",
        params=p,
    )


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they run."""
    reads = (SOURCE, *([VALUES] if p.reads else []), REPORT)
    return (
        _kernel(p, "blank", "clear the report", (REPORT,)),
        _kernel(p, "digest", "hash elements regardless of order, count those out of order", reads, SUMS),
        _kernel(p, "beyond", "hash the elements beyond n with their positions", reads, 1),
    )


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {"sums_count": SUMS, "beyond_at": BEYOND, "count_at": COUNT, "report_words": WORDS, "seeds": SEEDS}
