"""The keys of the table of a hybrid sort."""

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
"""The key for the digits by which buckets with crowded bins are sorted, with or without values."""

SAMPLE = {
    "sample": Field(
        "int",
        "buckets: the keys, a power of two, that are compared first, to see whether too many are alike",
        required=False,
        least=16,
        greatest=8192,
    ),
}
"""The key of the sample, which detects keys that buckets cannot hold before any key moves."""

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
"""The key that names the strategy that sorts keys which buckets cannot hold."""
