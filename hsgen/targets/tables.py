"""Tables of a target file by label, read and placed without a check of their values.

The table of a label has the keys of its table in the file, those of a stage by dotted names.  For an algorithm with
strategies it also has the key `strategy` and the keys of the table that its strategy falls back on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hsgen.algorithms import TABLES
from hsgen.algorithms.radix import FALLBACK
from hsgen.core.records import DOT, nested
from hsgen.targets.ranges import RANGES, SORT, VALUED
from hsgen.targets.strategies import CASE, NAME

STRATEGY = "strategy"
Path = tuple[str | int, ...]
"""The place of a table in a file, such as ("radix", "u32", "onesweep"), with the number of a case in a list."""
Placed = dict[Path, dict[str, Any]]
"""Tables by their places; the table that another one falls back on comes first."""


def head(path: Path) -> str:
    """Return the head of a table in a file."""
    names = DOT.join(str(x) for x in path if isinstance(x, str))
    return f"[[{names}]]" if isinstance(path[-1], int) else f"[{names}]"


def placed_of(data: Mapping[str, Any], label: str, key: str) -> Placed:
    """Return the tables that a label has in a file; empty if it has none."""
    name, _, variant = label.partition("-")
    table = data.get(name, {}).get(key, {})
    if not _strategies(name):
        own = table.get(variant) if variant else table
        own = _plain(own) if isinstance(own, dict) else {}
        return {(name, key, *_rest(variant)): own} if own else {}
    tables = {(name, key, *path): (own, x) for path, own, x in _tables(name, table)}
    behind = [own.get(FALLBACK) for own, _ in tables.values()]
    for path, (own, other) in tables.items():
        if other == variant and (isinstance(path[-1], int) or DOT.join(map(str, path[2:])) not in behind):
            base: Path = (name, key, *str(own.get(FALLBACK, "")).split(DOT))
            found: Placed = {base: tables.get(base, ({}, ""))[0]} if FALLBACK in own else {}
            return {**found, path: own}
    return {}


def table_of(data: Mapping[str, Any], label: str, key: str) -> dict[str, Any] | None:
    """Return the table of a label; None if the file has none."""
    found = placed_of(data, label, key)
    if not found:
        return None
    merged = {k: v for table in found.values() for k, v in _flat(table).items() if k not in (FALLBACK, *CASE)}
    name = label.partition("-")[0]
    if not _strategies(name):
        return merged
    behind, strategy = (_strategy(path) for path in (next(iter(found)), list(found)[-1]))
    unusual = behind not in (strategy, *list(_fallbacks(name, strategy))[:1])
    return {STRATEGY: strategy, **({FALLBACK: behind} if unusual else {}), **merged}


def labels(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the labels and keys that have a table in a file."""
    for name in (x for x in TABLES if x in data):
        for key, table in data[name].items():
            every = [x for _, _, x in _tables(name, table)] if _strategies(name) else ["", *table]
            for label in dict.fromkeys("-".join([name, *_rest(variant)]) for variant in every):
                if placed_of(data, label, key):
                    yield label, key


def placed(data: Mapping[str, Any], label: str, key: str, table: Mapping[str, Any]) -> Placed:
    """Return the tables of a file for the table of a label, in their present places if its strategy is the same."""
    name, _, variant = label.partition("-")
    if not _strategies(name):
        return {(name, key, *_rest(variant)): dict(table)}
    strategy = str(table[STRATEGY])
    own = {k: v for k, v in table.items() if k not in (STRATEGY, FALLBACK)}
    now = placed_of(data, label, key)
    last = list(now)[-1] if now else ()
    same = now and _strategy(last) == strategy
    path: Path = last if same else (name, key, *_rest(variant), strategy)
    case = {k: v for k, v in now[last].items() if k in CASE} if same else {}
    usual = list(_fallbacks(name, strategy))
    if not usual:
        return {path: {**case, **nested(own)}}
    there, fallback = next(iter(now), path), str(table.get(FALLBACK, usual[0]))
    behind = there if same and _strategy(there) == fallback else (name, key, *_rest(variant), fallback)
    more = {k: v for k, v in own.items() if k in _strategies(name)[strategy].FIELDS}
    return {
        behind: {k: v for k, v in own.items() if k not in more},
        path: {**case, FALLBACK: DOT.join(map(str, behind[2:])), **nested(more)},
    }


def changed(data: Mapping[str, Any], label: str, key: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a file in which a label has another table."""
    out: dict[str, Any] = _copied(data)
    own, before = _strategies(label.partition("-")[0]), placed_of(data, label, key)
    for path in before:
        at = _at(out, path)
        for name in list(at) if own else _plain(at):
            del at[name]
    for path, values in placed(data, label, key, table).items():
        at = _at(out, path)
        at |= {k: v for k, v in values.items() if k not in at}
    for path in before:
        for depth in range(len(path), 0, -1):
            if not _at(out, path[:depth]):
                del _at(out, path[: depth - 1])[path[depth - 1]]
    return out


def _copied(value: Any) -> Any:
    """A copy whose tables can be changed."""
    if isinstance(value, list):
        return [_copied(x) for x in value]
    return {k: _copied(v) for k, v in value.items()} if isinstance(value, dict) else value


def _at(data: Any, path: Path) -> Any:
    for name in path:
        data = data[name] if isinstance(name, int) else data.setdefault(name, {})
    return data


def full(data: Mapping[str, Any], label: str, key: str) -> str:
    """Return the name of a label's table in ranges, such as radix-bits2-onesweep; of a case, its label."""
    found = placed_of(data, label, key)
    if not found or not _strategies(label.partition("-")[0]):
        return label
    name, _, *rest = list(found)[-1]
    return label if isinstance(rest[-1], int) else "-".join(map(str, [name, *rest]))


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


def _strategy(path: Path) -> str:
    """The strategy whose table stands at a place."""
    return str(path[-2] if isinstance(path[-1], int) else path[-1])


def _rest(variant: str) -> tuple[str, ...]:
    return (variant,) if variant else ()


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in table.items() if not isinstance(v, dict)}


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table with dotted names in place of the tables within it."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= {f"{name}{DOT}{k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value}
    return found


def _tables(name: str, table: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any], str]]:
    """Yield the tables of a key: the places within that of the key, the values, and the variants of their labels."""
    known = _strategies(name)
    for first, own in table.items():
        strategies = {(first,): own} if first in known else {(first, x): v for x, v in own.items() if x in known}
        for path, values in strategies.items():
            variant = "" if first in known else first
            if isinstance(values, dict):
                yield path, values, variant
                continue
            yield from (((*path, i), x, str(x.get(NAME, f"{variant}{i + 1}"))) for i, x in enumerate(values))
