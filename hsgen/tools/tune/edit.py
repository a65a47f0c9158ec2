"""Writes the results of a tuning into a target file.

Blank lines and comments are preserved, except comments on replaced values.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hsgen.core.errors import Unavailable, Usage
from hsgen.system import extras, toolchain
from hsgen.targets.ranges import SORT, written
from hsgen.targets.tables import Path, changed, head, labels, placed, placed_of, renamed, table_of

Tables = Mapping[tuple[str, str], Mapping[str, Any]]
"""Parameter tables by (label, key width), in the form of `hsgen.targets.tables`."""
TUNED = "tune: "
"""The prefix of `result` in rows of evidence that this module wrote.  Only such rows may be replaced."""


def available() -> None:
    """Check that target files can be edited.

    Raises:
        Unavailable: tomlkit is not installed.
    """
    if not toolchain.has_module("tomlkit"):
        raise Unavailable(f"editing target files needs tomlkit; install it with {extras.command('tune')}")


def applied(
    text: str,
    where: str,
    tables: Tables,
    autos: Mapping[str, Mapping[str, Any]],
    evidence: Sequence[Mapping[str, str]],
    notes: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """Return the text of a target file with the new parameters and the new rows of evidence from a tuning.

    tables: the new parameters by (label, key width).
    autos: the new tables ``[sort.KEY]`` by key width.
    evidence: rows of evidence.  A row replaces the row of an earlier tuning of the same tables on the same device.
    notes: texts that say what was measured, by (label, key width).  A table's note becomes the comment of the first
    value that is replaced in the table.  Comments on other replaced values are removed.

    Raises:
        Usage: the layout of the file is not supported, so that the edited text would have another meaning.
    """
    import tomlkit

    data = tomllib.loads(text)
    after, sorts = _after(data, tables, autos)
    document: Any = tomlkit.parse(_moved(text, data, tables))
    places = list(_places(data, tables, sorts, notes or {}))
    lacking = [(head(x), table, note, _set(document, x, table, note)) for x, table, note in places]
    more = [row for row in evidence if not _evidence(document, row)]
    out = tomlkit.dumps(document)
    for name, table, note, keys in lacking:
        if keys is None:
            out = _before_evidence(out, _block(f"{name} {NOTE}{note}" if note else name, table))
        elif keys:
            out = _after_keys(out, name, keys)
    for row in more:
        out = out.rstrip("\n") + "\n\n" + _block("[[evidence]]", row)
    unchanged = all(table_of(data, *at) == table_of(after, *at) for at in labels(data) if at not in tables)
    if not unchanged or not _means(out, _recorded(after, evidence)):
        raise Usage(f"{where}: cannot be edited as it is written; write each table as [NAME.KEY], with a line a key")
    return out


def _places(
    data: Mapping[str, Any],
    tables: Tables,
    sorts: Mapping[str, Mapping[str, Any]],
    notes: Mapping[tuple[str, str], str],
) -> Iterator[tuple[Path, Mapping[str, Any], str]]:
    """Yield (path, values, note) for each table of the file that changes."""
    for at, table in tables.items():
        for path, values in placed(data, *at, table).items():
            yield path, values, notes.get(at, "")
    for key, table in sorts.items():
        yield (SORT, key), table, ""


def _means(text: str, data: Mapping[str, Any]) -> bool:
    """Whether parsing `text` as TOML gives `data`."""
    try:
        return tomllib.loads(text) == data
    except tomllib.TOMLDecodeError:
        return False


def _after(
    data: dict[str, Any], tables: Tables, autos: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, Mapping[str, Any]]]:
    """Return the data of the edited file except for new evidence, and the tables ``[sort.KEY]`` that change.

    If a table's strategy changes, so does the table's name, and each ``[sort.KEY]`` with that name changes too.
    """
    after = data
    for at, table in tables.items():
        after = changed(after, *at, table)
    sorts = dict(autos)
    for key in dict.fromkeys(key for _, key in tables):
        have = renamed(data, after, key, [label for label, k in tables if k == key])
        if key not in autos and have != data.get(SORT, {}).get(key, {}):
            sorts[key] = have
    return ({**after, SORT: {**after.get(SORT, {}), **sorts}} if sorts else after), sorts


def _moved(text: str, data: Mapping[str, Any], tables: Tables) -> str:
    """Return the text of the file with new heads for tables whose strategy changes, and without unused tables."""
    for at, table in tables.items():
        before, now = list(placed_of(data, *at)), list(placed(data, *at, table))
        for old, new in zip(before, now, strict=False):
            pattern = rf"(?m)^(\s*){re.escape(head(old))}(?:[ \t]*#.*)?"
            text = re.sub(pattern, rf"\g<1>{head(new)}", text) if old != new else text
        for old in before[len(now) :]:
            text = _without(text, head(old))
    return text


def _without(text: str, head: str) -> str:
    """Remove a table from the text.  Comments directly above this table, or directly above the next table, stay."""
    lines = text.splitlines(True)
    span = _span(lines, head)
    if span is None:
        return text
    begin, end = span
    while end > begin + 1 and end < len(lines) and lines[end - 1].startswith("#"):
        end -= 1
    return "".join([*lines[:begin], *lines[end:]])


def _span(lines: Sequence[str], head: str) -> tuple[int, int] | None:
    """Return the line indices (begin, end) of a table, from its head up to the next head; None without the table."""
    begin = next((i for i, line in enumerate(lines) if line.strip().startswith(head)), None)
    if begin is None:
        return None
    return begin, next((i for i in range(begin + 1, len(lines)) if lines[i].lstrip().startswith("[")), len(lines))


def _item(value: Any) -> Any:
    """Convert a value to a tomlkit item.  Lists of rows get one row per line; stages become inline tables."""
    import tomlkit

    if isinstance(value, dict):
        text = ", ".join(f"{k} = {_item(v).as_string()}" for k, v in value.items())
        return tomlkit.parse(f"x = {{ {text} }}\n")["x"]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        text = written([row["use"] for row in value], [row["to"] for row in value if "to" in row])
        document: Any = tomlkit.parse(f"x = {text}\n")
        return document["x"]
    return tomlkit.item(value)


def _set(document: Any, path: Path, table: Mapping[str, Any], note: str) -> dict[str, Any] | None:
    """Change the values of an existing table to those of `table`.

    Return the keys, with their values, that the caller must still add to the table; None if the document has no such
    table.  If the table is an element of a list of tables, this function adds such keys itself and returns none.
    Comments on replaced values are removed, and the first replaced value gets the note as its comment.
    """
    from tomlkit.items import InlineTable

    at = document
    for name in path:
        if isinstance(name, str) and name not in at:
            return None
        at = at[name]
    gone = [x for x in at if x not in table and (not isinstance(at[x], dict) or isinstance(at[x], InlineTable))]
    new = [x for x in at if x in table and (at[x] != table[x] or isinstance(at[x], bool) != isinstance(table[x], bool))]
    if gone or new:
        forget_notes(at, table)
    for name in gone:
        forget(at, name)
        del at[name]
    for name in new:
        at[name] = _item(table[name])
        forget(at, name, note if name == new[0] else "")
    lacking = {k: v for k, v in table.items() if k not in at}
    if not isinstance(path[-1], int):
        return lacking
    for name, value in lacking.items():
        at.append(name, _item(value))
    return {}


def questionable(before: str, after: str, tables: Tables) -> list[str]:
    """Return the heads of changed tables that have a comment directly above; the comment may describe old values."""
    data = tomllib.loads(after)
    heads = [head(path) for at in tables for path in placed_of(data, *at)]
    return above(after, heads) if before != after else []


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{k} = {_item(v).as_string()}\n" for k, v in table.items()]


def _after_keys(text: str, head: str, more: Mapping[str, Any]) -> str:
    """Insert keys after the last key of a table, and before any comments about the next table; return the text."""
    lines = text.splitlines(True)
    span = _span(lines, head)
    if span is None:
        return _before_evidence(text, _block(head, more))  # the file lacks this head if it has only tables of variants
    last = max(i for i in range(*span) if lines[i].strip() and not lines[i].lstrip().startswith("#"))
    return "".join([*lines[: last + 1], *_lines(more), *lines[last + 1 :]])


def _block(head: str, table: Mapping[str, Any]) -> str:
    """Return the text of a new table."""
    return "".join([f"{head}\n", *_lines(table)])


def _before_evidence(text: str, block: str) -> str:
    """Insert a new table before the rows of evidence and their comments, or at the end; return the text."""
    lines = text.splitlines(True)
    at = next((i for i, line in enumerate(lines) if line.strip() == "[[evidence]]"), len(lines))
    while 0 < at < len(lines) and lines[at - 1].startswith("#"):
        at -= 1
    front, back = "".join(lines[:at]).rstrip("\n"), "".join(lines[at:])
    return f"{front}\n\n{block}" + (f"\n{back}" if back else "")


def _same(row: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return True if `row` and `new` are both rows of a tuning, for the same device and the same tuned tables."""
    keys = ("level", "api", "device")
    known = [str(x.get("result", "")) for x in (row, new)]
    return (
        all(row.get(k) == new.get(k) for k in keys)
        and all(x.startswith(TUNED) for x in known)
        and (known[0].split(";")[0] == known[1].split(";")[0])
    )


def _evidence(document: Any, row: Mapping[str, str]) -> bool:
    """Replace the row of an earlier tuning of the same tables on the same device; return False without such a row."""
    for have in document.get("evidence", []):
        if _same(have, row):
            for name, value in row.items():
                if have.get(name) != value:
                    have[name] = value
            return True
    return False


def _recorded(data: dict[str, Any], evidence: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the data of a target file with additional rows of evidence."""
    rows = [dict(row) for row in data.get("evidence", [])]
    for row in evidence:
        same = [i for i, have in enumerate(rows) if _same(have, row)]
        if same:
            rows[same[0]] = dict(row)
        else:
            rows.append(dict(row))
    return {**data, "evidence": rows} if rows else data


def difference(before: str, after: str, name: str) -> str:
    """Return the change of a file as a unified diff; empty if the texts are equal."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, f"{name} (tuned)")
    return "".join(lines)


NOTE = "# tuned: "
"""The prefix of comments that state what a tuning measured for a table."""


def forget(table: Any, name: str, note: str = "") -> None:
    """Replace the comment at the end of a value's line by `note`, and remove the comments directly above that line.

    Values in inline tables have no comments, so nothing changes there.
    """
    from tomlkit import items

    if not isinstance(table, items.Table):
        return
    body = table.value.body
    at = next((i for i, (key, _) in enumerate(body) if key is not None and key.key == name), None)
    if at is None:
        return
    _comment(body[at][1], note)
    while at and isinstance(body[at - 1][1], items.Comment):
        at -= 1
        body[at] = (None, items.Null())


def forget_notes(table: Any, names: Iterable[str]) -> None:
    """Remove the notes of an earlier tuning from the values `names` of a table."""
    from tomlkit import items

    tuned = set(names)
    for key, item in table.value.body if isinstance(table, items.Table) else ():
        if key is not None and key.key in tuned and item.trivia.comment.startswith(NOTE):
            _comment(item, "")


def _comment(item: Any, note: str) -> None:
    item.trivia.comment_ws, item.trivia.comment = (" ", NOTE + note) if note else ("", "")


def above(text: str, heads: Iterable[str]) -> list[str]:
    """Return those of `heads`, such as ``[bitonic.u32]``, that have a comment directly above in the text."""
    lines = text.splitlines()
    number = {line.split("#")[0].strip(): i for i, line in enumerate(lines)}
    return [x for x in heads if number.get(x, 0) > 0 and lines[number[x] - 1].startswith("#")]
