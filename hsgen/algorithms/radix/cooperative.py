"""All passes in one launch, whose work-groups are all resident and wait for each other (CUDA).

Each holds its keys in registers.  In every pass it counts their digits and ranks them, waits until all have counted,
sums the counts of those before it, stores its keys where they belong, and waits until all have stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from hsgen.algorithms.buffers import DESTINATION, SOURCE
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bin_sort, rankers, rows, search_space, single, tile
from hsgen.algorithms.radix.bin_sort import BinSort, Crowd, OnChip, StableBinSort
from hsgen.algorithms.radix.parts import CROWD, WORDS, moving, picking, ranking
from hsgen.algorithms.radix.rankers import Ranked, array, template
from hsgen.algorithms.radix.single import fitted as fitted
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.buffers import DEVICE
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType
from hsgen.core.plan import Binding, BitRange, Grid, Plan, Step
from hsgen.core.regions import Region, placed
from hsgen.core.scratch import scratch_of

FIELDS = {
    **rankers.FIELDS,
    "groups": Field("int", "the most work-groups of all", least=1, greatest=65535),
    "least": Field("int", "the least keys of a lane, 1 if not given", required=False, least=1, greatest=64),
    "places": single.PLACES,
    **tile.SINGLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooperative(Ranked):
    """The table ``[radix.KEY.cooperative]``, for devices that can (`hsgen.core.device.Device.cooperative`).

    groups: the most work-groups of all, which must be resident at once; they sort as many keys as they hold.
    least: fewer work-groups are launched where lanes would get fewer keys.
    places: what a work-group sorts, it sorts by places as `hsgen.algorithms.radix.single.Single` does.
    In one launch keys are then first dealt out by their highest digit, where that is even enough.  0 means never.
    quantiles: they are dealt out by the share of a sample of them that is less, even or not (see `uneven`).
    """

    STRATEGY: ClassVar[str] = "cooperative"
    least: int = 1
    places: int = 0
    quantiles: bool = False

    @property
    def dealt(self) -> bool:
        """Whether many work-groups try to deal keys out and sort them by places: where all bits are sorted."""
        return self.places > 0 and not self.signature.bit_range

    @property
    def alongside(self) -> bool:
        """Whether values go through local memory: not the indices of even keys, which take no time to make."""
        return super(Cooperative, self).alongside and not (self.dealt and self.signature.index and not self.quantiles)


Params = Cooperative
MAX_N = (1 << 30) - 1  # kernels count in signed 32-bit numbers
_BOTH = 34
"""32-bit keys of a lane with their values for which 128 registers suffice."""


def uneven(p: Cooperative) -> Cooperative:
    """Return the shape for keys that are uneven, such as floats: a sample takes longer to count than a digit.

    With values a lane holds fewer keys; 64-bit ones next to values of 4 bytes would be too few.
    """
    made = replace(p, quantiles=p.dealt and p.radix <= p.places <= p.tile)
    if not (made.quantiles and made.valued):
        return made
    if p.key.bytes > 4:
        return p if made.alongside else made
    return replace(made, items=min(p.items, _BOTH))


def max_n(p: Cooperative) -> int:
    """Return the greatest count: what all work-groups hold."""
    return min(p.groups * p.tile, MAX_N)


def _table(p: Cooperative) -> int:
    """Bytes of the two tables of counts, which passes use by turns, as a multiple of 1024."""
    return -(-2 * 4 * p.radix * p.groups // 1024) * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The regions of scratch: histograms of all work-groups, in even and in odd passes."""

    grid_histograms: Region
    odd_grid_histograms: Region


def tables(p: Cooperative) -> Tables:
    """Return the layout of a shape."""
    size, what = p.groups * p.radix, "of each work-group: a word per digit, in passes of"
    regions = ("grid_histograms", size, f"{what} even number"), ("odd_grid_histograms", size, f"{what} odd number")
    return Tables(**placed(regions))


def kernel(p: Cooperative) -> Kernel:
    """Return the kernel that does all passes in one launch."""
    places = p.places if p.dealt else 0
    curve = (array("curve", places + 1),) if p.quantiles else ()
    arrays = bin_sort.arrays(single.bucket(p, places), p.subgroup) if places else ()
    more = (array("bases", p.radix), array("live", 2 if places else 1), *arrays, *curve)
    what = f"sort up to {p.groups * p.tile} keys in one launch"
    made = ranking(p, "grid", what, moving(p, SOURCE, DESTINATION, WORDS), more, folder="radix/cooperative/")
    handed = tuple(b if b.read_only else replace(b, coherent=DEVICE) for b in made.buffers)
    made = replace(picking(made, keys=False), cooperative=True, buffers=handed, scratch=tables(p))
    return bin_sort.with_room(replace(made, data=_on_chip(p))) if places else made


def _on_chip(p: Cooperative) -> OnChip:
    """What a work-group does with the keys that are dealt to it."""
    shape, crowd = single.bucket(p, p.places), Crowd(limit=2 * CROWD if p.quantiles else CROWD)
    digit = "hs_quantile" if p.quantiles else "hs_digit"
    kind = StableBinSort if p.valued else BinSort
    bins = kind(shape=shape, subgroup=p.subgroup, key=p.key, digit=digit, shift="given", crowd=crowd)
    return OnChip(ranker=template(p.ranker), bins=bins)


def _single(p: Cooperative) -> Kernel:
    """The kernel of one work-group alone, whose tile is as large as its counts need: p's is for many work-groups."""
    return single.kernel(single.of(p, items=-(-p.alone // p.work_group), places=p.places))


def kernels(p: Cooperative) -> tuple[Kernel, ...]:
    """Return every kernel, in the order in which a sort uses them."""
    return (*([_single(p)] if p.alone else []), kernel(p))


def plan(p: Cooperative) -> Plan:
    """Return the plan: a row for what one work-group sorts alone, and one for all other counts.

    Scratch holds the counts, then the second buffer of values; keys need none.
    """
    bound = {**rows.BOUND, "words": Binding(role="scratch"), "values_tmp": Binding(role="scratch", plus=_table(p))}
    least = p.work_group * p.least
    row = rows.launch(kernel(p), bound, p.alone, max_n(p), Grid(add=least - 1, div=least, cap=p.groups), BitRange())
    return Plan(
        steps=(*(rows.single(p, _single(p)) if p.alone else ()), row),
        max_n=max_n(p),
        first_bit=p.begin,
        bits=(p.key.bits if p.end is None else p.end) - p.begin,
        scratch=scratch_of(min_n=p.alone, plus=_table(p), per_n=p.signature.value_bytes),
    )


def moved(p: Cooperative, step: Step, n: int) -> int:
    """Return the bytes that the launch reads and writes: keys and values once each a pass, and the counts, which every
    work-group reads."""
    groups = min(-(-n // (p.work_group * p.least)), p.groups)
    both = 2 * n * (p.key.bytes + p.signature.value_bytes)
    made = n * p.signature.value_bytes if p.signature.index else 0  # places are not read, they are made
    return len(p.digits) * (both + 4 * p.radix * groups * (groups + 1)) - made


def test_counts(p: Cooperative, greatest: int) -> set[int]:
    """Return the counts at which there are more work-groups, or, once there are all, more rows of keys in each."""
    least = p.work_group * p.least
    each = (p.groups * p.work_group * n for n in (1, 2, p.least + 1, p.items - 1, p.items))
    return {*rows.test_counts(p, greatest), *(least * k for k in (1, 2, 3, p.groups)), *each}


def problems(p: Cooperative, device: Device) -> Iterator[Problem]:
    """Yield what cannot work."""
    yield from rankers.problems(p)
    if not device.cooperative:
        what = "its work-groups wait for each other, all of a launch (device.cooperative = true)"
        yield "", what, "choose another strategy"
    if p.ranker not in ("match_ballot", "match_broadcast"):
        yield "ranker", f"in one launch the ranker {p.ranker} cannot sort", 'give "match_ballot" or "match_broadcast"'
    else:
        yield from single.place_problems(p, p.places)
    if p.least > p.items:
        yield "least", f"a lane holds {p.items} keys", f"give at most {p.items}"


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield a box for each ranker and width of subgroups, of as many work-groups as cores hold one or two of."""
    if not device.cooperative:
        return
    groups = steps(16, min(device.groups, 1024)) if device.cores is None else (device.cores, 2 * device.cores)
    for box in search_space.matched(device):
        yield {**box, "groups": groups, "least": (1, 2, 4, 8), "places": single.COUNTERS}


def notes(p: Cooperative) -> list[tuple[str, str]]:
    """Return derived values for people."""
    return rankers.notes(p)
