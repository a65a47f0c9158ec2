"""Target schema 2, as data: stages of radix sorts had keys with prefixes, and variants came after their strategy.

Only `hsgen.targets.upgrade` reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.algorithms.radix import FALLBACK
from hsgen.algorithms.radix import NAME as RADIX
from hsgen.algorithms.radix.stages import PairBucket
from hsgen.core.records import DOT, nested
from hsgen.targets.ranges import RANGES, SORT, VALUED

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
HYBRID = "hybrid"
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Tables that become the cases of one list: consecutive rows of a range of counts with one fallback.

    paths: of schema 2, in ascending order of counts.  tops: the greatest count of each but the last.  to: the list.
    """

    key: str
    range: str
    first: int
    paths: tuple[Path, ...]
    tops: tuple[int, ...]
    to: Path

    @property
    def use(self) -> str:
        """The name of the list in ranges."""
        return name_of(self.to)


def name_of(path: Path) -> str:
    """Return the name of a table in ranges: its place without the key."""
    return "-".join((path[0], *path[2:]))


def moved(path: Path) -> Path:
    """Return the place of a strategy's table in schema 3, where a variant stands before the strategy."""
    radix, key, strategy, *variant = path
    return (radix, key, *variant, strategy)


def behind(fallback: str) -> str:
    """Return the name of a fallback in schema 3."""
    strategy, _, variant = fallback.partition(DOT)
    return DOT.join(x for x in (variant, strategy) if x)


def records_of(strategy: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a strategy with the keys of schema 3, without a bound of pairs that follows from others."""
    flat = {NEW.get(strategy, {}).get(key, key): value for key, value in values.items()}
    made = nested(flat)
    bucket = made.get("pair_bucket", {})
    if {"above", "work_group", "items", "bins"} <= set(bucket):
        rest = {k: v for k, v in bucket.items() if k != "above"}
        if PairBucket(**rest).least == bucket["above"]:
            made["pair_bucket"] = rest
    if FALLBACK in made:
        made[FALLBACK] = behind(str(made[FALLBACK]))
    return made


def tables(data: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the places and values of the tables of all strategies."""
    for key, strategies in data.get(RADIX, {}).items():
        for strategy, table in strategies.items():
            plain = {k: v for k, v in table.items() if not isinstance(v, dict)}
            variants = {k: v for k, v in table.items() if isinstance(v, dict)}
            if plain or not variants:
                yield (RADIX, key, strategy), plain
            yield from (((RADIX, key, strategy, name), values) for name, values in variants.items())


def runs(data: Mapping[str, Any]) -> list[Run]:
    """Return the tables that become lists."""
    known = dict(tables(data))
    found: list[Run] = []
    for key, sort in data.get(SORT, {}).items():
        names = {name_of(path): path for path in known if path[1] == key}
        rows = {name: sort[name] for name in (RANGES, VALUED) if name in sort}
        used = [row["use"] for name in rows for row in rows[name]]
        for name, some in rows.items():
            found += _runs(key, name, some, names, known, used)
    return found


def _runs(
    key: str,
    name: str,
    rows: list[dict[str, Any]],
    names: Mapping[str, Path],
    known: Mapping[Path, dict[str, Any]],
    used: list[str],
) -> Iterator[Run]:
    """The runs of one range: each table is a variant, and serves no other row."""
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
    """A run whose list is next to its fallback; None where another table has that place."""
    paths = tuple(names[rows[i]["use"]] for i in group)
    variant = str(known[paths[0]][FALLBACK]).partition(DOT)[2]
    to = tuple(x for x in (RADIX, key, variant, HYBRID) if x)
    if any(moved(path) == to for path in known if path not in paths):
        return None
    tops = tuple(rows[i]["to"] for i in group[:-1])
    return Run(key=key, range=name, first=group[0], paths=paths, tops=tops, to=to)


def case(run: Run, path: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return one case of a list."""
    at = run.paths.index(path)
    own = {k: v for k, v in records_of(path[2], values).items()}
    return {"name": path[3], **({"up_to": run.tops[at]} if at < len(run.tops) else {}), **own}


def rows(found: list[Run], key: str, name: str, some: list[dict[str, Any]], names: Mapping[str, str]) -> Any:
    """Return the rows of a range with the names of schema 3, and one row for each list."""
    own = [run for run in found if (run.key, run.range) == (key, name)]
    out = []
    for i, row in enumerate(some):
        run = next((x for x in own if x.first <= i < x.first + len(x.paths)), None)
        if run is None:
            out.append({**row, "use": names.get(row["use"], row["use"])})
        elif i == run.first + len(run.paths) - 1:
            out.append({**row, "use": run.use})
    return out


def renamed(data: Mapping[str, Any], key: str) -> dict[str, str]:
    """Return the names of tables in ranges of schema 3 by those of schema 2."""
    return {name_of(path): name_of(moved(path)) for path, _ in tables(data) if path[1] == key}


def converted(data: Mapping[str, Any], schema: int) -> dict[str, Any]:
    """Return the data of a file of schema 2 in schema 3; evidence keeps its hashes."""
    found = runs(data)
    listed = {path: run for run in found for path in run.paths}
    out: dict[str, Any] = {**data, "schema": schema}
    if RADIX in data:
        out[RADIX] = {key: {} for key in data[RADIX]}
    for path, values in tables(data):
        if path not in listed:
            _put(out, moved(path), records_of(path[2], values))
    for run in found:
        known = dict(tables(data))
        _put(out, run.to, [case(run, path, known[path]) for path in run.paths])
    for key, table in data.get(SORT, {}).items():
        names = renamed(data, key)
        rest = {k: names.get(v, v) for k, v in table.items() if k not in (RANGES, VALUED)}
        made = {k: rest[k] if k in rest else rows(found, key, k, table[k], names) for k in table}
        out[SORT] = {**out[SORT], key: made}
    return out


def _put(out: dict[str, Any], path: Path, value: Any) -> None:
    at = out
    for name in path[:-1]:
        at = at.setdefault(name, {})
    if path[-1] in at:
        at[path[-1]].update(value)
    else:
        at[path[-1]] = value
