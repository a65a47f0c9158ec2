"""Sorts on chip by bins: one work-group sorts a bucket, or all keys if they are few.

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
    """When bins are too crowded to compare the keys of a bin with each other.

    measure: "greatest", the number of keys of the fullest bin, or "mean", the mean number of keys that a key shares its
    bin with.  limit: the number above which bins are crowded.
    """

    measure: str = "greatest"
    limit: int = CROWD


SPREAD = Crowd(measure="mean", limit=SQUARES)
"""A few bins may have many keys: then nothing else sorts a crowded bucket on chip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinSort:
    """A sort of at most work_group x items keys by bins.

    shape: the lanes, the keys of a lane, and the bins.  digit: the word of the dialect that turns a key into its bin.
    Variants of phases, by their names in the templates: load: how a lane loads its keys.  shift: of the bin's digit,
    "found" among the keys or "given" by the kernel.  ties: how equal keys are ranked.
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
        """Keys of a lane, at most."""
        return self.shape.items

    @property
    def bins(self) -> int:
        """Number of bins, a power of two."""
        return self.shape.bins

    @property
    def rank_words(self) -> int:
        """Words of a lane for the ranks of its keys in their bins, two in a word."""
        return (self.shape.items + 1) // 2

    @property
    def bins_of_lane(self) -> int:
        """Number of adjacent bins that a lane scans."""
        return self.shape.bins // self.shape.work_group

    @property
    def near(self) -> int:
        """Keys of a bin that are compared without asking whether they are of the bin."""
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
    """Facts for the template of a kernel that sorts on chip.

    bins: the sort by bins.  lane_values: whether lanes hold values in registers.  groups: the work-groups that sort
    pieces of buckets of keys alone.
    """

    bins: BinSort
    lane_values: bool = False
    groups: int = 0


def arrays(shape: Bucket, subgroup: int) -> tuple[Array, ...]:
    """Return the arrays in local memory that a sort by bins takes, without those for its keys."""
    facts = word_array("crowded", 1), word_array("bin_shift", 1), word_array("differing", 2)
    return (word_array("bin_counts", shape.bins), *sums(shape.work_group, subgroup), *facts)


def with_room(kernel: Kernel) -> Kernel:
    """Return a kernel with room in `tile` and `order` for what follows the last key."""
    wider = (replace(a, count=a.count + NEAR) if a.name in ("tile", "order") else a for a in kernel.arrays)
    return replace(kernel, arrays=tuple(wider))
