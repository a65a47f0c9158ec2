"""The kernels of a selection: one for rows of one work-group, and six for rows that several work-groups share."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.buffers import DESTINATION, SOURCE, VALUES_IN, VALUES_OUT, word_array
from hsgen.algorithms.radix_select.params import CROWDED, DIFFER, GATHERED, PICK, Params, layout
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

WORDS = Buffer(name="words", type="u32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The variants of the phases of a kernel.

    sorter: how a work-group sorts the keys that it holds.
    """

    sorter: str


def _kernel(p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], *arrays: Array) -> Kernel:
    spills = name in ("row", "place") or (
        name == "order" and p.places
    )  # by default, compilers spill to fit more work-groups
    return Kernel(
        name=name,
        template=f"radix_select/{'row' if name == 'row' else 'shared_rows'}:{name}",
        summary=summary,
        work_group=p.work_group,
        buffers=buffers,
        arrays=arrays,
        resident=2 if spills else 0,
        algorithm="radix_select",
        params=p,
        data=Body(sorter=f"radix_select/sort.j2:{'by_bins' if p.places else 'by_network'}"),
        scratch=layout(p) if WORDS in buffers else None,
    )


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they run."""
    valued = p.signature.value_bytes > 0
    values = (*([] if p.signature.index else [VALUES_IN]), VALUES_OUT) if valued else ()
    keys = (Array(name="keys", type="key", count=p.capacity), word_array("index", p.capacity))
    bins, partials = word_array("bins", p.bins), word_array("partials", p.work_group)
    narrowing = (bins, partials, word_array("pick", PICK))
    sorting = (word_array("differ", DIFFER), word_array("crowded", CROWDED)) if p.places else ()
    counts, gathered = word_array("tile_counts", 2), word_array("gathered_keys", GATHERED)
    out = (DESTINATION, *values)
    on_chip = (*keys, bins, partials, *sorting) if p.places else keys
    return (
        _kernel(p, "row", "select from a row in one work-group", (SOURCE, *out), *keys, *narrowing, gathered, *sorting),
        _kernel(p, "clear", "clear the histograms of all rows", (WORDS,)),
        _kernel(p, "count", "count the next digit of keys that may be the k-th", (SOURCE, WORDS), *narrowing),
        _kernel(p, "sift", "gather the keys that fit, or count those of a tile", (SOURCE, WORDS), *narrowing, counts),
        _kernel(p, "spine", "scan the counts of the tiles of a row", (WORDS,), partials),
        _kernel(p, "place", "store the selected keys in the order of the row", (SOURCE, *out, WORDS), partials),
        _kernel(p, "order", "sort the keys that were gathered", (*out, WORDS), *on_chip),
    )


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {}
