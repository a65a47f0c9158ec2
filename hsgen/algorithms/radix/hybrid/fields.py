"""The keys that a hybrid sort adds to its table in a target file."""

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
"""The key that states the bits of the digits by which buckets with crowded bins are sorted."""

SAMPLE = {
    "sample": Field(
        "int",
        "buckets: the keys, a power of two, that are compared first, to see whether too many are alike",
        required=False,
        least=16,
        greatest=8192,
    ),
}
"""The key that states the size of the sample.

Before any key moves, the sample shows whether buckets could hold the keys.
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
"""The key that names the fallback: the strategy that sorts keys which buckets cannot hold."""
