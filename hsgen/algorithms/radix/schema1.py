"""Tables of target schema 1: one list of keys for all strategies, of which some switch others off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import cooperative, onesweep, per_thread, rankers, tile
from hsgen.algorithms.radix.hybrid.params import KEYS, PAIRS
from hsgen.algorithms.radix.strategies import STRATEGIES
from hsgen.algorithms.radix.tile import Tile
from hsgen.core.fields import Field
from hsgen.core.keys import KeyType

RANKERS = (*rankers.RANKERS, "serial")
COORDINATIONS = ("scan", "lookback", "grid")

FIELDS = {
    **rankers.FIELDS,
    "coordination": Field("str", f"one of {', '.join(COORDINATIONS)}", choices=COORDINATIONS),
    "groups": tile.GROUPS,
    **{name: field for name, field in cooperative.FIELDS.items() if name in ("least", "places")},
    **onesweep.FIELDS,
    "stream_from": per_thread.FIELDS["stream_from"],
    **KEYS,
    **PAIRS,
}
FIELDS["ranker"] = Field("str", f"one of {', '.join(RANKERS)}", choices=RANKERS)


def strategy(values: Mapping[str, Any]) -> str:
    """Return the strategy that a table is of."""
    if values.get("ranker") == "serial":
        return "per_thread"
    if values.get("coordination") == "lookback" and any(values.get(name) for name in (*KEYS, *PAIRS)):
        return "hybrid"
    return {"lookback": "onesweep", "grid": "cooperative"}.get(values.get("coordination", ""), "reduce_scan")


def fields(name: str) -> Mapping[str, Field]:
    """Return the keys of a strategy and of the one behind it."""
    own = STRATEGIES[name].FIELDS
    return {**STRATEGIES["onesweep"].FIELDS, **own} if name == "hybrid" else own


def params(key: KeyType, values: Mapping[str, Any]) -> Tile:
    """Return the parameters of the strategy that a table is of; what others have is left out."""
    name = strategy(values)
    foreign = {"coordination"} | (set(FIELDS) - set(fields(name)))
    return STRATEGIES[name].Params(key=key, **{k: v for k, v in values.items() if k not in foreign})


def misplaced(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what the strategy of a table has no use for."""
    name = strategy(values)
    if name == "per_thread" and values.get("coordination", "scan") != "scan":
        yield "coordination", "chunks of the serial ranker are counted first", 'give "scan"'
    for key, value in values.items():
        if key in FIELDS and key not in (*fields(name), "coordination", "ranker") and value:
            yield key, f"is for no sort of the strategy {name}", "leave it out"
