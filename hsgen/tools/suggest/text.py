"""Writes suggestions as TOML tables with the reasons as comments, or as rows for JSON."""

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
    """Return a value in TOML's syntax; texts must not contain quotes or backslashes."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{k} = {literal(v)}' for k, v in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(literal(v) for v in value)}]"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else json.dumps(value)


def block(name: str, table: Table, file: Mapping[str, Any] | None = None) -> str:
    """Return a table in TOML's syntax, with the reason for each value as a comment.

    If a file has such a table too, `file` has its values.  Then comments also show those values that differ.
    """
    lines = [f"[{name}]"] if file is None or file else [f"[{name}] # the file has none"]
    for key, choice in table.items():
        reasons = [choice.why] * bool(choice.why)
        if file and key not in file:
            reasons.append("the file leaves it out")
        elif file and file[key] != choice.value:
            reasons.append(f"the file has {literal(file[key])}")
        lines += setting(f"{key} = {literal(choice.value)}", "; ".join(reasons))
    for key, value in (file or {}).items():
        if key not in table:
            lines.append(f"# {key}: left to its default; the file has {literal(value)}")
    return "\n".join(lines) + "\n"


def setting(words: str, comment: str) -> list[str]:
    """Return a setting with its comment at the end of the line; a comment that is too long precedes it."""
    line = f"{words} # {comment}" if comment else words
    return [line] if len(line) <= _WIDE else [f"# {comment}", words]


def choice_tables(text: str) -> dict[str, dict[str, Any]]:
    """Return the tables of choices in the text of a target file, by name, such as ``scan.u32.x1``."""
    data = tomllib.loads(text)
    shared = [name for name in TABLES if operation(name).by_count]
    names = dict.fromkeys([*shared, "sort", *TABLES])
    tables = {name: data[name] for name in names if name in data}
    full = {name: {k: expanded(name, v) for k, v in x.items()} if name in TABLES else x for name, x in tables.items()}
    return dict(_tables(full, ""))


def _tables(data: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in data.items():
        if isinstance(value, dict):
            plain = {k: v for k, v in value.items() if not isinstance(v, dict)}
            if plain:
                yield prefix + name, plain
            yield from _tables(value, f"{prefix}{name}.")


def rows(tables: Mapping[str, Table], file: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a record for JSON for each suggested value, with the file's value; None if the file does not have it."""
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
