"""Target schema 2: the stages of radix sorts had keys with prefixes, such as ``bucket_items``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hsgen.core.fields import Field

_BUCKET = {
    "bucket_group": "bucket.work_group",
    "bucket_items": "bucket.items",
    "bucket_places": "bucket.bins",
}
NEW: Mapping[str, Mapping[str, str]] = {
    "hybrid": {
        "msd_from": "partition.above",
        "msd_group": "partition.work_group",
        "msd_items": "partition.items",
        **_BUCKET,
        "rest_bits": "crowded_bits",
        "count_bits": "counting.bits",
        "count_group": "counting.work_group",
        "count_items": "counting.items",
        "finish_from": "pair_bucket.above",
        "finish_group": "pair_bucket.work_group",
        "finish_items": "pair_bucket.items",
        "finish_places": "pair_bucket.bins",
        "finish_mean": "pair_bucket.mean",
        "deal_from": "dealt.above",
        "deal_group": "dealt.work_group",
        "deal_items": "dealt.items",
        "deal_places": "dealt.bins",
    },
    "partition": {**_BUCKET, "pass_group": "uneven.work_group", "pass_items": "uneven.items"},
}
"""The keys of schema 3 by those of schema 2, of each strategy whose keys differ."""


def renamed(strategy: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a strategy with the keys of schema 3."""
    return {NEW.get(strategy, {}).get(key, key): value for key, value in values.items()}


def former(strategy: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a strategy, or its fields, with the keys of schema 2; none of a stage's is required."""
    old = {new: key for key, new in NEW.get(strategy, {}).items()}
    free = {k: replace(v, required=False) if k in old and isinstance(v, Field) else v for k, v in values.items()}
    return {old.get(key, key): value for key, value in free.items()}
