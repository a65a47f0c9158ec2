"""The choices of a hybrid sort: buckets by the highest digits, which are then sorted on chip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hsgen.algorithms.radix.onesweep import Onesweep

DIGIT = 9
"""The most bits of each of the two digits by which keys alone are dealt."""
WIDE_DIGIT = 10
"""The same of counts of 2^30 and more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hybrid(Onesweep):
    """The table ``[radix.KEY.hybrid]``, and that of the look-back which sorts what buckets do not hold.

    msd_from: above this count keys alone are first dealt into buckets by their highest digits, each of which a
    work-group sorts on chip (`hsgen.algorithms.radix.hybrid.buckets`); 0 means never.  msd_group, msd_items: lanes and
    keys of the tiles that are dealt.  bucket_group, bucket_items: of a bucket, at most.  bucket_places: the counters on
    chip by which the keys of a bucket find their places, a power of two and about as many as its keys.
    count_bits: with 64-bit indices a bucket is counted, not sorted, by its lowest count_bits bits: all that its keys do
    not share.  count_group: the lanes that do so; they store count_group x count_items keys at once.
    counting: passes that count, scan and scatter sort what buckets do not hold, not look-back: no work-group then waits
    for another.  large_groups: of these, as of `hsgen.algorithms.radix.reduce_scan.ReduceScan`.
    rest_bits: of a digit by which buckets are sorted whose places are crowded; 0 means as many as of any digit.
    sample: the number of keys that are compared with each other before any is moved; where more are alike than buckets
    hold, no buckets are tried.
    finish_from, ...: the buckets of keys with values of 4 bytes (`hsgen.algorithms.radix.hybrid.pairs`).
    deal_from, ...: above this count and up to finish_from, pairs are dealt at once into buckets as large
    (`hsgen.algorithms.radix.hybrid.dealt`).
    """

    STRATEGY: ClassVar[str] = "hybrid"
    counting: bool = False
    large_groups: int = 0
    msd_from: int = 0
    msd_group: int = 0
    msd_items: int = 0
    bucket_group: int = 0
    bucket_items: int = 0
    bucket_places: int = 0
    count_bits: int = 0
    count_group: int = 0
    count_items: int = 0
    rest_bits: int = 0
    sample: int = 0
    finish_from: int = 0
    finish_group: int = 0
    finish_items: int = 0
    finish_places: int = 0
    finish_mean: int = 0
    deal_from: int = 0
    deal_group: int = 0
    deal_items: int = 0
    deal_places: int = 0

    @property
    def msd(self) -> bool:
        """Whether large counts are dealt into buckets first: of all bits of the keys."""
        return self.msd_from > 0 and (self.begin, self.end) == (0, None)

    @property
    def counted(self) -> bool:
        """Whether the keys of buckets are counted, not sorted."""
        return self.index64 and self.count_bits > 0

    @property
    def finish(self) -> bool:
        """Whether large counts of keys with values end in buckets on chip."""
        whole = (self.begin, self.end) == (0, None) and self.key.bytes >= 4
        passed = self.forward_progress or self.counting
        return self.finish_from > 0 and passed and whole and self.signature.value_bytes == 4

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
    def deal(self) -> bool:
        """Whether few pairs are dealt into buckets."""
        return self.deal_from > 0 and self.finish and self.key.bytes == 4

    @property
    def deal_digits(self) -> int:
        """The most buckets of them, a power of two."""
        mean = max(self.bucket_mean, 1)
        bits = (-(-max(self.finish_from, self.alone) // mean) - 1).bit_length()
        return 1 << max(bits, 1) if self.deal else 0

    @property
    def looks_back(self) -> bool:
        """Whether what buckets do not hold is sorted with look-back: not by kernels with 64-bit indices."""
        return not (self.index64 or self.counting)

    @property
    def msd_digit(self) -> int:
        """The most bits of each of the two digits by which keys alone are dealt."""
        return WIDE_DIGIT if self.index64 and not self.counted else DIGIT

    @property
    def msd_digits(self) -> int:
        """The values of such a digit."""
        return 1 << self.msd_digit

    @property
    def crowded_bits(self) -> int:
        """The bits of a digit by which crowded buckets are sorted."""
        return self.rest_bits or self.bits

    @property
    def bucket_limit(self) -> int:
        """The keys of a bucket on average, at most: so few that hardly one of uniform keys exceeds what a work-group
        holds."""
        return 13 * self.bucket_group * self.bucket_items // 16

    @property
    def bucket_unit(self) -> int:
        """The same, or 0 where there are no buckets."""
        return self.bucket_limit * self.msd

    @property
    def bucket_mean(self) -> int:
        """The pairs of a bucket on average, at most."""
        return self.finish_mean or 13 * self.finish_group * self.finish_items // 16

    @property
    def cut(self) -> tuple[int, int]:
        """As of `Tile`: by as many bits as two digits have."""
        mean, bits = self.bucket_mean, sum(width for _, width in self.digits[-2:])
        if self.msd:
            mean, bits = self.bucket_limit, 2 * self.msd_digit
        return (mean, mean << bits) if self.pieces else (0, 0)

    @property
    def bucket_words(self) -> tuple[int, int]:
        """The words in scratch for buckets of keys alone, without their table, and those for buckets of pairs."""
        keys = 3 + 2 * self.msd_digits + 2 * (self.msd_digits + 1)
        pieces = 2 + len(self.digits) + (self.rounds + 5 if self.pieces else 0) + (3 * self.deal_digits + 1) * self.deal
        return keys * self.msd, pieces * (self.finish or self.pieces)
