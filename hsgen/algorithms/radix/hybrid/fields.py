"""The keys of the target table of a hybrid sort, in addition to those of its fallback."""

from __future__ import annotations

from collections.abc import Mapping

from hsgen.algorithms.radix import stages
from hsgen.core.fields import Field

CROWDED = {
    "crowded_bits": Field(
        "int",
        "buckets: the bits of a digit by which crowded ones are sorted, if not `bits`",
        required=False,
        least=1,
        greatest=11,
    ),
}
"""The target key for the bits of a digit with which a bucket is sorted in passes, if a sort by bins is too slow.

It is too slow if bins are *crowded*: too many keys share a bin (`hsgen.algorithms.radix.bin_sort`).
"""

SAMPLE = {
    "sample": Field(
        "int",
        "buckets: the keys, a power of two, that are compared first, to see whether too many are alike",
        required=False,
        least=16,
        greatest=8192,
    ),
}
"""The target key for the number of keys in the sample.

Before any key of the array moves, a work-group compares the keys of the sample to decide whether to try buckets.
"""

FIELDS: Mapping[str, Field] = {
    **stages.PARTITION,
    **stages.BUCKET,
    **CROWDED,
    **SAMPLE,
    **stages.COUNTING,
    **stages.PAIR_BUCKET,
    **stages.PAIR_PARTITION,
}

FALLBACK = "fallback"
"""The target key for the fallback: the strategy that sorts the array if a bucket exceeds what a work-group holds."""
