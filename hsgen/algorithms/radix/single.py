"""The sort of all keys by one work-group, in one launch; the keys stay on chip until they are sorted.

The target table ``[radix.KEY.single]`` selects this strategy.  All other strategies but `per_thread` use its kernel for
small counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeVar

from hsgen.algorithms.buffers import DESTINATION, SOURCE, VALUES_TMP, word_array
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bin_sort, rankers, rows, search_space
from hsgen.algorithms.radix.bin_sort import BinSort, Crowd, OnChip, StableBinSort
from hsgen.algorithms.radix.parts import CROWD, moving, ranking
from hsgen.algorithms.radix.rankers import Ranked, template
from hsgen.algorithms.radix.stages import Bucket
from hsgen.algorithms.radix.tile import recast
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.buffers import Array
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType
from hsgen.core.plan import Plan, Step

if TYPE_CHECKING:
    from hsgen.algorithms.radix.cooperative import Cooperative

BINS = Field(
    "int",
    "the counters by which one work-group sorts on chip, a power of two; 0 for none",
    required=False,
    greatest=65536,
)
FIELDS = {**rankers.FIELDS, "bins": BINS}
COUNTERS = (0, *steps(512, 8192))
"""The candidates for `bins` in a search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Single(Ranked):
    """The target table ``[radix.KEY.single]``.

    bins: the number of bins of the sort by bins (`hsgen.algorithms.radix.bin_sort`).  The bins divide the values of the
    highest bits in which keys differ.  If bins are crowded, keys are sorted digit by digit instead.  0 means that keys
    are always sorted digit by digit.
    """

    STRATEGY: ClassVar[str] = "single"
    bins: int = 0


Params = Single


def of(p: Ranked, **changes: int) -> Single:
    """Return the parameters of this strategy that the kernel for small counts has in the strategy of `p`.

    changes: fields that differ from those of `p`.
    """
    return recast(p, Single, bits=p.single_bits or p.bits, single_bits=None, resident=0, **changes)


def bucket(p: Ranked, bins: int) -> Bucket:
    """Return the parameters of a sort by `bins` bins of a tile of `p`."""
    return Bucket(work_group=p.work_group, items=p.items, bins=bins)


def slots(p: Ranked) -> tuple[Array, ...]:
    """Return the local arrays that a stable sort by bins needs in addition to those of `bin_sort.arrays`.

    `order` holds the original slot of each key; in a sort with values, the ranker has this array already.
    `slot_values` holds values of 4 bytes.
    """
    order = () if p.valued else (word_array("order", p.tile),)
    return (*order, *([word_array("slot_values", p.tile)] if _keeps_values(p) else []))


def _keeps_values(p: Ranked) -> bool:
    """Whether values stay on chip during the sort: true if they have 4 bytes and are not indices."""
    return p.signature.value_bytes == 4 and not p.signature.index


def kernel(p: Single) -> Kernel:
    """Return the kernel with which one work-group sorts all keys."""
    buffers = tuple(b for b in moving(p, SOURCE, DESTINATION) if b != VALUES_TMP)
    summary = f"sort up to {p.alone} keys in one work-group"
    stable = p.valued or p.signature.bit_range
    more = bin_sort.arrays(bucket(p, p.bins), p.subgroup) if p.bins else ()
    more += slots(p) if p.bins and stable else ()
    kind = "single" if not p.bins else "stable" if stable else "keys"
    kernel = ranking(p, "single", summary, buffers, more, template=f"radix/single/single:{kind}")
    if not p.bins:
        return kernel
    data = OnChip(ranker=template(p.ranker), bins=_stable(p) if stable else _bins(p), lane_values=_lane_values(p))
    kernel = replace(kernel, data=data)
    return bin_sort.with_room(replace(kernel, resident=1) if stable else kernel)


def _bins(p: Single) -> BinSort:
    """Return the parameters of the sort by bins for keys without values, which need not be stable."""
    return BinSort(shape=bucket(p, p.bins), subgroup=p.subgroup, key=p.key)


def _stable(p: Single) -> StableBinSort:
    """Return the parameters of the stable sort by bins, for keys with values and for sorts by a bit range.

    In a sort in place, results overwrite keys and values of the input.  A kernel that still reads input after the ranks
    are known therefore reads all of it before it stores any result.
    """
    return StableBinSort(
        shape=bucket(p, p.bins),
        subgroup=p.subgroup,
        key=p.key,
        load="pairs_in_bounds" if _keeps_values(p) else "in_bounds",
        crowd=Crowd(limit=2 * CROWD),
        store="later" if _stores_later(p) else "directly",
    )


def _stores_later(p: Single) -> bool:
    """Whether the kernel reads keys or values from memory after the ranks are known.

    True in sorts by a bit range, and for values of more than 4 bytes, unless the values are indices.
    """
    return p.signature.bit_range or (p.valued and not p.signature.index and not _keeps_values(p))


def _lane_values(p: Single) -> bool:
    """Whether lanes hold values in registers."""
    return p.valued and (_keeps_values(p) or _stores_later(p))


def kernels(p: Single) -> tuple[Kernel, ...]:
    """Return the only kernel of the strategy."""
    return (kernel(p),)


def plan(p: Single) -> Plan:
    """Return the launch plan: one row, for counts up to `p.alone`."""
    bits = p.last - p.begin
    return Plan(steps=tuple(rows.single(p, kernel(p))), max_n=p.alone, first_bit=p.begin, bits=bits)


def moved(p: Single, step: Step, n: int) -> int:
    """Return the bytes that the launch reads and writes for `n` keys."""
    return rows.both(p, step, n)


def test_counts(p: Single, greatest: int) -> set[int]:
    """Return the counts near which the kernel changes its method."""
    return rows.test_counts(p, greatest)


def problems(p: Single, device: Device) -> Iterator[Problem]:
    """Yield the problems of the parameters; none of them depends on the device."""
    yield from rankers.problems(p)
    yield from bin_problems(p, p.bins)


def bin_problems(p: Ranked, bins: int) -> Iterator[Problem]:
    """Yield the problems of a sort by `bins` bins in a kernel with the lanes and the ranker of `p`; none for 0 bins."""
    if not bins:
        return
    if p.ranker not in ("match_ballot", "match_broadcast"):
        yield (
            "bins",
            f"the ranker {p.ranker} sorts by no bins",
            'leave it out, or give "match_ballot" or "match_broadcast"',
        )
    if bins & (bins - 1) or p.work_group & (p.work_group - 1) or bins < p.work_group:
        message = f"{bins} bins of {p.work_group} lanes are not powers of two, each lane with one place or more"
        yield "bins", message, "give a power of two, and lanes that are one"


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield a search region for each ranker with subgroup operations, and for each subgroup width."""
    for box in search_space.matched(device):
        yield {**box, "bins": COUNTERS}


P = TypeVar("P", bound="Single | Cooperative")


def fitted(p: P) -> P:
    """Return the parameters, with `bins` = 0 if keys have fewer than 4 bytes or are packed with values."""
    return p if p.key.bytes >= 4 and p.signature.value != "packed" else replace(p, bins=0)


def notes(p: Single) -> list[tuple[str, str]]:
    """Return the ranker as a (name, text) pair, for `hsgen show`."""
    return rankers.notes(p)
