"""Target schema 1: radix sorts had one list of keys for all strategies, and ``[sort.KEY]`` had lists.

Only `hsgen.targets.upgrade` reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms.radix import FALLBACK, FALLBACKS, FIELDS, STRATEGIES, fields
from hsgen.algorithms.radix import NAME as RADIX
from hsgen.targets.ranges import RANGES, SORT, VALUED
from hsgen.targets.schema import SCHEMA
from hsgen.targets.schema2 import NEW

ENDS = {RANGES: "", VALUED: "_values"}
"""The ends of the names of lists, by the names of ranges."""
LISTS = [f"{name}{end}" for end in ENDS.values() for name in ("algorithms", "upto")]
_STRATEGIES = {"scan": "reduce_scan", "lookback": "onesweep", "grid": "cooperative"}
RENAMED = {"merge": "bitonic"}
"""Algorithms by their names in schema 1."""
RANKERS = {"ballot": "match_ballot", "broadcast": "match_broadcast", "flags": "bitmask", "split": "radix_split"}
"""Rankers by their names in schema 1."""
Tables = dict[tuple[str, ...], dict[str, Any]]


def strategy(values: Mapping[str, Any]) -> str:
    """Return the strategy of a table ``[radix.KEY]``."""
    if values.get("ranker") == "serial":
        return "per_thread"
    if values.get("coordination") == "lookback" and any(
        values[key] and _present(key) in STRATEGIES["hybrid"].FIELDS for key in values
    ):
        return "hybrid"
    return _STRATEGIES.get(values.get("coordination", ""), "reduce_scan")


def _present(key: str) -> str:
    """The present name of a key of buckets."""
    return NEW["hybrid"].get(key, key)


def dropped(values: Mapping[str, Any]) -> set[str]:
    """Return the keys of a table that have no place in schema 2: what the strategy says, and features turned off."""
    name = strategy(values)
    off = {
        key
        for key, value in values.items()
        if _present(key) in FIELDS and _present(key) not in fields(name) and not value
    }
    return {"coordination", *(["ranker"] if name == "per_thread" else []), *off}


def placed(path: tuple[str, ...], values: Mapping[str, Any]) -> Tables:
    """Return the tables of schema 2 for a table ``[radix.KEY]`` or ``[radix.KEY.VARIANT]``."""
    own, name = {k: v for k, v in values.items() if k not in dropped(values)}, strategy(values)
    if "ranker" in own:
        own["ranker"] = RANKERS.get(own["ranker"], own["ranker"])
    radix, key, *variant = path
    if name not in FALLBACKS:
        return {(radix, key, name, *variant): own}
    behind = (next(iter(FALLBACKS[name])), *variant)
    more = {k: v for k, v in own.items() if _present(k) in STRATEGIES[name].FIELDS}
    return {
        (radix, key, *behind): {k: v for k, v in own.items() if k not in more},
        (radix, key, name, *variant): {FALLBACK: ".".join(behind), **more},
    }


def full(data: Mapping[str, Any], label: str, key: str) -> str:
    """Return the name of a label's table in schema 2."""
    name, *variant = label.split("-")
    if name != RADIX:
        return "-".join([RENAMED.get(name, name), *variant])
    table: Any = data.get(RADIX, {}).get(key, {})
    for part in variant:
        table = table.get(part, {})
    return "-".join([name, strategy(table), *variant])


def rows(data: Mapping[str, Any], key: str, values: Mapping[str, Any], end: str) -> tuple[list[str], list[int]] | None:
    """Return the names and counts of rows; None where a table ``[sort.KEY]`` has no lists with this ending."""
    if not any(f"{x}{end}" in values for x in ("algorithms", "upto")):
        return None
    labels = values.get(f"algorithms{end}", values.get("algorithms", []))
    upto = values.get(f"upto{end}", values.get("upto", []))
    return [full(data, label, key) for label in labels], upto


def converted(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a file of schema 1 in schema 2; evidence keeps its hashes."""
    out: dict[str, Any] = {RENAMED.get(name, name): value for name, value in data.items()} | {"schema": SCHEMA}
    for key, table in data.get(RADIX, {}).items():
        out[RADIX] = {**out[RADIX], key: {}}
        for path, values in _labels(key, table):
            for at, own in placed(path, values).items():
                where = out
                for name in at:
                    where = where.setdefault(name, {})
                where |= own
    for key, table in data.get(SORT, {}).items():
        made: dict[str, Any] = {k: v for k, v in table.items() if k not in LISTS}
        for name, end in ENDS.items():
            if found := rows(data, key, table, end):
                labels, upto = found
                some = [{"to": n, "use": x} for x, n in zip(labels[:-1], upto, strict=True)]
                made[name] = [*some, {"use": labels[-1]}]
        out[SORT] = {**out[SORT], key: made}
    return out


def _labels(key: str, table: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The tables of a key and of its variants."""
    plain = {k: v for k, v in table.items() if not isinstance(v, dict)}
    if plain:
        yield (RADIX, key), plain
    yield from (((RADIX, key, k), v) for k, v in table.items() if isinstance(v, dict))
