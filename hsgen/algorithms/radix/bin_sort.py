"""Sorts by bins on chip: one work-group distributes its keys over bins, and compares only keys of the same bin.

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
    """The rule that tells when bins are *crowded*: too full to compare the keys of a bin with each other.

    measure: "greatest" is the number of keys in the fullest bin.  "mean" is the number of keys that share a bin with a
    key, as a mean over all keys.
    limit: bins are crowded if the measure exceeds this number.
    """

    measure: str = "greatest"
    limit: int = CROWD


SPREAD = Crowd(measure="mean", limit=SQUARES)
"""The rule for kernels that cannot sort a bucket with crowded bins on chip.  The rule tolerates a few bins with many
keys.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinSort:
    """A sort by bins of at most work_group x items keys.

    shape: the number of lanes, of keys per lane, and of bins.
    digit: the word (macro or function) of the dialect that returns the bin of a key.
    crowd: the rule that tells when bins are crowded.

    The other fields name variants of phases in the template:
    load: the way in which a lane loads its keys.
    shift: the bin of a key is its digit from a certain bit on.  "found": the kernel finds this bit from the keys.
    "given": the kernel knows this bit in advance.
    ties: the way in which equal keys are ranked.
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
        """Number of lanes of the work-group."""
        return self.shape.work_group

    @property
    def items(self) -> int:
        """Greatest number of keys per lane."""
        return self.shape.items

    @property
    def bins(self) -> int:
        """Number of bins, a power of two."""
        return self.shape.bins

    @property
    def rank_words(self) -> int:
        """Number of words in which a lane holds the ranks of its keys within their bins, two ranks in each word."""
        return (self.shape.items + 1) // 2

    @property
    def bins_of_lane(self) -> int:
        """Number of adjacent bins that a lane scans."""
        return self.shape.bins // self.shape.work_group

    @property
    def near(self) -> int:
        """Lanes compare this many keys, from the start of a bin, without a bounds check."""
        return NEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class StableBinSort(BinSort):
    """A sort by bins that keeps equal keys in their order.

    store: the variant of the phases that store the result: "directly", "later" or "by_bin".
    """

    store: str = "directly"

    @property
    def keeps_values(self) -> bool:
        """Whether local memory holds the values of a bucket, in the order of the slots of their keys."""
        return self.load in ("pairs_in_bounds", "pairs_clamped")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnChip(Body):
    """Input of the template of a kernel that sorts on chip.

    bins: the parameters of the sort by bins.
    lane_values: whether lanes hold values in registers.
    groups: the number of work-groups that sort pieces of buckets of keys without values; 0 in all other kernels.
    """

    bins: BinSort
    lane_values: bool = False
    groups: int = 0


def arrays(shape: Bucket, subgroup: int) -> tuple[Array, ...]:
    """Return the arrays in local memory that a sort by bins needs, except the arrays of keys and slots."""
    facts = word_array("crowded", 1), word_array("bin_shift", 1), word_array("differing", 2)
    return (word_array("bin_counts", shape.bins), *sums(shape.work_group, subgroup), *facts)


def with_room(kernel: Kernel) -> Kernel:
    """Return the kernel with `NEAR` more elements in the local arrays `tile` and `order`.

    Comparisons without a bounds check may read these elements, behind the last key.
    """
    wider = (replace(a, count=a.count + NEAR) if a.name in ("tile", "order") else a for a in kernel.arrays)
    return replace(kernel, arrays=tuple(wider))
