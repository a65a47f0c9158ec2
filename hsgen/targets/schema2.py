"""The conversion of a target file's data from schema 2 to schema 3, for `hsgen.targets.upgrade`.

Schema 3 differs in four ways:

- The parameters of a radix sort's stages are in inner tables, such as ``bucket.items``.  In schema 2, their names have
  prefixes, as in `bucket_items`.
- In the path of a table, a variant precedes its strategy.  In schema 2, the variant follows.
- Tables of a strategy for consecutive ranges of counts are the elements, *cases*, of a list.  In schema 2, each is a
  variant.
- The tables of prefix sums for one key width are a table with a rule.  In schema 2, each variant has a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.algorithms.radix import FALLBACK
from hsgen.algorithms.radix import NAME as RADIX
from hsgen.algorithms.radix.stages import PairBucket
from hsgen.algorithms.scan import NAME as SCAN
from hsgen.algorithms.scan.rule import expanded, variant
from hsgen.core.records import DOT, nested
from hsgen.targets.ranges import LISTS, SORT

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
        "deal_from": "pair_partition.above",
        "deal_group": "pair_partition.work_group",
        "deal_items": "pair_partition.items",
        "deal_places": "pair_partition.bins",
    },
    "partition": {**_BUCKET, "pass_group": "uneven.work_group", "pass_items": "uneven.items"},
    "cooperative": {"places": "bins"},
    "single": {"places": "bins"},
}
"""The names of parameters in schema 3 by their names in schema 2, for each strategy in which names differ."""
HYBRID = "hybrid"
FIRST = variant(1, exclusive=False)
"""The variant of prefix sums whose table becomes the table with the rule."""
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Tables that become the cases of one list, because they serve consecutive ranges and have the same fallback.

    key: the key width.
    range: the name of the list of rows in ``[sort.KEY]`` that refers to the tables.
    first: the index in that list of the row for the first table.
    paths: the paths of the tables in schema 2, in ascending order of counts.
    tops: the greatest counts of all tables but the last.
    to: the path of the list of tables in schema 3.
    """

    key: str
    range: str
    first: int
    paths: tuple[Path, ...]
    tops: tuple[int, ...]
    to: Path

    @property
    def use(self) -> str:
        """The name by which rows in ``[sort.KEY]`` refer to the list of tables."""
        return name_of(self.to)


def name_of(path: Path) -> str:
    """Return the name by which rows in ``[sort.KEY]`` refer to a table: its path without the key width."""
    return "-".join((path[0], *path[2:]))


def moved(path: Path) -> Path:
    """Return the path in schema 3 of a strategy's table, given its path in schema 2."""
    radix, key, strategy, *variant = path
    return (radix, key, *variant, strategy)


def behind(fallback: str) -> str:
    """Return the name of a fallback in schema 3, given its name in schema 2."""
    strategy, _, variant = fallback.partition(DOT)
    return DOT.join(x for x in (variant, strategy) if x)


def records_of(strategy: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a strategy's table in schema 3, given its values in schema 2.

    The parameter ``pair_bucket.above`` is omitted if it has the value that schema 3 derives from other parameters.
    """
    flat = {NEW.get(strategy, {}).get(key, key): value for key, value in values.items()}
    table = nested(flat)
    bucket = table.get("pair_bucket", {})
    if {"above", "work_group", "items", "bins"} <= set(bucket):
        rest = {k: v for k, v in bucket.items() if k != "above"}
        if PairBucket(**rest).least == bucket["above"]:
            table["pair_bucket"] = rest
    if FALLBACK in table:
        table[FALLBACK] = behind(str(table[FALLBACK]))
    return table


def tables(data: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the path and the values of each table of a radix sort's strategy, in data of schema 2."""
    for key, strategies in data.get(RADIX, {}).items():
        for strategy, table in strategies.items():
            plain = {k: v for k, v in table.items() if not isinstance(v, dict)}
            variants = {k: v for k, v in table.items() if isinstance(v, dict)}
            if plain or not variants:
                yield (RADIX, key, strategy), plain
            yield from (((RADIX, key, strategy, name), values) for name, values in variants.items())


def runs(data: Mapping[str, Any]) -> list[Run]:
    """Return the runs of tables that become the cases of lists."""
    known = dict(tables(data))
    out: list[Run] = []
    for key, sort in data.get(SORT, {}).items():
        names = {name_of(path): path for path in known if path[1] == key}
        rows = {name: sort[name] for name in LISTS if name in sort}
        used = [row["use"] for name in rows for row in rows[name]]
        for name, listed in rows.items():
            out += _runs(key, name, listed, names, known, used)
    return out


def _runs(
    key: str,
    name: str,
    rows: list[dict[str, Any]],
    names: Mapping[str, Path],
    known: Mapping[Path, dict[str, Any]],
    used: list[str],
) -> Iterator[Run]:
    """Yield the runs in one list of rows: groups of consecutive rows whose tables become one list of cases.

    Each table in a run is a variant of the hybrid sort, and no row outside the run refers to it.

    key: the key width.  name: the name of the list of rows.
    names: the paths of tables by the names in rows.  known: the tables by path.  used: the names in all rows.
    """
    group: list[int] = []
    for i, row in enumerate([*rows, {"use": ""}]):
        path = names.get(row["use"], ())
        able = len(path) == 4 and path[2] == HYBRID and used.count(row["use"]) == 1
        same = able and (not group or known[path][FALLBACK] == known[names[rows[group[0]]["use"]]][FALLBACK])
        if able and same:
            group.append(i)
            continue
        if len(group) > 1 and (run := _run(key, name, rows, group, names, known)):
            yield run
        group = [i] if able else []


def _run(
    key: str,
    name: str,
    rows: list[dict[str, Any]],
    group: list[int],
    names: Mapping[str, Path],
    known: Mapping[Path, dict[str, Any]],
) -> Run | None:
    """Return the tables that the rows with the indices `group` use, as one `Run`: in schema 3, they become one list.

    The path of the list contains the variant of the fallback, which is the same for all these tables.  Return None if
    another table has this path in schema 3.
    """
    paths = tuple(names[rows[i]["use"]] for i in group)
    variant = str(known[paths[0]][FALLBACK]).partition(DOT)[2]
    to = tuple(x for x in (RADIX, key, variant, HYBRID) if x)
    if any(moved(path) == to for path in known if path not in paths):
        return None
    tops = tuple(rows[i]["to"] for i in group[:-1])
    return Run(key=key, range=name, first=group[0], paths=paths, tops=tops, to=to)


def case(run: Run, path: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the case, in the list of a run, that replaces the table with the path `path`."""
    at = run.paths.index(path)
    table = {k: v for k, v in records_of(path[2], values).items()}
    return {"name": path[3], **({"up_to": run.tops[at]} if at < len(run.tops) else {}), **table}


def rows(lists: list[Run], key: str, name: str, before: list[dict[str, Any]], names: Mapping[str, str]) -> Any:
    """Return a list of rows for schema 3, given the rows `before` of schema 2.

    A single row replaces the rows for all cases of a list of tables.  Other rows get the new names of tables, `names`.
    """
    merged = [run for run in lists if (run.key, run.range) == (key, name)]
    out = []
    for i, row in enumerate(before):
        run = next((x for x in merged if x.first <= i < x.first + len(x.paths)), None)
        if run is None:
            out.append({**row, "use": names.get(row["use"], row["use"])})
        elif i == run.first + len(run.paths) - 1:
            out.append({**row, "use": run.use})
    return out


def renamed(data: Mapping[str, Any], key: str) -> dict[str, str]:
    """Return the names by which rows refer to tables in schema 3, by the names in schema 2."""
    return {name_of(path): name_of(moved(path)) for path, _ in tables(data) if path[1] == key}


def converted(data: Mapping[str, Any], schema: int) -> dict[str, Any]:
    """Return the data of a target file in schema 3, given its data in schema 2.

    Rows of evidence keep the hash of the choices in schema 2.
    """
    lists = runs(data)
    listed = {path: run for run in lists for path in run.paths}
    out: dict[str, Any] = {**data, "schema": schema}
    if RADIX in data:
        out[RADIX] = {key: {} for key in data[RADIX]}
    for path, values in tables(data):
        if path not in listed:
            _put(out, moved(path), records_of(path[2], values))
    for run in lists:
        known = dict(tables(data))
        _put(out, run.to, [case(run, path, known[path]) for path in run.paths])
    if SCAN in data:
        out[SCAN] = {key: sums(table) or table for key, table in data[SCAN].items()}
    for key, table in data.get(SORT, {}).items():
        names = renamed(data, key)
        rest = {k: names.get(v, v) for k, v in table.items() if k not in LISTS}
        ranges = {k: rest[k] if k in rest else rows(lists, key, k, table[k], names) for k in table}
        out[SORT] = {**out[SORT], key: ranges}
    return out


def sums(table: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a table with a rule, given the tables of all variants of prefix sums for a key width.

    The result also has a table for each variant that differs from the rule.  Return None if there is no such rule:
    there must be an inclusive and an exclusive variant for each number of columns, and all variants must have the same
    keys.
    """
    first = table.get(FIRST)
    if not isinstance(first, dict) or not all(isinstance(x, dict) for x in table.values()):
        return None
    pairs = {name: (x.get("columns"), x.get("exclusive")) for name, x in table.items()}
    columns = sorted({n for n, _ in pairs.values() if isinstance(n, int)})
    expected = {variant(n, exclusive=ex): (n, ex) for n in columns for ex in (False, True)}
    if pairs != expected or any(x.keys() != first.keys() for x in table.values()):
        return None
    shared = {"columns": columns, **{k: v for k, v in first.items() if k not in ("columns", "exclusive")}}
    rule = expanded(shared)
    more = {name: {k: v for k, v in table[name].items() if v != rule[name][k]} for name in table}
    return {**shared, **{name: x for name, x in more.items() if x}}


def _put(out: dict[str, Any], path: Path, value: Any) -> None:
    at = out
    for name in path[:-1]:
        at = at.setdefault(name, {})
    if path[-1] in at:
        at[path[-1]].update(value)
    else:
        at[path[-1]] = value
