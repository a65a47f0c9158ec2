"""The kernels of a group-by: those of the reduction and of the hash tables for few groups.

The sort's kernels are those of the target's sort.  `pair_partition_kernels` has the kernels that partition pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms import reduce_by_key
from hsgen.algorithms.buffers import DESTINATION, SOURCE, word_array
from hsgen.algorithms.group_by import few, pair_partition
from hsgen.algorithms.group_by.params import Params
from hsgen.algorithms.reduce_by_key.kernels import COUNTS, FIRSTS, REPORT, VALUES_IN, VALUES_OUT
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

REDUCE = "reduce_"
"""The prefix of the reduction's kernel names, which would otherwise clash with kernel names of the sort."""
TABLES, PAIR_PARTITION = "group_by/tables", "group_by/pair_partition"
"""The names of the templates of hash tables and of the pair partition."""
GATE = Buffer(name="gate", type="u32")
"""A buffer whose first word becomes nonzero when all groups are stored.  Kernels that read it then return at once."""
FEW = Buffer(name="few", type="u32")
DEALS = Buffer(name="deals", type="u32")
"""The buffer of the pair partition.  `hsgen.algorithms.group_by.pair_partition.Words` lists its regions."""
_LANES = 1536  # lanes of the kernel `few_tables` that run on a core at once


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in launch order, without those of the sort and of the pair partition."""
    return (*tables(p), *reducing(p))


def reducing(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels that reduce the sorted keys."""
    return tuple(replace(k, name=REDUCE + k.name, algorithm="group_by") for k in reduce_by_key.kernels(p.reduce))


def tables(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels that reduce the keys in hash tables if there are few groups; none unless `p.few`."""
    if p.few is None:
        return ()
    slots = p.few.slots + 1
    reduced = (VALUES_OUT,) if p.valued else ()
    out = (DESTINATION, *reduced, COUNTS, FIRSTS, REPORT)
    local = [word_array("slots", slots), word_array("times", slots), *([word_array("sums", slots)] if p.valued else [])]
    table = (Array(name="tile", type="key", count=slots), *(word_array(x, p.few.closed) for x in ("ranks", "before")))
    reads = (SOURCE, VALUES_IN) if p.valued else (SOURCE,)
    repeats = word_array("differing", 1), word_array("repeats", 1), word_array("marks", p.few.sample_slots // 32 + 1)
    sampled = word_array("slots", p.few.sample_slots), word_array("distinct", 1), *(repeats if p.pair_partition else ())
    begin = (SOURCE, FEW, DEALS) if p.pair_partition else (SOURCE, FEW)
    return (
        _kernel(p, "few_begin", "sample keys, clear what follows", begin, *sampled),
        _kernel(
            p,
            "few_tables",
            "reduce few groups in tables",
            (*reads, FEW),
            *local,
            word_array("greatest", 1),
            word_array("full", 2),
        ),
        _kernel(p, "few_close", "store few groups in order", (*out, FEW), *table, word_array("groups", 1)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """The choice of code for the kernels with hash tables (see `hsgen.core.kernels.VARIANT`).

    values: whether the kernels reduce values, or only count keys.
    sample: whether the kernel `few_begin` also decides, by its sample, how the pair partition reduces the pairs.
    """

    values: str
    sample: str


def _kernel(p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], *arrays: Array) -> Kernel:
    assert p.few is not None
    return Kernel(
        name=name,
        template=f"{TABLES}:{name}",
        summary=summary,
        work_group=p.pair_partition.count.work_group if p.pair_partition and name == "few_begin" else p.few.work_group,
        buffers=buffers,
        arrays=arrays,
        subgroup=p.reduce.subgroup if p.pair_partition and name == "few_begin" else 1,
        resident=max(1, _LANES // p.few.work_group) if name == "few_tables" else 0,  # else registers spill
        algorithm="group_by",
        params=p,
        data=Phases(
            values=f"{TABLES}.j2:" + ("pairs" if p.valued else "keys_alone"),
            sample=f"{PAIR_PARTITION}.j2:for_pairs" if p.pair_partition else f"{TABLES}.j2:for_few",
        ),
        scratch=pair_partition.words(p.pair_partition, p.few) if p.pair_partition else few.words(p.few),
    )


def context(p: object) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    if not isinstance(p, Params) or p.few is None:
        return {}
    samples = [p.few.sample, *([p.pair_partition.sample.fewer] if p.pair_partition else [])]
    return {
        "few": p.few,
        "sampled": [p.few.sampled(n) for n in samples],
        "deal": p.pair_partition,
        "EMPTY": few.EMPTY,
        "TRIES": few.TRIES,
    }
