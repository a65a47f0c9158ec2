"""Functions that return and change the parameters of a label in the data of a target file, without checks of values.

A file may have the parameters of one label, such as radix-bits2, in several tables.  The functions handle them as one
dictionary, a *flat table*:

- The parameters of a stage are in an inner table of the file.  In a flat table, they have dotted names.
- The strategy is part of a table's path in the file.  In a flat table, it is the value of the key `strategy`.
- A fallback has a separate table in the file.  In a flat table, its parameters are among those of the label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hsgen.algorithms import TABLES
from hsgen.algorithms.radix import FALLBACK
from hsgen.core.records import DOT, nested
from hsgen.targets.ranges import LISTS, SORT
from hsgen.targets.strategies import CASE, NAME

STRATEGY = "strategy"
Path = tuple[str | int, ...]
"""The path of a table in a file, such as ("radix", "u32", "onesweep").

The path of a table in a list ends with its index.
"""
Placed = dict[Path, dict[str, Any]]
"""The tables of a file that have the parameters of a label, by path: that of its fallback, if any, then its own."""


def head(path: Path) -> str:
    """Return the line that begins a table in a file, such as ``[radix.u32.onesweep]``."""
    names = DOT.join(str(x) for x in path if isinstance(x, str))
    return f"[[{names}]]" if isinstance(path[-1], int) else f"[{names}]"


def placed_of(data: Mapping[str, Any], label: str, key: str) -> Placed:
    """Return the tables of a file with the parameters of a label, by path.

    The result is empty if there are none, or if only a rule, which stands for the tables of several labels, has them.
    """
    name, _, variant = label.partition("-")
    table = data.get(name, {}).get(key, {})
    if not _strategies(name):
        listed = expanded(name, table) is not table and not variant
        values = {} if listed else table.get(variant) if variant else table
        values = _values(name, values) if isinstance(values, dict) else {}
        return {(name, key, *_rest(variant)): values} if values else {}
    tables = {(name, key, *path): (values, x) for path, values, x in _tables(name, table)}
    behind = [values.get(FALLBACK) for values, _ in tables.values()]
    for path, (values, ending) in tables.items():
        if ending == variant and (isinstance(path[-1], int) or DOT.join(map(str, path[2:])) not in behind):
            base: Path = (name, key, *str(values.get(FALLBACK, "")).split(DOT))
            base_table: Placed = {base: tables.get(base, ({}, ""))[0]} if FALLBACK in values else {}
            return {**base_table, path: values}
    return {}


def table_of(data: Mapping[str, Any], label: str, key: str) -> dict[str, Any] | None:
    """Return the flat table of a label; None if the file has neither tables nor a rule for the label."""
    if (ruled := _ruled(data, label, key)) is not None:
        return ruled
    parts = placed_of(data, label, key)
    if not parts:
        return None
    merged = {k: v for table in parts.values() for k, v in _flat(table).items() if k not in (FALLBACK, *CASE)}
    name = label.partition("-")[0]
    if not _strategies(name):
        return merged
    behind, strategy = (_strategy(path) for path in (next(iter(parts)), list(parts)[-1]))
    unusual = behind not in (strategy, *list(_fallbacks(name, strategy))[:1])
    return {STRATEGY: strategy, **({FALLBACK: behind} if unusual else {}), **merged}


def expanded(name: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table of an algorithm and a key width; a rule, which stands for several tables, becomes these."""
    module: Any = TABLES[name]
    tables: Mapping[str, Any] = module.expanded(table) if module.TRAITS.rule and module.listed(table) else table
    return tables


def _ruled(data: Mapping[str, Any], label: str, key: str) -> dict[str, Any] | None:
    """Return the table that a rule defines for a label; None if the file has no rule for it."""
    name, _, variant = label.partition("-")
    table = data.get(name, {}).get(key, {})
    every = expanded(name, table)
    ruled = every.get(variant) if every is not table else None
    return dict(ruled) if isinstance(ruled, dict) else None


def labels(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each (label, key width) for which a file has a table or a rule."""
    for name in (x for x in TABLES if x in data):
        for key, table in data[name].items():
            variants = [x for x in expanded(name, table) if x not in _stages(name)]
            every = [x for _, _, x in _tables(name, table)] if _strategies(name) else ["", *variants]
            for label in dict.fromkeys("-".join([name, *_rest(variant)]) for variant in every):
                if placed_of(data, label, key) or _ruled(data, label, key):
                    yield label, key


def placed(data: Mapping[str, Any], label: str, key: str, table: Mapping[str, Any]) -> Placed:
    """Return the tables, by path, in which a file must have the parameters of a label, given as the flat table `table`.

    If the label already has the same strategy in the file, its tables keep their paths.
    """
    name, _, variant = label.partition("-")
    if not _strategies(name):
        return {(name, key, *_rest(variant)): nested(table)}
    strategy = str(table[STRATEGY])
    values = {k: v for k, v in table.items() if k not in (STRATEGY, FALLBACK)}
    now = placed_of(data, label, key)
    last = list(now)[-1] if now else ()
    same = now and _strategy(last) == strategy
    path: Path = last if same else (name, key, *_rest(variant), strategy)
    case = {k: v for k, v in now[last].items() if k in CASE} if same else {}
    usual = list(_fallbacks(name, strategy))
    if not usual:
        return {path: {**case, **nested(values)}}
    there, fallback = next(iter(now), path), str(table.get(FALLBACK, usual[0]))
    behind = there if same and _strategy(there) == fallback else (name, key, *_rest(variant), fallback)
    more = {k: v for k, v in values.items() if k in _strategies(name)[strategy].FIELDS}
    return {
        behind: {k: v for k, v in values.items() if k not in more},
        path: {**case, FALLBACK: DOT.join(map(str, behind[2:])), **nested(more)},
    }


def changed(data: Mapping[str, Any], label: str, key: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a file after a change of a label's parameters to the flat table `table`."""
    out: dict[str, Any] = _copied(data)
    strategies, before = _strategies(label.partition("-")[0]), placed_of(data, label, key)
    for path in before:
        at = _at(out, path)
        for name in list(at) if strategies else _values(path[0], at):
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
    """Return a deep copy of tables and lists."""
    if isinstance(value, list):
        return [_copied(x) for x in value]
    return {k: _copied(v) for k, v in value.items()} if isinstance(value, dict) else value


def _at(data: Any, path: Path) -> Any:
    for name in path:
        data = data[name] if isinstance(name, int) else data.setdefault(name, {})
    return data


def full(data: Mapping[str, Any], label: str, key: str) -> str:
    """Return the name, such as radix-bits2-onesweep, by which rows in ``[sort.KEY]`` refer to the table of a label.

    If the table is in a list, return the label.
    """
    parts = placed_of(data, label, key)
    if not parts or not _strategies(label.partition("-")[0]):
        return label
    name, _, *rest = list(parts)[-1]
    return label if isinstance(rest[-1], int) else "-".join(map(str, [name, *rest]))


def rows(data: Mapping[str, Any], key: str, labels: Sequence[str], upto: Sequence[int]) -> list[dict[str, Any]]:
    """Return rows for ``[sort.KEY]``, given labels, and the greatest counts `upto` of all labels but the last."""
    names = [full(data, label, key) for label in labels]
    out: list[dict[str, Any]] = [{"to": n, "use": x} for x, n in zip(names, upto, strict=False)]
    return [*out, {"use": names[-1]}]


def renamed(before: Mapping[str, Any], after: Mapping[str, Any], key: str, labels: Sequence[str]) -> dict[str, Any]:
    """Return the table ``[sort.KEY]`` of the data `before`, in which the rows refer to tables of the data `after`.

    The name by which a row refers to the table of one of the `labels` changes if the label's strategy changes.
    """
    names = {full(before, x, key): full(after, x, key) for x in labels}
    table = before.get(SORT, {}).get(key, {})
    return {
        k: [{**row, "use": names.get(row["use"], row["use"])} for row in v] if k in LISTS else v
        for k, v in table.items()
    }


def _strategies(name: str) -> Mapping[str, Any]:
    """Return the strategies of an algorithm by name; empty for algorithms without strategies."""
    strategies: Mapping[str, Any] = getattr(TABLES[name], "STRATEGIES", {})
    return strategies


def _fallbacks(name: str, strategy: str) -> Mapping[str, Any]:
    """Return the possible fallbacks of a strategy by name; empty for strategies that need no fallback."""
    fallbacks: Mapping[str, Any] = getattr(TABLES[name], "FALLBACKS", {}).get(strategy, {})
    return fallbacks


def _strategy(path: Path) -> str:
    """Return the strategy in the path of a table."""
    return str(path[-2] if isinstance(path[-1], int) else path[-1])


def _rest(variant: str) -> tuple[str, ...]:
    return (variant,) if variant else ()


def _values(name: str | int, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of an algorithm without strategies, without its inner tables for variants."""
    stages = _stages(str(name))
    return {k: v for k, v in table.items() if k in stages or not isinstance(v, dict)}


def _stages(name: str) -> set[str]:
    """Return the names of the stages of an algorithm, each of which has an inner table for its parameters."""
    return {field.partition(DOT)[0] for field in TABLES[name].FIELDS if DOT in field}


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table with dotted names in place of inner tables."""
    out: dict[str, Any] = {}
    for name, value in table.items():
        out |= {f"{name}{DOT}{k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value}
    return out


def _tables(name: str, table: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any], str]]:
    """Yield (path after the key width, values, suffix of the label) for each table of a strategy in `table`."""
    known = _strategies(name)
    for first, sub in table.items():
        strategies = {(first,): sub} if first in known else {(first, x): v for x, v in sub.items() if x in known}
        for path, values in strategies.items():
            variant = "" if first in known else first
            if isinstance(values, dict):
                yield path, values, variant
                continue
            yield from (((*path, i), x, str(x.get(NAME, f"{variant}{i + 1}"))) for i, x in enumerate(values))
