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
"""The key for the digits by which buckets with crowded bins are sorted: their number of bits."""

SAMPLE = {
    "sample": Field(
        "int",
        "buckets: the keys, a power of two, that are compared first, to see whether too many are alike",
        required=False,
        least=16,
        greatest=8192,
    ),
}
"""The key for the sample: its number of keys.

By the sample, kernels decide before any key moves whether to try buckets.
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
"""The key for the fallback: the strategy that sorts the keys if a bucket has more keys than a work-group holds."""
