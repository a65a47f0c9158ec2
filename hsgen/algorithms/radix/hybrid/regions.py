"""The regions that a hybrid sort needs in scratch for its buckets, each as (name, number of words, meaning)."""

from __future__ import annotations

from typing import TypeAlias

Sizes: TypeAlias = tuple[tuple[str, int, str], ...]
CROWDED = "the number of buckets whose bins are crowded"


def keys(values: int) -> Sizes:
    """Return the regions for buckets of keys without values.

    values: the greatest number of values of each of the two digits of the partitions.
    """
    return (
        ("use_partition", 1, "0: the fallback sorts all keys; known after the first histogram"),
        ("use_buckets", 1, "0: the fallback sorts all keys; known after the second histogram"),
        ("crowded_buckets", 1, CROWDED),
        ("first_histogram", values, "of the first digit"),
        ("first_starts", values + 1, "of each value of the first digit: its first key"),
        ("first_cursors", values, "of each value of the first digit: where its next key is stored"),
        ("first_tiles", values + 1, "of each value of the first digit: its first tile in the second partition"),
    )


def sampled_keys(words: int) -> Sizes:
    """Return the regions in which a sample's results lie, in sorts of keys without values; each has `words` words."""
    return (
        ("bucket_bits", 1, "the bits of the number of a bucket; 0: the fallback sorts all keys"),
        ("bucket_low_bit", 1, "the lowest of these bits, in a key less the base"),
        (
            "base",
            words,
            "a key that is subtracted from all keys before the partitions, and added after the bucket sort",
        ),
    )


def pairs(digits: int, *, counter: bool) -> Sizes:
    """Return the regions for buckets of pairs (keys with values), and for buckets of keys after passes.

    digits: the number of digits of a key.
    counter: whether the counter of crowded buckets is one of these regions.  False if the regions of `keys` have it.
    """
    return (
        ("pair_status", 1, "0: buckets sort the pairs; else see hsgen.algorithms.radix.hybrid.pairs"),
        (("crowded_buckets", 1, CROWDED) if counter else ("spare", 1, "")),
        ("digit_varies", digits, "of each digit: 1 unless all keys have one value"),
    )


def pieces(rounds: int) -> Sizes:
    """Return the regions for the sample, and for buckets that are cut into pieces (see `Hybrid.pieces`).

    rounds: the number of rounds in which the keys of the sample are compared.
    """
    return (
        (
            "sample_counts",
            rounds + 1,
            "of each round: keys of the sample that agree; then the highest digit that varies",
        ),
        ("large_buckets", 1, "1 if a bucket has more keys than a work-group holds"),
        ("bucket_capacity", 1, "the keys that a work-group holds"),
        ("bucket_mean", 1, "the mean number of keys of a bucket, at most"),
        ("lowest_bit", 1, "the lowest bit that passes sort by; a flag where equal keys are many"),
    )


def partitioned_pairs(buckets: int) -> Sizes:
    """Return the regions for the launch that partitions pairs into at most `buckets` buckets."""
    return (
        ("pair_histogram", buckets, "of the buckets of pairs"),
        ("pair_cursors", buckets, "of each bucket: how many pairs are stored"),
        ("pair_starts", buckets + 1, "of each bucket: its first pair"),
    )
