"""The kernels of a reduction by key."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, SOURCE, word_array
from hsgen.algorithms.reduce_by_key.params import Params
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

VALUES_IN = Buffer(name="values_in", type="u32", unit="value", read_only=True)
VALUES_OUT = Buffer(name="values_out", type="u32", unit="value")
COUNTS, FIRSTS = Buffer(name="counts", type="u32"), Buffer(name="firsts", type="u32")
REPORT, WORDS = Buffer(name="report", type="u32"), Buffer(name="words", type="u32")


def _kernel(p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], *arrays: Array) -> Kernel:
    return Kernel(
        name=name,
        template=f"reduce_by_key/{name}",
        summary=summary,
        work_group=p.work_group,
        buffers=(*buffers, DEVICE_N) if p.signature.device_count else buffers,
        arrays=arrays,
        always=name == "clear",
        resident=3 if p.valued and name != "count" else 0,  # else compilers spill to have more
        algorithm="reduce_by_key",
        params=p,
    )


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they run."""
    if p.sections:
        return _sections(p)
    sums, part, marks = (word_array(name, p.work_group) for name in ("sums", "part", "marks"))
    scanned = (sums, part) if p.valued else (sums,)
    tile = (Array(name="keys", type="key", count=p.tile), word_array("held", p.tile), *scanned)
    reads = (SOURCE, VALUES_IN) if p.valued else (SOURCE,)
    reduced = (VALUES_OUT,) if p.valued else ()
    made = (
        _kernel(p, "clear", "report no groups, should the count on the device be 0", (REPORT,)),
        _kernel(
            p, "single", f"reduce up to {p.tile} keys", (*reads, DESTINATION, *reduced, COUNTS, FIRSTS, REPORT), *tile
        ),
        _kernel(p, "count", "count the runs that start in a span", (SOURCE, WORDS), sums),
        _kernel(p, "write", "reduce the runs of a span", (*reads, DESTINATION, *reduced, COUNTS, FIRSTS, WORDS), *tile),
        _kernel(p, "finish", "complete the runs of several spans", (*reduced, COUNTS, REPORT, WORDS), *scanned, marks),
    )
    return made if p.signature.device_count else made[1:]


def _sections(p: Params) -> tuple[Kernel, ...]:
    """The kernels of a reduction in one launch."""
    of_subgroups = ("counts_of", "marks", "carries") if p.valued else ("counts_of", "marks")
    tile = (
        Array(name="keys", type="key", count=p.tile),
        word_array("held", p.tile),
        *(word_array(name, p.subgroups) for name in of_subgroups),
    )
    out = (DESTINATION, *((VALUES_OUT,) if p.valued else ()), COUNTS, FIRSTS, REPORT)
    buffers = (SOURCE, *((VALUES_IN,) if p.valued else ()), *out)

    def made(name: str, template: str, summary: str, more: tuple[Buffer, ...], *arrays: Array) -> Kernel:
        found = replace(_kernel(p, name, summary, (*buffers, *more), *tile, *arrays), resident=p.resident)
        return replace(found, template=f"reduce_by_key/{template}", subgroup=p.subgroup, vectors=True)

    kernels = (
        _kernel(p, "clear", "report no groups, should the count on the device be 0", (REPORT,)),
        made("single", "sections_single", f"reduce up to {p.tile} keys", ()),
        _kernel(p, "begin", "clear the ticket and the states of tiles", (WORDS,)),
        made(
            "sections", "sections", "reduce a tile, look back in its section, store", (WORDS,), word_array("drawn", 1)
        ),
    )
    return kernels if p.signature.device_count else kernels[1:]


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {}
