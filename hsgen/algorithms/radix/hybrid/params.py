"""The choices of a hybrid sort: buckets by the highest digits, which are then sorted on chip."""

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
"""The most bits of each of the two digits by which keys alone are dealt."""
WIDE_DIGIT = 10
"""The same of counts of 2^30 and more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hybrid(Onesweep):
    """The table ``[radix.KEY.hybrid]``, and that of the passes which sort what buckets do not hold.

    waitless: passes that count, scan and scatter sort what buckets do not hold, not look-back: no work-group then waits
    for another.
    sample: the number of keys that are compared with each other before any is moved; where more are alike than buckets
    hold, no buckets are tried.
    crowded_bits: of a digit by which buckets are sorted whose bins are crowded; 0 means as many as of any digit.
    partition, bucket: keys alone (`hsgen.algorithms.radix.hybrid.buckets`).  counting: of these, with 64-bit indices.
    pair_bucket: keys with values of 4 bytes (`hsgen.algorithms.radix.hybrid.pairs`).
    dealt: few such pairs (`hsgen.algorithms.radix.hybrid.dealt`).
    """

    STRATEGY: ClassVar[str] = "hybrid"
    waitless: bool = False
    sample: int = 0
    crowded_bits: int = 0
    partition: stages.Partition | None = field(default=None, metadata={RECORD: stages.Partition})
    bucket: stages.Bucket | None = field(default=None, metadata={RECORD: stages.Bucket})
    counting: stages.Counting | None = field(default=None, metadata={RECORD: stages.Counting})
    pair_bucket: stages.PairBucket | None = field(default=None, metadata={RECORD: stages.PairBucket})
    dealt: stages.Dealt | None = field(default=None, metadata={RECORD: stages.Dealt})

    @property
    def msd(self) -> bool:
        """Whether large counts are dealt into buckets first: of all bits of the keys."""
        return self.partition is not None and (self.begin, self.end) == (0, None)

    @property
    def counted(self) -> bool:
        """Whether the keys of buckets are counted, not sorted."""
        return self.index64 and self.counting is not None

    @property
    def finish(self) -> bool:
        """Whether large counts of keys with values end in buckets on chip."""
        whole = (self.begin, self.end) == (0, None) and self.key.bytes >= 4
        passed = self.forward_progress or self.waitless
        return self.pair_bucket is not None and passed and whole and self.signature.value_bytes == 4

    @property
    def sampled(self) -> int:
        """How many keys are compared first: only where look-back sorts what buckets do not hold."""
        return self.sample if self.looks_back and (self.msd or self.finish) else 0

    @property
    def pieces(self) -> bool:
        """Whether some digits are passed and the pieces of buckets sorted on chip.  Not of keys alone with four digits:
        two passes and that take as long as dealing them into buckets, and three as long as all four."""
        return self.sampled > 0 and (self.finish or len(self.digits) > 4)

    @property
    def rounds(self) -> int:
        """How often the keys of a sample are compared: by their 2, 3, ... highest digits, at last by all bits."""
        return min(5 if self.finish else 4, len(self.digits) - 1)

    @property
    def most_equal(self) -> int:
        """Mean number of equal keys, at most, for buckets: equal keys crowd bins, and passes are then faster."""
        return EQUAL

    @property
    def deal(self) -> bool:
        """Whether few pairs are dealt into buckets."""
        return self.dealt is not None and self.finish and self.key.bytes == 4

    @property
    def deal_digits(self) -> int:
        """The most buckets of them, a power of two."""
        if self.pair_bucket is None or not self.deal:
            return 0
        most = max(self.pair_bucket.start, self.alone)
        bits = (-(-most // max(self.pair_bucket.limit, 1)) - 1).bit_length()
        return 1 << max(bits, 1)

    @property
    def looks_back(self) -> bool:
        """Whether what buckets do not hold is sorted with look-back: not by kernels with 64-bit indices."""
        return not (self.index64 or self.waitless)

    @property
    def msd_digit(self) -> int:
        """The most bits of each of the two digits by which keys alone are dealt."""
        return WIDE_DIGIT if self.index64 and not self.counted else DIGIT

    @property
    def msd_digits(self) -> int:
        """The values of such a digit."""
        return 1 << self.msd_digit

    @property
    def room(self) -> stages.Room | None:
        """The room in scratch that buckets take."""
        if not (self.msd or self.finish):
            return None
        return stages.Room(
            regions=(
                *(regions.keys(self.msd_digits) if self.msd else ()),
                *(regions.pairs(len(self.digits), counter=not self.msd) if self.finish or self.pieces else ()),
                *(regions.pieces(self.rounds) if self.pieces else ()),
                *(regions.partitioned_pairs(self.deal_digits) if self.deal else ()),
            ),
            mean=present(self.bucket).limit if self.msd else None,
            pieces=self._pieces() if self.pieces else None,
        )

    def _pieces(self) -> tuple[int, int]:
        """The mean number of keys in a bucket, and the greatest count: by as many bits as two digits have."""
        if self.msd:
            mean, bits = present(self.bucket).limit, 2 * self.msd_digit
        else:
            mean, bits = present(self.pair_bucket).limit, sum(width for _, width in self.digits[-2:])
        return mean, mean << bits
