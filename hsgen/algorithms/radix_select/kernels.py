"""The kernels of a selection: one for rows of one work-group, and those that share longer rows."""

from __future__ import annotations

from hsgen.algorithms.buffers import DESTINATION, SOURCE, VALUES_IN, VALUES_OUT
from hsgen.algorithms.radix_select.params import STATE, Params
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

WORDS = Buffer(name="words", type="u32")


def _kernel(p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], *arrays: Array) -> Kernel:
    return Kernel(
        name=name,
        template=f"radix_select/{name}",
        summary=summary,
        work_group=p.work_group,
        buffers=buffers,
        arrays=arrays,
        resident=2
        if name in ("row", "place") or (name == "order" and p.places)
        else 0,  # else compilers spill for more
        algorithm="radix_select",
        params=p,
    )


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they run."""
    valued = p.signature.value_bytes > 0
    values = (*([] if p.signature.index else [VALUES_IN]), VALUES_OUT) if valued else ()
    keys = (Array(name="keys", type="key", count=p.capacity), Array(name="index", type="u32", count=p.capacity))
    bins = Array(name="bins", type="u32", count=p.bins)
    part, state = Array(name="part", type="u32", count=p.work_group), Array(name="state", type="u32", count=STATE)
    out = (DESTINATION, *values)
    on_chip = (bins, part, state) if p.places else ()
    return (
        _kernel(p, "row", "select from a row in one work-group", (SOURCE, *out), *keys, bins, part, state),
        _kernel(p, "clear", "clear the histograms of all rows", (WORDS,)),
        _kernel(p, "count", "count the next digit of keys that may be the k-th", (SOURCE, WORDS), bins, part, state),
        _kernel(p, "sift", "gather the keys that fit, or count those of a tile", (SOURCE, WORDS), bins, part, state),
        _kernel(p, "spine", "scan the counts of the tiles of a row", (WORDS,), part),
        _kernel(p, "place", "store the selected keys in the order of the row", (SOURCE, *out, WORDS), part),
        _kernel(p, "order", "sort the keys that were gathered", (*out, WORDS), *keys, *on_chip),
    )


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {"state_words": STATE}
