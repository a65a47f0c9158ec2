"""Shapes of radix sorts for tests, of any strategy."""

from __future__ import annotations

from typing import Any

from hsgen.algorithms.radix import params
from hsgen.algorithms.radix.tile import Tile
from hsgen.core.keys import KEYS

_STRATEGIES = {"scan": "reduce_scan", "lookback": "onesweep", "grid": "cooperative"}


def made(key: str, values: dict[str, Any]) -> Any:
    """Return the parameters of a table of schema 1; values may be internal ones, too."""
    found: Tile = params(KEYS[key], values)
    return found
