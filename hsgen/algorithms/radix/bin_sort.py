"""Sorts by bins on chip: one work-group counts its keys by bin, and compares the keys of a bin.

The template is ``templates/radix/bin_sort.j2``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import word_array
from hsgen.algorithms.radix.parts import CROWD, NEAR, SQUARES, Body, sums
from hsgen.algorithms.radix.stages import Bucket
from hsgen.core.buffers import Array
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """The bound above which bins have too many keys to compare the keys of a bin with each other.

    measure: "greatest", the number of keys in the fullest bin; or "mean", the mean over all keys of the number of keys
    in the same bin.
    limit: the bound; bins are crowded if the measure exceeds it.
    """

    measure: str = "greatest"
    limit: int = CROWD


SPREAD = Crowd(measure="mean", limit=SQUARES)
"""The bound for sorts that have no other sort on chip for crowded buckets.  The bound allows a few bins with many
keys.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinSort:
    """A sort by bins of at most work_group x items keys.

    shape: the lanes, the keys of a lane, and the bins.
    digit: the word of the dialect that returns the bin of a key.

    Variants of phases, by their names in the templates:
    load: how a lane loads its keys.
    shift: the lowest bit of the bin number, "found" from the keys or "given" by the kernel.
    ties: how equal keys are ranked.
    """

    shape: Bucket
    subgroup: int
    key: KeyType
    digit: str = "hs_digit"
    load: str = "in_bounds"
    shift: str = "found"
    ties: str = "by_slot"
    crowd: Crowd = Crowd()

    @property
    def work_group(self) -> int:
        """Lanes of the work-group."""
        return self.shape.work_group

    @property
    def items(self) -> int:
        """Greatest number of keys of a lane."""
        return self.shape.items

    @property
    def bins(self) -> int:
        """Number of bins, a power of two."""
        return self.shape.bins

    @property
    def rank_words(self) -> int:
        """Words of a lane that hold the ranks of its keys within their bins; a word holds two ranks."""
        return (self.shape.items + 1) // 2

    @property
    def bins_of_lane(self) -> int:
        """Number of adjacent bins that a lane scans."""
        return self.shape.bins // self.shape.work_group

    @property
    def near(self) -> int:
        """Number of keys from the start of a bin that are compared without a bounds check."""
        return NEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class StableBinSort(BinSort):
    """A sort by bins that keeps equal keys in their order.

    store: the variant of the last phases: "directly", "later" or "by_bin".
    """

    store: str = "directly"

    @property
    def keeps_values(self) -> bool:
        """Whether the values of a bucket are kept in local memory, by slot."""
        return self.load in ("pairs_in_bounds", "pairs_clamped")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnChip(Body):
    """Input of the template of a kernel that sorts on chip.

    bins: the sort by bins.
    lane_values: whether lanes hold values in registers.
    groups: the work-groups that sort pieces of buckets of keys without values.
    """

    bins: BinSort
    lane_values: bool = False
    groups: int = 0


def arrays(shape: Bucket, subgroup: int) -> tuple[Array, ...]:
    """Return the arrays in local memory of a sort by bins, except the arrays of its keys."""
    facts = word_array("crowded", 1), word_array("bin_shift", 1), word_array("differing", 2)
    return (word_array("bin_counts", shape.bins), *sums(shape.work_group, subgroup), *facts)


def with_room(kernel: Kernel) -> Kernel:
    """Return the kernel with `NEAR` more elements in `tile` and `order`, for comparisons beyond the last key."""
    wider = (replace(a, count=a.count + NEAR) if a.name in ("tile", "order") else a for a in kernel.arrays)
    return replace(kernel, arrays=tuple(wider))
