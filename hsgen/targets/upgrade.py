"""The conversion of a target file's text from schema 2 to schema 3, line by line, so that comments are preserved.

`hsgen.targets.schema2` describes the two schemas, and converts the parsed data.  In the text, the parameters of a stage
become an inline TOML table.  The hash of parameters and ranges differs between the schemas.  Rows of evidence that have
the hash of the file in schema 2 therefore get its hash in schema 3.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hsgen.algorithms import ALGORITHMS
from hsgen.algorithms.radix import FALLBACK
from hsgen.algorithms.scan import NAME as SCAN
from hsgen.core.errors import Usage
from hsgen.core.records import DOT, record_of
from hsgen.system import documents
from hsgen.targets import schema, schema2, target
from hsgen.targets.evidence import shapes
from hsgen.targets.ranges import SORT
from hsgen.targets.schema2 import NEW, Path, Run

_HEAD = re.compile(r"^\s*\[\s*([A-Za-z0-9_.-]+)\s*\](\s*#.*)?$")
_ANY_HEAD = re.compile(r"^\s*\[\[?\s*[A-Za-z0-9_\"'.\s-]+\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_-]+)\s*=\s*([^#\n]*?)\s*(#.*)?$")
_USE = re.compile(r'(\buse\s*=\s*)"([^"]*)"')
_HINT = "write each table as [NAME.KEY] with a line a key, each row of a range on a line, and run this again"


def upgraded(text: str, stem: str, where: str) -> str | None:
    """Return the text of a target file, converted to the newest schema; None if it already has the newest schema.

    Raises:
        Usage: the file has errors, or is written in a way that the function cannot convert.
    """
    data = documents.toml(text, where, "the file must be TOML")
    if data.get("schema") == schema.SCHEMA:
        return None
    if data.get("schema") != schema.SCHEMA - 1 or isinstance(data.get("schema"), bool):
        target.parse(text, stem, where)  # raises an error about the number of the schema
    wrong = f"{where}: cannot be rewritten as it is written; {_HINT}"
    try:
        expected = schema2.converted(data, schema.SCHEMA)
        out = _rewritten(text, data)
        if tomllib.loads(out) != expected:
            raise Usage(wrong)
        out = out.replace(f'"{shapes(data)}"', f'"{shapes(expected)}"')
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):  # a table or list in `data` has another type
        raise Usage(wrong) from None
    if any(name in data for name in ALGORITHMS):  # a file with only facts, as `hsgen suggest` reads it, is no target
        target.parse(out, stem, where)
    return out


@dataclass(slots=True)
class _Block:
    """The lines of one TOML table in the text of a target file.

    They are the comments directly above its head, the head (a line such as ``[sort.u32]``), and the lines up to the
    next block.
    path: the path of the table; () for the lines before the first table.
    """

    path: Path
    lines: list[str] = field(default_factory=list)

    @property
    def head(self) -> int:
        """The index of the line with the head."""
        return next(i for i, line in enumerate(self.lines) if _ANY_HEAD.match(line))


def _rewritten(text: str, data: Mapping[str, Any]) -> str:
    """Return the text of a file, in which all tables are converted to the newest schema; `data` is its data."""
    runs, known = schema2.runs(data), dict(schema2.tables(data))
    listed = {path: run for run in runs for path in run.paths}
    blocks = _blocks(text)
    scans = {key: table_sums for key, table in data.get(SCAN, {}).items() if (table_sums := schema2.sums(table))}
    out, done = "", set[Path]()
    for block in blocks:
        run = listed.get(block.path)
        if block.path[:1] == (SCAN,) and len(block.path) == 3 and block.path[1] in scans:
            out += "".join(_sum(block, scans[block.path[1]]))
        elif run is None:
            out += "".join(_written(block, data, known, runs))
        elif run.to not in done:
            done.add(run.to)
            cases = {b.path: b for b in blocks if b.path in run.paths}
            out += "".join("".join(_case(cases[path], run, known[path])) for path in run.paths)
    return re.sub(r"(?m)^(\s*schema\s*=\s*)2\b", rf"\g<1>{schema.SCHEMA}", out, count=1)


def _blocks(text: str) -> list[_Block]:
    """Return the blocks of a text: the lines before the first table, then the lines of each table."""
    blocks = [_Block(())]
    for line in text.splitlines(True):
        if _ANY_HEAD.match(line):
            above: list[str] = []
            while blocks[-1].lines and blocks[-1].lines[-1].startswith("#"):
                above.insert(0, blocks[-1].lines.pop())
            head = _HEAD.match(line)
            blocks.append(_Block(tuple(head[1].split(DOT)) if head else ("?",), above))
        blocks[-1].lines.append(line)
    return blocks


def _written(block: _Block, data: Mapping[str, Any], known: Mapping[Path, Any], runs: list[Run]) -> list[str]:
    """Return the converted lines of a table that does not become a case of a list.

    known: the tables of strategies in schema 2, by path.
    """
    if block.path in known:
        return _strategy(block, schema2.moved(block.path), known[block.path])
    if len(block.path) == 2 and block.path[0] == SORT:
        return _ranges(block, data, runs)
    return block.lines


def _strategy(block: _Block, to: Path, values: Mapping[str, Any], more: str = "", *, case: bool = False) -> list[str]:
    """Return the converted lines of a strategy's table.

    to: the path of the table in schema 3.
    values: the values of the table in schema 2.
    more: lines to insert after the head.
    case: whether the table becomes a case of a list.
    """
    at, strategy = block.head, block.path[2]
    old, new = DOT.join(block.path), DOT.join(to)
    head = block.lines[at].replace(old, new, 1)
    if case:
        head = head.replace("[", "[[", 1).replace("]", "]]", 1)
    table = schema2.records_of(strategy, values)
    out, pending, done = [*block.lines[:at], head, more], list[str](), set[str]()
    for line in block.lines[at + 1 :]:
        match = _KEY.match(line)
        if match is None:
            pending.append(line)
            continue
        name = NEW.get(strategy, {}).get(match[1], match[1])
        record = record_of(name)
        if not record:
            out += [*pending, _plain(line, match, name)]
        else:
            out += [*pending, *([f"{match[3]}\n"] if match[3] else [])]
            if record not in done:
                out.append(f"{record} = {_inline(table[record])}\n")
                done.add(record)
        pending = []
    return _comments_first(out) + pending


def _comments_first(lines: list[str]) -> list[str]:
    """Return the lines with the comments that follow the line of an inline table moved before that line."""
    out: list[str] = []
    for line in lines:
        table = len(out) and line.startswith("#") and re.match(r"\w+ = \{", out[-1])
        out.insert(len(out) - 1 if table else len(out), line)
    return out


def _plain(line: str, match: re.Match[str], name: str) -> str:
    """Return the line of a key that belongs to no stage, with its new name or, for a fallback, with its new value."""
    if name == FALLBACK:
        value = match[2].strip('"')
        return line.replace(f'"{value}"', f'"{schema2.behind(value)}"', 1)
    return line if name == match[1] else line.replace(match[1], name, 1)


def _inline(values: Mapping[str, Any]) -> str:
    return f"{{ {', '.join(f'{k} = {v}' for k, v in values.items())} }}"


def _case(block: _Block, run: Run, values: Mapping[str, Any]) -> list[str]:
    """Return the converted lines of a table that becomes a case of a list."""
    at = run.paths.index(block.path)
    more = f'name = "{block.path[3]}"\n' + (f"up_to = {run.tops[at]}\n" if at < len(run.tops) else "")
    return _strategy(block, run.to, values, more, case=True)


def _sum(block: _Block, sums: Mapping[str, Any]) -> list[str]:
    """Return the converted lines of the table of a variant of prefix sums, with all its comments.

    The table of the variant `schema2.FIRST` becomes the table with the rule.  The tables of other variants keep only
    values that differ from the rule.
    sums: a result of `schema2.sums`.
    """
    _, key, name = block.path
    first, differing = name == schema2.FIRST, sums.get(name, {})
    at = block.head
    head = block.lines[at].replace(f"{SCAN}.{key}.{name}", f"{SCAN}.{key}" if first else f"{SCAN}.{key}.{name}", 1)
    comment = re.search(r"#.*$", head)
    out = [*block.lines[:at]]
    if first:
        out += [head, f"columns = {json.dumps(sums['columns'])}\n"]
    elif differing:
        out.append(head)
    elif comment:
        out.append(f"{comment[0]}\n")
    for line in block.lines[at + 1 :]:
        match = _KEY.match(line)
        if match is None:
            out += [line] if first or differing or line.strip() else []
        elif (first and match[1] not in ("columns", "exclusive")) or match[1] in differing:
            out.append(line)
        elif match[3]:
            out.append(f"{match[3]}\n")
    return out


def _ranges(block: _Block, data: Mapping[str, Any], runs: list[Run]) -> list[str]:
    """Return the converted lines of a table ``[sort.KEY]``.

    Rows get the new names of tables.  A single row replaces the rows for all cases of a list of tables.
    """
    key = block.path[1]
    names = schema2.renamed(data, key)
    inner = {schema2.name_of(path): run for run in runs if run.key == key for path in run.paths}
    out = []
    for line in block.lines:
        match = _USE.search(line)
        run = inner.get(match[2]) if match else None
        if run is None:
            out.append(_renamed(line, names))
        elif match and match[2] == schema2.name_of(run.paths[-1]):
            out.append(line.replace(f'"{match[2]}"', f'"{run.use}"', 1))
        elif comment := re.search(r"#.*$", line):
            out.append(f"    {comment[0]}\n")
    return out


def _renamed(line: str, names: Mapping[str, str]) -> str:
    """Return a line of a table ``[sort.KEY]``, in which tables have their new names, `names`."""
    line = _USE.sub(lambda m: f'{m[1]}"{names.get(m[2], m[2])}"', line)
    return re.sub(r'^(\s*first\s*=\s*)"([^"]*)"', lambda m: f'{m[1]}"{names.get(m[2], m[2])}"', line)
