"""The parameters of a hybrid sort: the highest digits bring keys into buckets, and buckets are sorted on chip."""

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
"""Each of the two digits by which keys without values are partitioned has at most this many bits."""
WIDE_DIGIT = 10
"""As `DIGIT`, for kernels with 64-bit indices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hybrid(Onesweep):
    """The target table ``[radix.KEY.hybrid]``, and the table of its fallback.

    The fallback consists of passes over all digits.  The fallback sorts the keys if buckets cannot hold them.

    waitless: whether the fallback is reduce-scan, in which no work-group waits for another.  Otherwise the fallback
    uses look-back, except in kernels with 64-bit indices.
    sample: the number of sampled keys that are compared before any key moves; 0 means no sample.  If so many of them
    agree that buckets could not hold the keys, buckets are not tried.
    crowded_bits: the bits of the digits by which a bucket with crowded bins is sorted; 0 means `bits`.
    partition, bucket: the two partitions and the bucket sort of keys without values
    (`hsgen.algorithms.radix.hybrid.buckets`).
    counting: the bucket sort of keys without values in kernels with 64-bit indices, if it counts keys.
    pair_bucket: the bucket sort of keys with values of 4 bytes (`hsgen.algorithms.radix.hybrid.pairs`).
    pair_partition: the partition of small counts of such pairs (`hsgen.algorithms.radix.hybrid.pair_partition`).
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
        """Whether large counts of keys without values are first partitioned into buckets, in sorts by all bits."""
        return self.partition is not None and (self.begin, self.end) == (0, None)

    @property
    def counted(self) -> bool:
        """Whether a bucket of keys without values is sorted by counting, instead of by comparisons within bins."""
        return self.index64 and self.counting is not None

    @property
    def has_pair_buckets(self) -> bool:
        """Whether large counts of keys with values of 4 bytes are brought into buckets, in sorts by all bits."""
        all_bits = (self.begin, self.end) == (0, None) and self.key.bytes >= 4
        passed = self.forward_progress or self.waitless
        return self.pair_bucket is not None and passed and all_bits and self.signature.value_bytes == 4

    @property
    def sampled(self) -> int:
        """Number of keys of the sample; 0 if there is none.  Only a sort whose fallback uses look-back has a sample."""
        return self.sample if self.looks_back and (self.has_key_buckets or self.has_pair_buckets) else 0

    @property
    def pieces(self) -> bool:
        """Whether a sample chooses the passes before buckets, and large buckets are cut into pieces (`pieces`).

        Keys of four digits without values do not gain by passes before buckets.  Two passes and buckets take as long as
        two partitions and buckets.  Three passes and buckets take as long as four passes.
        """
        return self.sampled > 0 and (self.has_pair_buckets or len(self.digits) > 4)

    @property
    def rounds(self) -> int:
        """Number of rounds that compare the keys of the sample.

        The first round compares the 2 highest digits, the second the 3 highest, and so on.  The last round compares all
        bits.
        """
        return min(5 if self.has_pair_buckets else 4, len(self.digits) - 1)

    @property
    def most_equal(self) -> int:
        """Greatest mean number of equal keys for which buckets are tried, because equal keys crowd bins."""
        return EQUAL

    @property
    def partitions_pairs(self) -> bool:
        """Whether one launch partitions small counts of pairs into buckets."""
        return self.pair_partition is not None and self.has_pair_buckets and self.key.bytes == 4

    @property
    def pair_partition_radix(self) -> int:
        """The greatest number of buckets of partitioned pairs, a power of two; 0 if pairs are not partitioned."""
        if self.pair_bucket is None or not self.partitions_pairs:
            return 0
        most = max(self.pair_bucket.start, self.alone)
        bits = (-(-most // max(self.pair_bucket.limit, 1)) - 1).bit_length()
        return 1 << max(bits, 1)

    @property
    def looks_back(self) -> bool:
        """Whether the fallback uses look-back.  Kernels with 64-bit indices never do."""
        return not (self.index64 or self.waitless)

    @property
    def partition_bits(self) -> int:
        """Each digit of the two partitions has at most this many bits; the number depends on the width of indices."""
        return WIDE_DIGIT if self.index64 and not self.counted else DIGIT

    @property
    def partition_radix(self) -> int:
        """Number of values of a digit of `partition_bits` bits."""
        return 1 << self.partition_bits

    @property
    def room(self) -> stages.Room | None:
        """The scratch that buckets need; None if there are no buckets."""
        if not (self.has_key_buckets or self.has_pair_buckets):
            return None
        return stages.Room(
            regions=(
                *(regions.keys(self.partition_radix) if self.has_key_buckets else ()),
                *(
                    regions.pairs(len(self.digits), counter=not self.has_key_buckets)
                    if self.has_pair_buckets or self.pieces
                    else ()
                ),
                *(regions.pieces(self.rounds) if self.pieces else ()),
                *(regions.partitioned_pairs(self.pair_partition_radix) if self.partitions_pairs else ()),
            ),
            mean=present(self.bucket).limit if self.has_key_buckets else None,
            pieces=self._pieces() if self.pieces else None,
        )

    def _pieces(self) -> tuple[int, int]:
        """The greatest mean number of keys per bucket, and the greatest count for which buckets are tried.

        The greatest count is this mean times the greatest number of buckets, which is the number of values of two
        digits.
        """
        if self.has_key_buckets:
            mean, bits = present(self.bucket).limit, 2 * self.partition_bits
        else:
            mean, bits = present(self.pair_bucket).limit, sum(width for _, width in self.digits[-2:])
        return mean, mean << bits
