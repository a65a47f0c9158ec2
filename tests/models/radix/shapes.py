"""Shapes of radix sorts for tests, of any strategy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsgen.algorithms.radix import STRATEGIES, STRATEGY, params
from hsgen.algorithms.radix.tile import Tile
from hsgen.core.keys import KEYS

_STRATEGIES = {"scan": "reduce_scan", "lookback": "onesweep", "grid": "cooperative"}


def table(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table that values stand for: the way in which tiles find their places is the `coordination`, the
    ranker "serial" is for chunks, and any key of buckets makes a sort hybrid."""
    found = dict(values)
    way = _STRATEGIES[found.pop("coordination", "scan")]
    if found.get("ranker") == "serial":
        del found["ranker"]
        return {STRATEGY: "per_thread", **found}
    hybrid = way == "onesweep" and any(found.get(name) for name in STRATEGIES["hybrid"].FIELDS)
    return {STRATEGY: "hybrid" if hybrid else way, **found}


def made(key: str, values: Mapping[str, Any]) -> Any:
    """Return the parameters that values stand for; some may be internal ones."""
    found: Tile = params(KEYS[key], table(values))
    return found
