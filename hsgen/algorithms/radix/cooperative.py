"""The sort in one launch: work-groups are all resident, and wait for each other at barriers of the grid (CUDA).

A work-group keeps its keys in registers.  In each pass it stores the histogram of its keys, ranks the keys, waits for
the histograms of all work-groups, sums those of earlier work-groups, scatters the keys, and waits until all keys are
stored.  Before the passes, work-groups may try to deal the keys by their highest digit, and sort them on chip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from hsgen.algorithms.buffers import DESTINATION, SOURCE, word_array
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bin_sort, rankers, rows, search_space, single, tile
from hsgen.algorithms.radix.bin_sort import BinSort, Crowd, StableBinSort
from hsgen.algorithms.radix.parts import CROWD, WORDS, Body, moving, picking, ranking
from hsgen.algorithms.radix.rankers import Ranked
from hsgen.algorithms.radix.single import fitted as fitted
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.buffers import DEVICE
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType
from hsgen.core.plan import Binding, BitRange, Grid, Plan, Step
from hsgen.core.regions import Region, placed
from hsgen.core.scratch import aligned, scratch_of

_FOLDER = "radix/cooperative/"
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

    groups: the most work-groups.  All must be resident at once; the greatest count is the keys that they hold.
    least: the least keys of a lane, up to the greatest number of work-groups.
    places: the places by which a work-group sorts keys on chip, as `hsgen.algorithms.radix.single.Single` does.  With
    places, work-groups first try to deal the keys by their highest digit.  0 means neither.
    quantiles: keys are dealt by the share of a sample that is less, for uneven keys (see `uneven`).
    """

    STRATEGY: ClassVar[str] = "cooperative"
    least: int = 1
    places: int = 0
    quantiles: bool = False

    @property
    def dealt(self) -> bool:
        """True if many work-groups try to deal keys out and sort them by bins; only sorts of all bits do."""
        return self.places > 0 and not self.signature.bit_range

    @property
    def deal_bits(self) -> int:
        """The bits of the number whose highest digit keys are dealt by: of a key, or of a share of the sample."""
        return (self.radix * self.places).bit_length() - 1 if self.quantiles else self.key.bits

    @property
    def bin_sort(self) -> BinSort:
        """The sort by bins of the keys that are dealt to a work-group; the curve of a sample makes bins less even."""
        return (StableBinSort if self.valued else BinSort)(
            shape=single.bucket(self, self.places),
            subgroup=self.subgroup,
            key=self.key,
            digit="hs_quantile" if self.quantiles else "hs_digit",
            shift="given",
            crowd=Crowd(limit=2 * CROWD if self.quantiles else CROWD),
        )

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
    return aligned(2 * 4 * p.radix * p.groups)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLaunch(Body):
    """The variants of the phases of the kernel, as sets of macros.

    values: how values move in a pass.  deal: the attempt to deal keys, before the passes.  by: the number by whose
    highest digit keys are dealt.  sort: how a work-group sorts its dealt keys.  restore: the bits of zeros and NaNs, at
    the end.
    """

    values: str
    deal: str
    by: str
    sort: str
    restore: str = f"{_FOLDER}grid.j2:as_read"


def _variants(p: Cooperative) -> OneLaunch:
    """The variants of the phases for a shape."""
    moved = "alongside" if p.alongside else "by_slot"
    return OneLaunch(
        ranker=rankers.template(p.ranker),
        values=f"{_FOLDER}grid.j2:" + (moved if p.valued else "keys_alone"),
        deal=f"{_FOLDER}grid.j2:" + ("tried" if p.dealt else "untried"),
        by=f"{_FOLDER}grid.j2:" + ("by_curve" if p.quantiles else "by_digit"),
        sort=f"{_FOLDER}grid.j2:" + (f"pairs_{moved}" if p.valued else "keys"),
    )


def raw(data: OneLaunch) -> OneLaunch:
    """Return the variants for an argsort after which zeros and NaNs have the bits that they had."""
    return replace(data, raw=True, sort=f"{data.sort}_raw", restore=f"{_FOLDER}grid.j2:restored")


def kernel(p: Cooperative) -> Kernel:
    """Return the kernel that does all passes in one launch."""
    places = p.places if p.dealt else 0
    curve = (word_array("curve", places + 1),) if p.quantiles else ()
    attempt = (word_array("fits", 1), *bin_sort.arrays(single.bucket(p, places), p.subgroup)) if p.dealt else ()
    more = (word_array("bases", p.radix), word_array("moves", 1), *attempt, *curve)
    what = f"sort up to {p.groups * p.tile} keys in one launch"
    made = ranking(p, "grid", what, moving(p, SOURCE, DESTINATION, WORDS), more, folder=_FOLDER)
    handed = tuple(b if b.read_only else replace(b, coherent=DEVICE) for b in made.buffers)
    made = replace(picking(made, keys=False), cooperative=True, buffers=handed, scratch=tables(p))
    made = replace(made, template=f"{_FOLDER}grid:grid", data=_variants(p))
    return bin_sort.with_room(made) if places else made


def _single(p: Cooperative) -> Kernel:
    """The kernel of one work-group alone, whose tile is as large as its counts need: p's is for many work-groups."""
    return single.kernel(single.of(p, items=-(-p.alone // p.work_group), places=p.places))


def kernels(p: Cooperative) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
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
