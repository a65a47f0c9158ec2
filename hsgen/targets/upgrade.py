"""Target files of schema 1 rewritten line by line, with their comments.

A table ``[radix.KEY]`` moves under the strategy that its values choose; the buckets of a hybrid sort get a table of
their own.  The lists of ``[sort.KEY]`` become rows.  Evidence about the choices of the file gets their new hash.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from hsgen.algorithms import ALGORITHMS
from hsgen.algorithms.radix import FALLBACK
from hsgen.algorithms.radix import NAME as RADIX
from hsgen.core.errors import Usage
from hsgen.system import documents
from hsgen.targets import ranges, schema, schema1, target
from hsgen.targets.evidence import shapes
from hsgen.targets.ranges import SORT

_HEAD = re.compile(r"^\s*\[\s*([A-Za-z0-9_.-]+)\s*\]\s*(#.*)?$")
_ANY_HEAD = re.compile(r"^\s*\[")
_KEY = re.compile(r"^\s*([A-Za-z0-9_-]+)\s*=")


def upgraded(text: str, stem: str, where: str) -> str | None:
    """Return the text in the newest schema; None if it has that schema.

    Raises:
        Usage: the file is wrong, or written in a way that cannot be rewritten.
    """
    data = documents.toml(text, where, "the file must be TOML")
    if data.get("schema") == schema.SCHEMA:
        return None
    if data.get("schema") != 1:
        target.parse(text, stem, where)  # which says what is wrong
    wrong = f"{where}: cannot be rewritten as it is written"
    hint = "write each table as [NAME.KEY] with a line a key, and run this again"
    try:
        wanted = schema1.converted(data)
        out = _rewritten(text, data)
        if tomllib.loads(out) != wanted:
            raise Usage(f"{wrong}; {hint}")
        out = out.replace(f'"{shapes(data)}"', f'"{shapes(wanted)}"')
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):  # tables or lists of another type
        raise Usage(f"{wrong}; {hint}") from None
    if any(name in data for name in ALGORITHMS):  # facts alone, as `hsgen suggest` takes them, are no target
        target.parse(out, stem, where)
    return out


def _rewritten(text: str, data: Mapping[str, Any]) -> str:
    """The text with each table rewritten."""
    out = "".join("".join(_block(data, name, lines)) for name, lines in _blocks(text))
    return re.sub(r"(?m)^(\s*schema\s*=\s*)1\b", rf"\g<1>{schema.SCHEMA}", out, count=1)


def _blocks(text: str) -> list[tuple[str, list[str]]]:
    """The lines before the first table, under "", and those of each table from its head on.

    Comments right above a head belong to it.
    """
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines(True):
        if _ANY_HEAD.match(line):
            above: list[str] = []
            while found[-1][1] and found[-1][1][-1].startswith("#"):
                above.insert(0, found[-1][1].pop())
            head = _HEAD.match(line)
            found.append((head[1] if head else "?", above))
        found[-1][1].append(line)
    return found


def _block(data: Mapping[str, Any], name: str, lines: list[str]) -> list[str]:
    """A table rewritten."""
    path = name.split(".")
    at: Any = data
    for part in path:
        at = at.get(part) if isinstance(at, dict) else None
    if not isinstance(at, dict):
        return lines
    if path[0] == RADIX and len(path) in (2, 3):
        return _strategy(path, {k: v for k, v in at.items() if not isinstance(v, dict)}, lines)
    if path[0] in schema1.RENAMED:
        head = next(i for i, line in enumerate(lines) if _HEAD.match(line))
        return [*lines[:head], lines[head].replace(path[0], schema1.RENAMED[path[0]], 1), *lines[head + 1 :]]
    return _rows(data, path[1], at, lines) if path[0] == SORT and len(path) == 2 else lines


def _split(lines: list[str]) -> tuple[list[str], list[tuple[str, list[str]]], list[str]]:
    """A table's lines up to its head, its keys, each with the comments above it, and what follows the last of them."""
    head = next(i for i, line in enumerate(lines) if _HEAD.match(line)) + 1
    keys: list[tuple[str, list[str]]] = []
    pending: list[str] = []
    for line in lines[head:]:
        pending.append(line)
        if found := _KEY.match(line):
            keys.append((found[1], pending))
            pending = []
    return lines[:head], keys, pending


def _comment(line: str) -> str:
    """The comment after a key, on a line of its own; "" without a comment."""
    found = re.search(r"\s(#.*)$", line.rstrip("\n"))
    return f"{found[1]}\n" if found else ""


def _strategy(path: list[str], values: Mapping[str, Any], lines: list[str]) -> list[str]:
    """A table of a radix sort, under its strategy."""
    front, keys, rest = _split(lines)
    dropped = schema1.dropped(values)
    text = {name: "".join(_dropped(written) if name in dropped else written) for name, written in keys}
    if "ranker" in text:
        text["ranker"] = re.sub(r'(?m)^(\s*ranker\s*=\s*)"(\w+)"', _ranker, text["ranker"])
    first, *more = schema1.placed(tuple(path), values)
    behind = [name for at in more for name in schema1.placed(tuple(path), values)[at] if name in text]
    out = [*front[:-1], front[-1].replace(".".join(path), ".".join(first), 1)]
    out += [written for name, written in text.items() if name not in behind]
    for at in more:
        out += ["\n", f"[{'.'.join(at)}]\n", f'{FALLBACK} = "{".".join(first[2:])}"\n', *(text[x] for x in behind)]
    return [*out, *rest]


def _ranker(found: re.Match[str]) -> str:
    return f'{found[1]}"{schema1.RANKERS.get(found[2], found[2])}"'


def _dropped(written: list[str]) -> list[str]:
    """The comments of a key without the key."""
    return [*written[:-1], _comment(written[-1])]


def _rows(data: Mapping[str, Any], key: str, values: Mapping[str, Any], lines: list[str]) -> list[str]:
    """A table of a sort for any count, with rows in place of lists."""
    front, keys, rest = _split(lines)
    if any(name not in schema1.LISTS for name, _ in keys):
        return lines  # the comparison of the whole refuses it
    out = list(front)
    for name, end in schema1.ENDS.items():
        for list_, written in keys:
            out += _dropped(written) if list_.endswith("_values") == bool(end) else []
        if found := schema1.rows(data, key, values, end):
            out.append(f"{name} = {ranges.written(*found)}\n")
    return [*out, *rest]
