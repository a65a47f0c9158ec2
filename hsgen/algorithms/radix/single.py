"""One work-group sorts all keys in one launch: a tile that it holds on chip from the first digit to the last."""

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

PLACES = Field(
    "int",
    "the counters by which one work-group sorts on chip, a power of two; 0 for none",
    required=False,
    greatest=65536,
)
FIELDS = {**rankers.FIELDS, "places": PLACES}
COUNTERS = (0, *steps(512, 8192))
"""Values of `places` that are worth trying."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Single(Ranked):
    """The table ``[radix.KEY.single]``.

    places: keys are sorted by this number of bins between the least and the greatest key (templates/radix/bin_sort.j2;
    stable: the same file), and digit by digit only where bins are crowded.  0 means never.
    """

    STRATEGY: ClassVar[str] = "single"
    places: int = 0


Params = Single


def of(p: Ranked, **changes: int) -> Single:
    """Return the shape of one work-group that sorts alone what a strategy leaves to it."""
    return recast(p, Single, bits=p.single_bits or p.bits, single_bits=None, resident=0, **changes)


def bucket(p: Ranked, bins: int) -> Bucket:
    """Return the tile as a bucket."""
    return Bucket(work_group=p.work_group, items=p.items, bins=bins)


def slots(p: Ranked) -> tuple[Array, ...]:
    """Return what a stable sort by bins takes in addition: slots that no ranking stores, and values of a word."""
    order = () if p.valued else (word_array("order", p.tile),)
    return (*order, *([word_array("slot_values", p.tile)] if _keeps_values(p) else []))


def _keeps_values(p: Ranked) -> bool:
    """Whether the values of a tile are kept on chip: they are words, and no indices."""
    return p.signature.value_bytes == 4 and not p.signature.index


def kernel(p: Single) -> Kernel:
    """Return the kernel."""
    buffers = tuple(b for b in moving(p, SOURCE, DESTINATION) if b != VALUES_TMP)
    summary = f"sort up to {p.alone} keys in one work-group"
    stable = p.valued or p.signature.bit_range
    more = bin_sort.arrays(bucket(p, p.places), p.subgroup) if p.places else ()
    more += slots(p) if p.places and stable else ()
    made = ranking(p, "single", summary, buffers, more, folder="radix/single/single:")
    if not p.places:
        return made
    data = OnChip(ranker=template(p.ranker), bins=_stable(p) if stable else _bins(p), lane_values=_lane_values(p))
    made = replace(made, template=f"radix/single/single:{'stable' if stable else 'keys'}", data=data)
    return bin_sort.with_room(replace(made, resident=1) if stable else made)


def _bins(p: Single) -> BinSort:
    """The sort by bins of keys alone."""
    return BinSort(shape=bucket(p, p.places), subgroup=p.subgroup, key=p.key)


def _stable(p: Single) -> StableBinSort:
    """The stable sort by bins. What lies where results go is read before any result is stored."""
    return StableBinSort(
        shape=bucket(p, p.places),
        subgroup=p.subgroup,
        key=p.key,
        load="pairs_in_bounds" if _keeps_values(p) else "in_bounds",
        crowd=Crowd(limit=2 * CROWD),
        store="later" if _stores_later(p) else "directly",
    )


def _stores_later(p: Single) -> bool:
    """Whether keys or values are read again once their ranks are known, by a bit range or since values are wide."""
    return p.signature.bit_range or (p.valued and not p.signature.index and not _keeps_values(p))


def _lane_values(p: Single) -> bool:
    """Whether lanes hold values."""
    return p.valued and (_keeps_values(p) or _stores_later(p))


def kernels(p: Single) -> tuple[Kernel, ...]:
    """Return the only kernel."""
    return (kernel(p),)


def plan(p: Single) -> Plan:
    """Return the plan: one row, up to a tile."""
    bits = (p.key.bits if p.end is None else p.end) - p.begin
    return Plan(steps=tuple(rows.single(p, kernel(p))), max_n=p.alone, first_bit=p.begin, bits=bits)


def moved(p: Single, step: Step, n: int) -> int:
    """Return the bytes that the launch reads and writes."""
    return rows.both(p, step, n)


def test_counts(p: Single, greatest: int) -> set[int]:
    """Return the counts at which there are more rows of keys."""
    return rows.test_counts(p, greatest)


def problems(p: Single, device: Device) -> Iterator[Problem]:
    """Yield what cannot work."""
    yield from rankers.problems(p)
    yield from place_problems(p, p.places)


def place_problems(p: Ranked, places: int) -> Iterator[Problem]:
    """Yield what is wrong with the places of a work-group."""
    if not places:
        return
    if p.ranker not in ("match_ballot", "match_broadcast"):
        yield (
            "places",
            f"the ranker {p.ranker} sorts by no places",
            'leave it out, or give "match_ballot" or "match_broadcast"',
        )
    if places & (places - 1) or p.work_group & (p.work_group - 1) or places < p.work_group:
        what = f"{places} places of {p.work_group} lanes are not powers of two, each lane with one place or more"
        yield "places", what, "give a power of two, and lanes that are one"


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield a box for each ranker with subgroup operations and each width of subgroups."""
    for box in search_space.matched(device):
        yield {**box, "places": COUNTERS}


P = TypeVar("P", bound="Single | Cooperative")


def fitted(p: P) -> P:
    """Return the shape for its key and form: by places only keys of words are sorted, and no parts of words."""
    return p if p.key.bytes >= 4 and p.signature.value != "packed" else replace(p, places=0)


def notes(p: Single) -> list[tuple[str, str]]:
    """Return derived values for people."""
    return rankers.notes(p)
