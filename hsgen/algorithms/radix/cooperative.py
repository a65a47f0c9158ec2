"""The sort in one launch (CUDA): all work-groups are resident, and wait for each other at grid barriers.

In each pass, a work-group loads its keys to registers, stores their histogram, and ranks them.  After a grid barrier,
the work-group adds up the histograms of earlier work-groups and scatters its keys.  A second grid barrier ends the
pass, if the pass has moved keys.

Before the passes, work-groups may try to partition the keys, so that each work-group gets the keys in one range of
values.  The attempt fails if a work-group would get too many keys.  If the attempt succeeds, each work-group sorts its
keys on chip, and no pass runs.  If the attempt fails, no key has moved, and the passes sort the keys.
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
    "bins": single.BINS,
    **tile.SINGLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooperative(Ranked):
    """The target table ``[radix.KEY.cooperative]``, for devices with `hsgen.core.device.Device.cooperative`.

    groups: the greatest number of work-groups, all of which must be resident at once.  The greatest count of the sort
    is the number of keys that they hold together.
    least: the least number of keys per lane.  A launch has one work-group for every `work_group` x `least` keys, up to
    `groups` work-groups.
    bins: the number of bins with which a work-group sorts on chip after the partition.  0 means that there is no
    partition: the sort consists of passes.
    quantiles: whether keys are partitioned by their quantiles in a sample, not by their highest digits.  Quantiles suit
    uneven keys, whose highest digits differ in frequency (see `uneven`).
    """

    STRATEGY: ClassVar[str] = "cooperative"
    least: int = 1
    bins: int = 0
    quantiles: bool = False

    @property
    def partitioned(self) -> bool:
        """Whether work-groups first try to partition the keys.  False in sorts by a bit range."""
        return self.bins > 0 and not self.signature.bit_range

    @property
    def partition_bits(self) -> int:
        """The bits of the number by whose highest digit keys are partitioned.

        The number is the key or, with `quantiles`, the quantile of the key in a sample.
        """
        return (self.radix * self.bins).bit_length() - 1 if self.quantiles else self.key.bits

    @property
    def bin_sort(self) -> BinSort:
        """The parameters of the sort by bins with which a work-group sorts its keys after the partition.

        A sort by bins is given up if a bin has more than `CROWD` keys or, with `quantiles`, more than 2 x `CROWD` keys:
        then, the numbers of keys in the bins differ more.
        """
        return (StableBinSort if self.valued else BinSort)(
            shape=single.bucket(self, self.bins),
            subgroup=self.subgroup,
            key=self.key,
            digit="hs_quantile" if self.quantiles else "hs_digit",
            shift="given",
            crowd=Crowd(limit=2 * CROWD if self.quantiles else CROWD),
        )

    @property
    def alongside(self) -> bool:
        """Whether values go through local memory next to their keys.

        False in an argsort that partitions by the highest digit: lanes compute indices only when they store them.
        """
        return super(Cooperative, self).alongside and not (
            self.partitioned and self.signature.index and not self.quantiles
        )


Params = Cooperative
MAX_N = (1 << 30) - 1  # kernels count in signed 32-bit numbers
_BOTH = 34
"""The most 32-bit keys with values that a lane can hold in 128 registers."""


def uneven(p: Cooperative) -> Cooperative:
    """Return the parameters for uneven keys, such as floats: keys are partitioned by their quantiles in a sample.

    For even keys, `p` is faster, because a histogram of the highest digit takes less time than a sample.

    With 32-bit keys and values, a lane then holds at most `_BOTH` keys.  If 64-bit keys go through local memory with
    their values, the result is `p` itself, because a lane would hold too few keys.
    """
    shape = replace(p, quantiles=p.partitioned and p.radix <= p.bins <= p.tile)
    if not (shape.quantiles and shape.valued):
        return shape
    if p.key.bytes > 4:
        return p if shape.alongside else shape
    return replace(shape, items=min(p.items, _BOTH))


def max_n(p: Cooperative) -> int:
    """Return the greatest count of the sort: the number of keys that all work-groups hold together."""
    return min(p.groups * p.tile, MAX_N)


def _table(p: Cooperative) -> int:
    """Return the bytes of scratch for both tables of histograms (see `Tables`), rounded up to a multiple of 1024."""
    return aligned(2 * 4 * p.radix * p.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The regions of scratch: two tables with the histogram of each work-group.  Passes use them in turn.

    A pass that moves no key has no second barrier.  A work-group may then store the histogram of the next pass while
    others still read the table of this pass.
    """

    grid_histograms: Region
    odd_grid_histograms: Region


def tables(p: Cooperative) -> Tables:
    """Return the regions of scratch for the parameters `p`."""
    size, text = p.groups * p.radix, "of each work-group: a word per digit, in passes of"
    regions = (
        ("grid_histograms", size, f"{text} even number"),
        ("odd_grid_histograms", size, f"{text} odd number"),
    )
    return Tables(**placed(regions))


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLaunch(Body):
    """The choice of code for the phases of the kernel (see `hsgen.algorithms.radix.phases`).

    values: how a pass moves values; one variant is for keys without values.
    attempt: whether work-groups try to partition the keys before the passes.
    by: whether the highest digit of the key determines its work-group in the partition, or that of its quantile.
    sort: how a work-group sorts its keys after the partition.
    restore: whether the kernel restores the original bits of zeros and NaNs at the end.
    """

    values: str
    attempt: str
    by: str
    sort: str
    restore: str = f"{_FOLDER}grid.j2:as_read"


def _variants(p: Cooperative) -> OneLaunch:
    """Return the choice of code that the parameters `p` require."""
    moved = "alongside" if p.alongside else "by_slot"
    return OneLaunch(
        ranker=rankers.template(p.ranker),
        values=f"{_FOLDER}grid.j2:" + (moved if p.valued else "keys_alone"),
        attempt=f"{_FOLDER}grid.j2:" + ("tried" if p.partitioned else "untried"),
        by=f"{_FOLDER}grid.j2:" + ("by_curve" if p.quantiles else "by_digit"),
        sort=f"{_FOLDER}grid.j2:" + (f"pairs_{moved}" if p.valued else "keys"),
    )


def raw(data: OneLaunch) -> OneLaunch:
    """Return `data`, changed for an argsort that restores the original bits of zeros and NaNs (`floats.raw`)."""
    return replace(data, raw=True, sort=f"{data.sort}_raw", restore=f"{_FOLDER}grid.j2:restored")


def kernel(p: Cooperative) -> Kernel:
    """Return the kernel that runs all passes in one launch."""
    bins = p.bins if p.partitioned else 0
    curve = (word_array("curve", bins + 1),) if p.quantiles else ()
    attempt = (word_array("fits", 1), *bin_sort.arrays(single.bucket(p, bins), p.subgroup)) if p.partitioned else ()
    more = (word_array("bases", p.radix), word_array("moves", 1), *attempt, *curve)
    summary = f"sort up to {p.groups * p.tile} keys in one launch"
    moves = moving(p, SOURCE, DESTINATION, WORDS)
    grid = ranking(p, "grid", summary, moves, more, template=f"{_FOLDER}grid:grid")
    buffers = tuple(b if b.read_only else replace(b, coherent=DEVICE) for b in grid.buffers)
    grid = replace(picking(grid, keys=False), cooperative=True, buffers=buffers, scratch=tables(p))
    grid = replace(grid, data=_variants(p))
    return bin_sort.with_room(grid) if bins else grid


def _single(p: Cooperative) -> Kernel:
    """Return the kernel in which one work-group sorts up to `p.alone` keys; its tile is just large enough for them."""
    return single.kernel(single.of(p, items=-(-p.alone // p.work_group), bins=p.bins))


def kernels(p: Cooperative) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
    return (*([_single(p)] if p.alone else []), kernel(p))


def plan(p: Cooperative) -> Plan:
    """Return the launch plan: a row for counts that one work-group sorts alone, and a row for all larger counts.

    Scratch holds the two tables of histograms, then the second buffer of values.  Keys need no second buffer, because
    all work-groups hold their keys in registers before any work-group stores.
    """
    bound = {**rows.BOUND, "words": Binding(role="scratch"), "values_tmp": Binding(role="scratch", plus=_table(p))}
    least = p.work_group * p.least
    row = rows.launch(kernel(p), bound, p.alone, max_n(p), Grid(add=least - 1, div=least, cap=p.groups), BitRange())
    return Plan(
        steps=(*(rows.single(p, _single(p)) if p.alone else ()), row),
        max_n=max_n(p),
        first_bit=p.begin,
        bits=p.last - p.begin,
        scratch=scratch_of(min_n=p.alone, plus=_table(p), per_n=p.signature.value_bytes),
    )


def moved(p: Cooperative, step: Step, n: int) -> int:
    """Return the bytes that the launch reads and writes for `n` keys.

    The number assumes that passes sort the keys.  Each pass reads and writes keys and values once.  In each pass, every
    work-group stores its histogram, and reads those of all work-groups.
    """
    groups = min(-(-n // (p.work_group * p.least)), p.groups)
    both = 2 * n * (p.key.bytes + p.signature.value_bytes)
    unread = n * p.signature.value_bytes if p.signature.index else 0  # the first pass of an argsort reads no values
    return len(p.digits) * (both + 4 * p.radix * groups * (groups + 1)) - unread


def test_counts(p: Cooperative, greatest: int) -> set[int]:
    """Return the counts at which the launch changes.

    Up to the count that needs `p.groups` work-groups, these are counts at which the launch gets one more work-group.
    Beyond, these are counts at which each lane gets one more key.
    """
    least = p.work_group * p.least
    each = (p.groups * p.work_group * n for n in (1, 2, p.least + 1, p.items - 1, p.items))
    return {*rows.test_counts(p, greatest), *(least * k for k in (1, 2, 3, p.groups)), *each}


def problems(p: Cooperative, device: Device) -> Iterator[Problem]:
    """Yield the problems of the parameters on a device."""
    yield from rankers.problems(p)
    if not device.cooperative:
        message = "its work-groups wait for each other, all of a launch (device.cooperative = true)"
        yield "", message, "choose another strategy"
    if p.ranker not in ("match_ballot", "match_broadcast"):
        yield "ranker", f"in one launch the ranker {p.ranker} cannot sort", 'give "match_ballot" or "match_broadcast"'
    else:
        yield from single.bin_problems(p, p.bins)
    if p.least > p.items:
        yield "least", f"a lane holds {p.items} keys", f"give at most {p.items}"


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield a search region for each ranker with subgroup operations, and for each subgroup width.

    The candidates for `groups` are one or two work-groups per core, if the number of cores is known.
    """
    if not device.cooperative:
        return
    groups = steps(16, min(device.groups, 1024)) if device.cores is None else (device.cores, 2 * device.cores)
    for box in search_space.matched(device):
        yield {**box, "groups": groups, "least": (1, 2, 4, 8), "bins": single.COUNTERS}


def notes(p: Cooperative) -> list[tuple[str, str]]:
    """Return the ranker as a (name, text) pair, for `hsgen show`."""
    return rankers.notes(p)
