"""Writing what was found into a target file: only what changes, with every comment and blank line left as it was."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from hsgen.core.errors import Unavailable, Usage
from hsgen.system import toolchain
from hsgen.targets.flat import flat, nested, rows
from hsgen.targets.ranges import written

Tables = Mapping[tuple[str, str], Mapping[str, Any]]
"""Flat tables by (label, key)."""
TUNED = "tune: "
"""What the result of evidence begins with that this module wrote, and may replace."""


def available() -> None:
    """Do nothing where target files can be edited.

    Raises:
        Unavailable: the library for it is not installed.
    """
    if not toolchain.has_module("tomlkit"):
        raise Unavailable("editing target files needs tomlkit; install it with pip install 'hsgen[tune]'")


def applied(
    text: str,
    where: str,
    tables: Tables,
    autos: Mapping[str, Mapping[str, Any]],
    evidence: Sequence[Mapping[str, str]],
) -> str:
    """Return the text of a target file with these tables of (label, key), of ``[sort.KEY]``, and further evidence.

    Evidence of an earlier tuning on the same device is replaced.

    Raises:
        Usage: the file is written in a way that cannot be edited.
    """
    import tomlkit

    data = flat(tomllib.loads(text))
    old, places = text, _places(data, tables, autos)
    text = _renamed(text, data, tables)
    document: Any = tomlkit.parse(text)
    lacking = [(f"[{'.'.join(path)}]", table, _set(document, path, table)) for path, table in places]
    more = [row for row in evidence if not _evidence(document, row)]
    out = tomlkit.dumps(document)
    for head, table, keys in lacking:
        if keys is None:
            out = _before_evidence(out, _block(head, table))
        elif keys:
            out = _after_keys(out, head, keys)
    for row in more:
        out = out.rstrip("\n") + "\n\n" + _block("[[evidence]]", row)
    wanted = _expected(flat(tomllib.loads(old)), tables, autos, evidence)
    try:
        right = flat(tomllib.loads(out)) == wanted
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        raise Usage(f"{where}: cannot be edited as it is written; write each table as [NAME.KEY], with a line a key")
    return out


Places = list[tuple[list[str], Mapping[str, Any]]]
"""Where tables lie in the file, bitonic.u32 or radix.u32.onesweep.bits2, and what they say."""


def _places(data: dict[str, Any], tables: Tables, autos: Mapping[str, Mapping[str, Any]]) -> Places:
    """The tables of a file for those of labels, and for ``[sort.KEY]``: also where a label has another strategy now."""
    schema = int(data.get("schema", 1))
    found = [(list(path), table) for at, x in tables.items() for path, table in nested(schema, *at, x).items()]
    after = _expected(deepcopy(data), tables, autos, [])
    lists = {key: table for key, table in after.get("sort", {}).items() if key in autos}
    for _, key in tables:
        have = data.get("sort", {}).get(key)
        if schema > 1 and have and key not in autos and rows(after, key, have) != rows(data, key, have):
            lists[key] = have
    return [*found, *((["sort", key], rows(after, key, table)) for key, table in lists.items())]


def _renamed(text: str, data: Mapping[str, Any], tables: Tables) -> str:
    """The text with the heads of tables whose strategy is another now."""
    schema = int(data.get("schema", 1))
    for (label, key), table in tables.items():
        have = table_of(data, label, key)
        before = nested(schema, label, key, have) if have else {}
        for old, new in zip(before, nested(schema, label, key, table), strict=False):
            head = rf"(?m)^(\s*\[\s*){re.escape('.'.join(old))}(\s*\])"
            text = re.sub(head, rf"\g<1>{'.'.join(new)}\g<2>", text) if old != new else text
    return text


def table_of(data: Mapping[str, Any], label: str, key: str) -> dict[str, Any] | None:
    """Return the table of a label in flat data, without variants that lie within."""
    name, _, variant = label.partition("-")
    at = data.get(name, {}).get(key)
    at = at.get(variant) if variant and at is not None else at
    return {k: v for k, v in (at or {}).items() if not isinstance(v, dict)} or None


def _item(value: Any) -> Any:
    """A value as the library has it: rows stand a line each."""
    import tomlkit

    if isinstance(value, list) and value and isinstance(value[0], dict):
        text = written([row["use"] for row in value], [row["to"] for row in value if "to" in row])
        document: Any = tomlkit.parse(f"x = {text}\n")
        return document["x"]
    return tomlkit.item(value)


def _set(document: Any, path: Sequence[str], table: Mapping[str, Any]) -> dict[str, Any] | None:
    """Change a table that is there; return the keys that it lacks, None where there is no such table."""
    at = document
    for name in path:
        if name not in at:
            return None
        at = at[name]
    for name in [x for x in at if x not in table and not isinstance(at[x], dict)]:
        del at[name]
    for name in (x for x in table if x in at):
        if at[name] != table[name] or isinstance(at[name], bool) != isinstance(table[name], bool):
            at[name] = _item(table[name])
    return {k: v for k, v in table.items() if k not in at}


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{k} = {_item(v).as_string()}\n" for k, v in table.items()]


def _after_keys(text: str, head: str, more: Mapping[str, Any]) -> str:
    """Put further keys behind the last one of a table, before comments that are about what follows."""
    lines = text.splitlines(True)
    begin = next((i for i, line in enumerate(lines) if line.strip().startswith(head)), None)
    if begin is None:
        return text  # the check of the whole says so
    end = next((i for i in range(begin + 1, len(lines)) if lines[i].lstrip().startswith("[")), len(lines))
    last = max(i for i in range(begin, end) if lines[i].strip() and not lines[i].lstrip().startswith("#"))
    return "".join([*lines[: last + 1], *_lines(more), *lines[last + 1 :]])


def _block(head: str, table: Mapping[str, Any]) -> str:
    """The text of a new table."""
    return "".join([f"{head}\n", *_lines(table)])


def _before_evidence(text: str, block: str) -> str:
    """Put a new table before the evidence and the comments above that, or at the end."""
    lines = text.splitlines(True)
    at = next((i for i, line in enumerate(lines) if line.strip() == "[[evidence]]"), len(lines))
    while 0 < at < len(lines) and lines[at - 1].startswith("#"):
        at -= 1
    front, back = "".join(lines[:at]).rstrip("\n"), "".join(lines[at:])
    return f"{front}\n\n{block}" + (f"\n{back}" if back else "")


def _same(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a row of evidence is what an earlier tuning wrote for the same device and the same keys."""
    keys = ("level", "api", "device")
    known = [str(x.get("result", "")) for x in (row, other)]
    return (
        all(row.get(k) == other.get(k) for k in keys)
        and all(x.startswith(TUNED) for x in known)
        and (known[0].split(";")[0] == known[1].split(";")[0])
    )


def _evidence(document: Any, row: Mapping[str, str]) -> bool:
    """Change a row that is there; say whether it is."""
    for have in document.get("evidence", []):
        if _same(have, row):
            for name, value in row.items():
                if have.get(name) != value:
                    have[name] = value
            return True
    return False


def _expected(
    data: dict[str, Any],
    tables: Tables,
    autos: Mapping[str, Mapping[str, Any]],
    evidence: Sequence[Mapping[str, str]],
) -> dict[str, Any]:
    """What the edited text must mean."""
    paths: Places = [(list(*nested(1, *at, table)), table) for at, table in tables.items()]
    for path, table in [*paths, *((["sort", key], table) for key, table in autos.items())]:
        at = data
        for name in path[:-1]:
            at = at.setdefault(name, {})
        old = at.get(path[-1], {})
        at[path[-1]] = {**table, **{k: v for k, v in old.items() if isinstance(v, dict)}}
    rows = data.setdefault("evidence", []) if evidence else []
    for row in evidence:
        same = [i for i, have in enumerate(rows) if _same(have, row)]
        if same:
            rows[same[0]] = dict(row)
        else:
            rows.append(dict(row))
    return data


def difference(before: str, after: str, name: str) -> str:
    """Return the change of a file as a unified diff, empty if there is none."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, f"{name} (tuned)")
    return "".join(lines)
