"""Suggestions as text: TOML tables with the reasons as comments, and rows for JSON."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from hsgen.algorithms import TABLES, operation
from hsgen.targets.tables import expanded
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


def setting(words: str, said: str) -> list[str]:
    """Return the lines of a setting with a comment: after it, or above it if the line would be too long."""
    whole = f"{words} # {said}" if said else words
    return [whole] if len(whole) <= _WIDE else [f"# {said}", words]


def own(text: str) -> dict[str, dict[str, Any]]:
    """Return the tables of choices in the text of a target file by their names, such as ``scan.u32.x1``."""
    data = tomllib.loads(text)
    shared = [name for name in TABLES if operation(name).by_count]
    names = dict.fromkeys([*shared, "sort", *TABLES])
    found = {name: data[name] for name in names if name in data}
    whole = {name: {k: expanded(name, v) for k, v in x.items()} if name in TABLES else x for name, x in found.items()}
    return dict(_tables(whole, ""))


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
