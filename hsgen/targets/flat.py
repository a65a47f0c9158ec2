"""Tables of choices as tools take them: one for each label, whatever the schema, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsgen.algorithms.radix import NAME as RADIX
from hsgen.algorithms.radix import schema1
from hsgen.algorithms.radix.hybrid.params import KEYS, PAIRS
from hsgen.targets.ranges import RANGES, SORT, VALUED
from hsgen.targets.strategies import FALLBACK

_COORDINATIONS = {
    "reduce_scan": {"coordination": "scan"},
    "onesweep": {"coordination": "lookback"},
    "hybrid": {"coordination": "lookback"},
    "cooperative": {"coordination": "grid"},
    "per_thread": {"ranker": "serial", "coordination": "scan"},
}
Path = tuple[str, ...]


def flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a target file with one table for each label, and lists in place of rows."""
    if data.get("schema") != 2:
        return dict(data)
    out = dict(data)
    if isinstance(data.get(RADIX), dict):
        out[RADIX] = {key: _merged(table) for key, table in data[RADIX].items()}
    if isinstance(data.get(SORT), dict):
        names = {key: _names(table) for key, table in data.get(RADIX, {}).items()}
        out[SORT] = {key: _lists(table, names.get(key, {})) for key, table in data[SORT].items()}
    return out


def _tables(table: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The tables of a key by strategy and variant."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for strategy, own in table.items():
        plain = {k: v for k, v in own.items() if not isinstance(v, dict)}
        if plain:
            found[strategy, ""] = plain
        found |= {(strategy, k): v for k, v in own.items() if isinstance(v, dict)}
    return found


def _own(table: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The tables that have labels: all but those behind others."""
    tables = _tables(table)
    behind = {x[FALLBACK] for x in tables.values() if FALLBACK in x}
    return {at: x for at, x in tables.items() if ".".join(filter(None, at)) not in behind}


def _merged(table: Mapping[str, Any]) -> dict[str, Any]:
    tables = {".".join(filter(None, at)): x for at, x in _tables(table).items()}
    out: dict[str, Any] = {}
    for (strategy, variant), own in _own(table).items():
        base = tables.get(own.get(FALLBACK, ""), {})
        values = {**base, **_COORDINATIONS[strategy], **{k: v for k, v in own.items() if k != FALLBACK}}
        out |= {variant: values} if variant else values
    return out


def _names(table: Mapping[str, Any]) -> dict[str, str]:
    """Labels by the full names of tables."""
    return {"-".join(filter(None, (RADIX, *at))): "-".join(filter(None, (RADIX, at[1]))) for at in _own(table)}


def _lists(table: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Rows as lists; those with values say only what differs."""
    out: dict[str, Any] = {}
    for name, end in ((RANGES, ""), (VALUED, "_values")):
        if name in table:
            lists = {
                f"algorithms{end}": [names.get(row["use"], row["use"]) for row in table[name]],
                f"upto{end}": [row["to"] for row in table[name] if "to" in row],
            }
            out |= {k: v for k, v in lists.items() if not end or v != out[k.removesuffix(end)]}
    return out


def nested(schema: int, label: str, key: str, values: Mapping[str, Any]) -> dict[Path, dict[str, Any]]:
    """Return the tables, by where they are, that a flat table of a label is in a schema."""
    name, *variant = label.split("-")
    if schema < 2 or name != RADIX:
        return {(name, key, *variant): dict(values)}
    strategy = schema1.strategy(values)
    own = (
        {k: v for k, v in values.items() if k not in _COORDINATIONS[strategy]}
        if strategy == "per_thread"
        else {k: v for k, v in values.items() if k != "coordination"}
    )
    if strategy != "hybrid":
        return {(name, key, strategy, *variant): own}
    more = {k: v for k, v in own.items() if k in (*KEYS, *PAIRS)}
    return {
        (name, key, "onesweep", *variant): {k: v for k, v in own.items() if k not in more},
        (name, key, "hybrid", *variant): {FALLBACK: ".".join(["onesweep", *variant]), **more},
    }


def full(data: Mapping[str, Any], label: str, key: str) -> str:
    """Return the name of a label's table in schema 2, by flat data."""
    name, *variant = label.split("-")
    if name != RADIX:
        return label
    table = data[RADIX][key]
    for part in variant:
        table = table[part]
    return "-".join([name, schema1.strategy(table), *variant])


def rows(data: Mapping[str, Any], key: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table ``[sort.KEY]`` of a schema for lists, by flat data that has the tables they name."""
    if data.get("schema") != 2:
        return dict(values)
    out: dict[str, Any] = {}
    for name, end in ((RANGES, ""), (VALUED, "_values")):
        if not end or any(f"{x}{end}" in values for x in ("algorithms", "upto")):
            labels = values.get(f"algorithms{end}", values["algorithms"])
            upto = values.get(f"upto{end}", values["upto"])
            named = [full(data, label, key) for label in labels]
            made: list[dict[str, Any]] = [{"to": n, "use": x} for x, n in zip(named, upto, strict=False)]
            out[name] = [*made, {"use": named[-1]}]
    return out
