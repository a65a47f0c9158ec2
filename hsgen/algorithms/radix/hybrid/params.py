"""The parameters of a hybrid sort, in which the highest digits bring keys into buckets that are sorted on chip."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from hsgen.algorithms.radix import stages
from hsgen.algorithms.radix.hybrid import regions
from hsgen.algorithms.radix.onesweep import Onesweep
from hsgen.algorithms.radix.parts import EQUAL
from hsgen.algorithms.radix.stages import present
from hsgen.core.records import RECORD

DIGIT = 9
"""The most bits of each of the two digits by which keys without values are partitioned."""
WIDE_DIGIT = 10
"""The most bits of such a digit in kernels with 64-bit indices, unless they sort buckets by counting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hybrid(Onesweep):
    """The target table ``[radix.KEY.hybrid]``.  The inherited fields are the parameters of the fallback.

    The fallback, passes over all digits, sorts the keys if a bucket has more keys than a work-group holds.

    waitless: whether the fallback is reduce-scan, in which no work-group waits for another.  Otherwise the passes of
    the fallback use look-back, except in kernels with 64-bit indices.
    sample: the number of keys in a sample, which a work-group compares before any key moves; 0 means no sample.  If too
    many of the sampled keys are equal or share a bucket, buckets are not tried, and the fallback sorts the keys.  For
    keys without values, the sample also determines which bits of a key are the number of its bucket.
    crowded_bits: the bits of the digits by which a work-group sorts a bucket in passes, because too many keys share a
    bin (`hsgen.algorithms.radix.bin_sort`); 0 means `bits`.

    Each of the following stages is absent if its field is None:
    partition, bucket: for keys without values, the two partitions and the bucket sort
    (`hsgen.algorithms.radix.hybrid.buckets`).
    counting: for keys without values in kernels with 64-bit indices, a bucket sort by counting in place of `bucket`.
    pair_bucket: for keys with values of 4 bytes, the bucket sort (`hsgen.algorithms.radix.hybrid.pairs`).
    pair_partition: for small counts of such pairs, the partition (`hsgen.algorithms.radix.hybrid.pair_partition`).
    """

    STRATEGY: ClassVar[str] = "hybrid"
    waitless: bool = False
    sample: int = 0
    crowded_bits: int = 0
    partition: stages.Partition | None = field(default=None, metadata={RECORD: stages.Partition})
    bucket: stages.Bucket | None = field(default=None, metadata={RECORD: stages.Bucket})
    counting: stages.Counting | None = field(default=None, metadata={RECORD: stages.Counting})
    pair_bucket: stages.PairBucket | None = field(default=None, metadata={RECORD: stages.PairBucket})
    pair_partition: stages.PairPartition | None = field(default=None, metadata={RECORD: stages.PairPartition})

    @property
    def has_key_buckets(self) -> bool:
        """Whether the sort partitions large counts of keys without values into buckets.

        False in a sort that compares only some bits of the keys.
        """
        return self.partition is not None and (self.begin, self.end) == (0, None)

    @property
    def counted(self) -> bool:
        """Whether a work-group sorts a bucket of keys without values by counting, not by bins."""
        return self.index64 and self.counting is not None

    @property
    def has_pair_buckets(self) -> bool:
        """Whether the sort brings large counts of keys with values of 4 bytes into buckets.

        False in a sort that compares only some bits of the keys, and if look-backs of the fallback may give up.
        """
        all_bits = (self.begin, self.end) == (0, None) and self.key.bytes >= 4
        passed = self.forward_progress or self.waitless
        return self.pair_bucket is not None and passed and all_bits and self.signature.value_bytes == 4

    @property
    def sampled(self) -> int:
        """Number of keys of the sample; 0 if there is none.  Sorts whose fallback is reduce-scan have no sample."""
        return self.sample if self.looks_back and (self.has_key_buckets or self.has_pair_buckets) else 0

    @property
    def pieces(self) -> bool:
        """Whether kernels choose by a sample how many passes run before buckets.

        `hsgen.algorithms.radix.hybrid.pieces` describes these sorts.  False for keys without values that have at most
        four digits, because such a choice would gain nothing for them.  Two passes and buckets take as long as two
        partitions and buckets.  Three passes and buckets take as long as four passes, which sort all keys.
        """
        return self.sampled > 0 and (self.has_pair_buckets or len(self.digits) > 4)

    @property
    def rounds(self) -> int:
        """Number of rounds in which a work-group compares the keys of the sample.

        The first round compares the 2 highest digits of the keys, the second round the 3 highest digits, and so on.
        The last round compares all bits.
        """
        return min(5 if self.has_pair_buckets else 4, len(self.digits) - 1)

    @property
    def most_equal(self) -> int:
        """The mean number of copies of a key, estimated by the sample, above which buckets are not tried (`EQUAL`)."""
        return EQUAL

    @property
    def partitions_pairs(self) -> bool:
        """Whether one launch partitions small counts of pairs into buckets, in place of two passes."""
        return self.pair_partition is not None and self.has_pair_buckets and self.key.bytes == 4

    @property
    def pair_partition_radix(self) -> int:
        """The most buckets into which one launch partitions pairs, a power of two; 0 if there is no such launch."""
        if self.pair_bucket is None or not self.partitions_pairs:
            return 0
        most = max(self.pair_bucket.start, self.alone)
        bits = (-(-most // max(self.pair_bucket.limit, 1)) - 1).bit_length()
        return 1 << max(bits, 1)

    @property
    def looks_back(self) -> bool:
        """Whether the passes of the fallback use look-back.  False in kernels with 64-bit indices."""
        return not (self.index64 or self.waitless)

    @property
    def partition_bits(self) -> int:
        """The most bits of each of the two digits of the partitions: `DIGIT` or `WIDE_DIGIT`."""
        return WIDE_DIGIT if self.index64 and not self.counted else DIGIT

    @property
    def partition_radix(self) -> int:
        """Number of values of a digit of `partition_bits` bits."""
        return 1 << self.partition_bits

    @property
    def room(self) -> stages.Room | None:
        """The additional scratch for buckets; None if the sort has no buckets."""
        if not (self.has_key_buckets or self.has_pair_buckets):
            return None
        return stages.Room(
            regions=(
                *(regions.keys(self.partition_radix) if self.has_key_buckets else ()),
                *(regions.sampled_keys(self.key.bits // 32) if self.has_key_buckets and self.sampled else ()),
                *(
                    regions.pairs(len(self.digits), counter=not self.has_key_buckets)
                    if self.has_pair_buckets or self.pieces
                    else ()
                ),
                *(regions.pieces(self.rounds) if self.pieces else ()),
                *(regions.partitioned_pairs(self.pair_partition_radix) if self.partitions_pairs else ()),
            ),
            mean=present(self.bucket).limit if self.has_key_buckets else None,
            bucket_bytes=48 if self.sampled else 24,
            pieces=self._pieces() if self.pieces else None,
        )

    def _pieces(self) -> tuple[int, int]:
        """Return the greatest mean number of keys per bucket, and the greatest count for which buckets are tried.

        The greatest count is this mean times the greatest number of buckets: one for each value of two digits.
        """
        if self.has_key_buckets:
            mean, bits = present(self.bucket).limit, 2 * self.partition_bits
        else:
            mean, bits = present(self.pair_bucket).limit, sum(width for _, width in self.digits[-2:])
        return mean, mean << bits
