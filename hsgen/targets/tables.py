"""Tables of a target file by label, read and placed without a check of their values.

The table of a label has the keys of its table in the file.  For an algorithm with strategies it also has the key
`strategy` and the keys of the table that its strategy falls back on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hsgen.algorithms import TABLES
from hsgen.algorithms.radix import FALLBACK
from hsgen.targets import schema2
from hsgen.targets.ranges import RANGES, SORT, VALUED

STRATEGY = "strategy"
Path = tuple[str, ...]
"""The place of a table in a file, such as ("radix", "u32", "onesweep")."""
Placed = dict[Path, dict[str, Any]]
"""Tables by their places; the table that another one falls back on comes first."""


def placed_of(data: Mapping[str, Any], label: str, key: str) -> Placed:
    """Return the tables that a label has in a file; empty if it has none."""
    name, _, variant = label.partition("-")
    table = data.get(name, {}).get(key, {})
    if not _strategies(name):
        own = table.get(variant) if variant else table
        own = _plain(own) if isinstance(own, dict) else {}
        return {(name, key, *_rest(variant)): own} if own else {}
    tables = _tables(table)
    behind = [x[FALLBACK] for x in tables.values() if FALLBACK in x]
    for (strategy, other), own in tables.items():
        if other == variant and ".".join((strategy, *_rest(other))) not in behind:
            found: Placed = {}
            if FALLBACK in own:
                at, _, end = str(own[FALLBACK]).partition(".")
                found[name, key, at, *_rest(end)] = tables.get((at, end), {})
            return {**found, (name, key, strategy, *_rest(variant)): own}
    return {}


def table_of(data: Mapping[str, Any], label: str, key: str) -> dict[str, Any] | None:
    """Return the table of a label; None if the file has none."""
    found = placed_of(data, label, key)
    if not found:
        return None
    merged = {k: v for table in found.values() for k, v in table.items() if k != FALLBACK}
    name = label.partition("-")[0]
    if not _strategies(name):
        return merged
    merged = {k: v for at, table in found.items() for k, v in schema2.renamed(at[2], table).items() if k != FALLBACK}
    behind, strategy = next(iter(found))[2], list(found)[-1][2]
    unusual = behind not in (strategy, *list(_fallbacks(name, strategy))[:1])
    return {STRATEGY: strategy, **({FALLBACK: behind} if unusual else {}), **merged}


def labels(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the labels and keys that have a table in a file."""
    for name in (x for x in TABLES if x in data):
        for key, table in data[name].items():
            variants = _tables(table) if _strategies(name) else {("", k): {} for k in ("", *table)}
            for label in dict.fromkeys("-".join([name, *_rest(variant)]) for _, variant in variants):
                if placed_of(data, label, key):
                    yield label, key


def placed(data: Mapping[str, Any], label: str, key: str, table: Mapping[str, Any]) -> Placed:
    """Return the tables of a file for the table of a label, in their present places if its strategy is the same."""
    name, _, variant = label.partition("-")
    if not _strategies(name):
        return {(name, key, *_rest(variant)): dict(table)}
    strategy = str(table[STRATEGY])
    own = {k: v for k, v in table.items() if k not in (STRATEGY, FALLBACK)}
    path: Path = (name, key, strategy, *_rest(variant))
    usual = list(_fallbacks(name, strategy))
    if not usual:
        return {path: schema2.former(strategy, own)}
    now, fallback = placed_of(data, label, key), str(table.get(FALLBACK, usual[0]))
    there = next(iter(now), path)
    behind = there if path in now and there[2] == fallback else (name, key, fallback, *_rest(variant))
    more = {k: v for k, v in own.items() if k in _strategies(name)[strategy].FIELDS}
    return {
        behind: {k: v for k, v in own.items() if k not in more},
        path: {FALLBACK: ".".join(behind[2:]), **schema2.former(strategy, more)},
    }


def changed(data: Mapping[str, Any], label: str, key: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a file in which a label has another table."""
    out: dict[str, Any] = _copied(data)
    for path in placed_of(data, label, key):
        at = _at(out, path)
        for name in _plain(at):
            del at[name]
    for path, values in placed(data, label, key, table).items():
        at = _at(out, path)
        at |= {k: v for k, v in values.items() if k not in at}
    for path in placed_of(data, label, key):
        for depth in range(len(path), 0, -1):
            if not _at(out, path[:depth]):
                del _at(out, path[: depth - 1])[path[depth - 1]]
    return out


def _copied(value: Any) -> Any:
    """A copy whose tables can be changed."""
    return {k: _copied(v) for k, v in value.items()} if isinstance(value, dict) else value


def _at(data: dict[str, Any], path: Path) -> dict[str, Any]:
    for name in path:
        data = data.setdefault(name, {})
    return data


def full(data: Mapping[str, Any], label: str, key: str) -> str:
    """Return the name of a label's table in ranges, such as radix-onesweep-bits2."""
    found = placed_of(data, label, key)
    if not found or not _strategies(label.partition("-")[0]):
        return label
    name, _, *rest = list(found)[-1]
    return "-".join([name, *rest])


def rows(data: Mapping[str, Any], key: str, labels: Sequence[str], upto: Sequence[int]) -> list[dict[str, Any]]:
    """Return the rows of `ranges` for labels and their greatest counts, of which the last label needs none."""
    names = [full(data, label, key) for label in labels]
    made: list[dict[str, Any]] = [{"to": n, "use": x} for x, n in zip(names, upto, strict=False)]
    return [*made, {"use": names[-1]}]


def renamed(before: Mapping[str, Any], after: Mapping[str, Any], key: str, labels: Sequence[str]) -> dict[str, Any]:
    """Return the table ``[sort.KEY]`` of a file in which labels have moved to other strategies."""
    names = {full(before, x, key): full(after, x, key) for x in labels}
    table = before.get(SORT, {}).get(key, {})
    return {
        k: [{**row, "use": names.get(row["use"], row["use"])} for row in v] if k in (RANGES, VALUED) else v
        for k, v in table.items()
    }


def _strategies(name: str) -> Mapping[str, Any]:
    """The strategies of an algorithm; empty for most."""
    found: Mapping[str, Any] = getattr(TABLES[name], "STRATEGIES", {})
    return found


def _fallbacks(name: str, strategy: str) -> Mapping[str, Any]:
    """The strategies that one of an algorithm can fall back on; empty for most."""
    found: Mapping[str, Any] = getattr(TABLES[name], "FALLBACKS", {}).get(strategy, {})
    return found


def _rest(variant: str) -> Path:
    return (variant,) if variant else ()


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in table.items() if not isinstance(v, dict)}


def _tables(table: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The tables of a key by strategy and variant."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for strategy, own in table.items():
        if plain := _plain(own):
            found[strategy, ""] = plain
        found |= {(strategy, k): v for k, v in own.items() if isinstance(v, dict)}
    return found
