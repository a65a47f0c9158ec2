"""Suggestions as text: TOML tables with the reasons as comments, and rows for JSON."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import ALGORITHMS, operation
from hsgen.algorithms.radix import NAME as RADIX
from hsgen.targets.flat import flat, nested
from hsgen.targets.flat import rows as flat_rows
from hsgen.targets.ranges import SORT
from hsgen.tools.suggest.facts import Choice, Table

_WIDE = 120


def literal(value: Any) -> str:
    """Return a value as TOML: texts without quotes and backslashes, numbers, truth values, and lists of them."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{k} = {literal(v)}' for k, v in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(literal(v) for v in value)}]"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else json.dumps(value)


def block(name: str, table: Table, file: Mapping[str, Any] | None = None) -> str:
    """Return a table as TOML with the reason of each value; with those of a file, what it has where that differs."""
    lines = [f"[{name}]"] if file is None or file else [f"[{name}] # the file has none"]
    for key, choice in table.items():
        said = [choice.why] * bool(choice.why)
        if file and key not in file:
            said.append("the file leaves it out")
        elif file and file[key] != choice.value:
            said.append(f"the file has {literal(file[key])}")
        lines += setting(f"{key} = {literal(choice.value)}", "; ".join(said))
    for key, value in (file or {}).items():
        if key not in table:
            lines.append(f"# {key}: left to its default; the file has {literal(value)}")
    return "\n".join(lines) + "\n"


Laid = tuple[str, Table, Mapping[str, Any] | None]
"""The name of a table, its choices, and what a file has in its place."""


def laid(tables: Mapping[str, Table], file: Mapping[str, Mapping[str, Any]]) -> Iterator[Laid]:
    """Yield the tables as target files have them: of radix sorts under their strategies, and rows of counts."""
    made = {at: {k: c.value for k, c in table.items()} for at, table in tables.items()}
    for at, table in tables.items():
        name, key, *_ = at.split(".")
        have = file.get(at, {}) if file else None
        if name == SORT:
            now = flat_rows(_nest(made), key, made[at])
            then = flat_rows(_nest(file), key, have) if have else have
            why = next((c.why for k, c in table.items() if k == "upto" and c.value), table["algorithms"].why)
            yield at, {k: Choice(v, why) for k, v in now.items()}, then
            continue
        ((path, own),) = nested(2, name, key, made[at]).items() if name == RADIX else [(tuple(at.split(".")), made[at])]
        kept = {k: v for k, v in have.items() if name != RADIX or k in own or k not in made[at]} if have else have
        yield ".".join(path), {k: c for k, c in table.items() if k in own}, kept


def _nest(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Flat data of the radix sorts among some tables."""
    out: dict[str, Any] = {"schema": 2, "radix": {}}
    for at, table in tables.items():
        name, key, *variant = at.split(".")
        if name == RADIX:
            own = out[RADIX].setdefault(key, {})
            own |= {variant[0]: dict(table)} if variant else table
    return out


def setting(words: str, said: str) -> list[str]:
    """Return the lines of a setting with a comment: behind it, or above it where the line would be too long."""
    whole = f"{words} # {said}" if said else words
    return [whole] if len(whole) <= _WIDE else [f"# {said}", words]


def own(text: str) -> dict[str, dict[str, Any]]:
    """Return the tables of choices in the text of a target file by their names, such as ``scan.u32.x1``."""
    data = flat(tomllib.loads(text))
    shared = [name for name in ALGORITHMS if operation(name).by_count]
    names = dict.fromkeys([*shared, "sort", *ALGORITHMS])
    return dict(_tables({name: data[name] for name in names if name in data}, ""))


def _tables(data: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in data.items():
        if isinstance(value, dict):
            plain = {k: v for k, v in value.items() if not isinstance(v, dict)}
            if plain:
                yield prefix + name, plain
            yield from _tables(value, f"{prefix}{name}.")


def rows(tables: Mapping[str, Table], file: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one record for each value, with what a file has in its place (null where it leaves the value out)."""
    out = []
    for name, table in tables.items():
        have = file.get(name, {})
        left = {k: Choice(None, "left to its default") for k in have if k not in table}
        for key, choice in {**table, **left}.items():
            out.append(
                {
                    "table": name,
                    "key": key,
                    "value": choice.value,
                    "file": have.get(key),
                    "same": have.get(key) == choice.value,
                    "reason": choice.why,
                }
            )
    return out
