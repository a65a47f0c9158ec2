"""The keys of the table of a hybrid sort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsgen.core.fields import Field

KEYS = {
    "msd_from": Field("int", "the count above which keys alone are dealt into buckets", required=False, least=1),
    "msd_group": Field("int", "buckets: the lanes that deal keys out", required=False, least=1, greatest=8192),
    "msd_items": Field("int", "buckets: the keys of such a lane", required=False, least=1, greatest=64),
    "bucket_group": Field("int", "buckets: the lanes that sort one", required=False, least=1, greatest=8192),
    "bucket_items": Field("int", "buckets: the keys of such a lane, at most", required=False, least=1, greatest=64),
    "bucket_places": Field(
        "int", "buckets: the places of one, a power of two", required=False, least=1, greatest=65536
    ),
}
"""The choices of buckets of keys alone, all of which are given or none."""

PAIRS = {
    "finish_from": Field(
        "int",
        "the count above which keys with values of 4 bytes are passed by two digits and then sorted in buckets",
        required=False,
        least=1,
    ),
    "finish_group": Field(
        "int", "buckets of pairs: the lanes that sort one, a power of two", required=False, least=1, greatest=8192
    ),
    "finish_items": Field(
        "int", "buckets of pairs: the pairs of such a lane, at most", required=False, least=1, greatest=64
    ),
    "finish_places": Field(
        "int", "buckets of pairs: the places of one, a power of two", required=False, least=1, greatest=65536
    ),
}
"""The same of buckets of pairs."""

DEAL = {
    "deal_from": Field(
        "int",
        "buckets of pairs: the count above which, up to `finish_from`, pairs are dealt into them at once",
        required=False,
        least=1,
    ),
    "deal_group": Field("int", "buckets of pairs: the lanes that deal a tile", required=False, least=1, greatest=8192),
    "deal_items": Field("int", "buckets of pairs: the pairs of such a lane", required=False, least=1, greatest=64),
    "deal_places": Field(
        "int",
        "buckets of pairs: the places of one that is dealt, a power of two",
        required=False,
        least=1,
        greatest=65536,
    ),
}
"""The choices of few pairs, which are dealt into buckets at once, all of which are given or none."""

MEAN = {
    "finish_mean": Field(
        "int",
        "buckets of pairs: the pairs of one on average, at most (13/16 of those that it holds)",
        required=False,
        least=1,
    ),
}
"""How full buckets of pairs may be."""

REST = {
    "rest_bits": Field(
        "int",
        "buckets: the bits of a digit by which crowded ones are sorted, if not `bits`",
        required=False,
        least=1,
        greatest=11,
    ),
}
"""How crowded buckets of either kind are sorted."""

SAMPLE = {
    "sample": Field(
        "int",
        "buckets: the keys, a power of two, that are compared first, to see whether too many are alike",
        required=False,
        least=16,
        greatest=8192,
    ),
}
"""How keys are found that buckets would not hold, before any is moved."""

COUNT = {
    "count_bits": Field(
        "int",
        "with 64-bit indices: the lowest bits by which the keys of a bucket are counted",
        required=False,
        least=1,
        greatest=16,
    ),
    "count_group": Field("int", "buckets: the lanes that count one", required=False, least=1, greatest=8192),
    "count_items": Field(
        "int", "buckets: the keys of such a lane that are stored at once", required=False, least=1, greatest=64
    ),
}
"""The same of buckets whose keys are counted, all of which are given or none."""

FALLBACK = "fallback"
"""The key that names what sorts what buckets do not hold."""

NO_KEYS: Mapping[str, Any] = dict.fromkeys([*KEYS, *COUNT], 0)
NO_PAIRS: Mapping[str, Any] = dict.fromkeys([*PAIRS, *DEAL, *MEAN], 0)
