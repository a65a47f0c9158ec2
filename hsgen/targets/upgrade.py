"""Target files of schema 1 rewritten in schema 2: line by line, with the comments where they explain something.

A table ``[radix.KEY]`` goes under the strategy that its values choose; what a hybrid sort has besides its look-back
becomes a table of its own.  The lists in ``[sort.KEY]`` become rows.  Evidence about the choices of the file is about
the same choices afterwards, so its hash changes with theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hsgen.algorithms.radix import NAME as RADIX
from hsgen.algorithms.radix import schema1
from hsgen.algorithms.radix.hybrid.params import KEYS, PAIRS
from hsgen.core.errors import Usage
from hsgen.system import documents
from hsgen.targets import ranges, schema, target
from hsgen.targets.evidence import shapes
from hsgen.targets.flat import full
from hsgen.targets.ranges import SORT

_HEAD = re.compile(r"^\s*\[\s*([A-Za-z0-9_.-]+)\s*\]\s*(#.*)?$")
_ANY_HEAD = re.compile(r"^\s*\[")
_KEY = re.compile(r"^\s*([A-Za-z0-9_-]+)\s*=")
_SORT = ("algorithms", "upto", "algorithms_values", "upto_values")


def upgraded(text: str, stem: str, where: str) -> str | None:
    """Return the text in schema 2; None where it is that already.

    Raises:
        Usage: the file is wrong, or written in a way that cannot be rewritten.
    """
    data = documents.toml(text, where, "the file must be TOML")
    if data.get("schema") == schema.SCHEMA:
        return None
    before = target.parse(text, stem, where)
    blocks = _blocks(text)
    out = "".join("".join(_block(data, name, lines)) for name, lines in blocks)
    out = re.sub(r"(?m)^(\s*schema\s*=\s*)1\b", rf"\g<1>{schema.SCHEMA}", out, count=1)
    try:
        out = out.replace(f'"{before.shapes}"', f'"{shapes(documents.toml(out, where, ""))}"')
        after = target.parse(out, stem, where)
        same = (before.choices, before.autos, before.autos_valued) == (after.choices, after.autos, after.autos_valued)
    except Usage:
        same = False
    if not same:
        what = "cannot be rewritten as it is written"
        raise Usage(f"{where}: {what}; write each table as [NAME.KEY] with a line a key, and run this again")
    return out


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
    """The comment behind a key, on a line of its own; "" where there is none."""
    found = re.search(r"\s(#.*)$", line.rstrip("\n"))
    return f"{found[1]}\n" if found else ""


def _strategy(path: list[str], values: Mapping[str, Any], lines: list[str]) -> list[str]:
    """A table of a radix sort, under its strategy."""
    front, keys, rest = _split(lines)
    strategy = schema1.strategy(values)
    base = "onesweep" if strategy == "hybrid" else strategy
    dropped = {"coordination"} | ({"ranker"} if strategy == "per_thread" else set())
    own: list[str] = []
    more: list[str] = []
    for key, written in keys:
        if key in dropped:
            written = [*written[:-1], _comment(written[-1])]
        (more if key in (*KEYS, *PAIRS) else own).append("".join(written))
    out = [*front[:-1], _renamed(front[-1], path, base), *own]
    if more:
        name = ".".join([RADIX, path[1], strategy, *path[2:]])
        fallback = ".".join([base, *path[2:]])
        out += ["\n", f"[{name}]\n", f'fallback = "{fallback}"\n', *more]
    return [*out, *rest]


def _renamed(head: str, path: list[str], strategy: str) -> str:
    name = ".".join(path)
    return head.replace(name, ".".join([*path[:2], strategy, *path[2:]]), 1)


def _rows(data: Mapping[str, Any], key: str, values: Mapping[str, Any], lines: list[str]) -> list[str]:
    """A table of a sort for any count, with rows in place of lists."""
    front, keys, rest = _split(lines)
    comments: dict[str, list[str]] = {"": [], "_values": []}
    for name, written in keys:
        if name not in _SORT:
            return lines  # which the check of the whole refuses
        comments["_values" if name.endswith("_values") else ""] += [*written[:-1], _comment(written[-1])]
    out = list(front)
    for end, name in (("", ranges.RANGES), ("_values", ranges.VALUED)):
        out += comments[end]
        if not end or any(f"{x}{end}" in values for x in ("algorithms", "upto")):
            labels = values.get(f"algorithms{end}", values["algorithms"])
            named = [full(data, label, key) for label in labels]
            out.append(f"{name} = {ranges.written(named, values.get(f'upto{end}', values['upto']))}\n")
    return [*out, *rest]
