"""Sorts by bins on chip: a work-group distributes its keys over bins, and compares each key only with keys of its bin.

The bin of a key is the value of the highest bits in which the keys of the work-group differ.  The template is
``templates/radix/bin_sort.j2``.
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
    """The rule by which a kernel decides whether bins are *crowded*: too full to compare the keys of a bin in pairs.

    measure: what the kernel compares with `limit`.  "greatest": the number of keys in the fullest bin.  "mean": the
    mean number of comparisons per key, which is the sum of the squares of all bin sizes, divided by the number of keys.
    limit: bins are crowded if the measure exceeds this number.
    """

    measure: str = "greatest"
    limit: int = CROWD


SPREAD = Crowd(measure="mean", limit=SQUARES)
"""The rule for kernels that leave a bucket with crowded bins to another kernel, which sorts it in global memory.

The rule tolerates a few bins with many keys, because a sort in global memory takes much longer.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinSort:
    """The parameters of a sort by bins of at most work_group x items keys.

    shape: the number of lanes, of keys per lane, and of bins.
    digit: the macro or function in kernel text that computes the bin of a key.
    crowd: the rule that tells when bins are crowded.

    The other fields name variants of phases in the template:
    load: how a lane loads its keys.
    shift: how the kernel learns the lowest of the bits that are the bin of a key.  "found": it compares all keys to
    find the highest bit in which they differ.  "given": an earlier phase has computed the lowest bit.
    ties: how equal keys are ranked: "by_slot", or "distinct" if no keys are equal.
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
        """The number of registers for the ranks of a lane's keys within their bins; a register holds two ranks."""
        return (self.shape.items + 1) // 2

    @property
    def bins_of_lane(self) -> int:
        """Number of adjacent bins that each lane sums up for the prefix sum over all bins."""
        return self.shape.bins // self.shape.work_group

    @property
    def near(self) -> int:
        """`NEAR`, for the template."""
        return NEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class StableBinSort(BinSort):
    """The parameters of a sort by bins that keeps equal keys in their order.

    store: the variant of the last phases.  "directly": each key is stored as soon as its rank is known.  "later": all
    input is read before anything is stored.  "by_bin": for values of 4 bytes in registers.
    """

    store: str = "directly"

    @property
    def keeps_values(self) -> bool:
        """Whether local memory holds the values of the keys, each at the original slot of its key."""
        return self.load in ("pairs_in_bounds", "pairs_clamped")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnChip(Body):
    """The data of a kernel that sorts on chip.

    bins: the parameters of the sort by bins.
    lane_values: whether lanes hold values in registers.
    groups: the number of work-groups in the launch that sorts pieces of large buckets; 0 in kernels without pieces, and
    in kernels for pairs.
    """

    bins: BinSort
    lane_values: bool = False
    groups: int = 0


def arrays(shape: Bucket, subgroup: int) -> tuple[Array, ...]:
    """Return the arrays in local memory that a sort by bins needs, except `tile` (keys) and `order` (slots)."""
    facts = word_array("crowded", 1), word_array("bin_shift", 1), word_array("differing", 2)
    return (word_array("bin_counts", shape.bins), *sums(shape.work_group, subgroup), *facts)


def with_room(kernel: Kernel) -> Kernel:
    """Return the kernel with `NEAR` more elements in the local arrays `tile` and `order`.

    A lane compares a key with others of its bin without a bounds check.  In the last bin, it may so read these elements
    after the last key.
    """
    wider = (replace(a, count=a.count + NEAR) if a.name in ("tile", "order") else a for a in kernel.arrays)
    return replace(kernel, arrays=tuple(wider))
