"""Target files of schema 2 rewritten line by line, with their comments.

A variant of a radix sort moves before its strategy, the keys of a stage become one inline table, and tables that serve
consecutive ranges of counts become the cases of one list.  Evidence about the choices of the file gets their new hash.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hsgen.algorithms import ALGORITHMS
from hsgen.algorithms.radix import FALLBACK
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
    """Return the text in the newest schema; None if it has that schema.

    Raises:
        Usage: the file is wrong, or written in a way that cannot be rewritten.
    """
    data = documents.toml(text, where, "the file must be TOML")
    if data.get("schema") == schema.SCHEMA:
        return None
    if data.get("schema") != schema.SCHEMA - 1 or isinstance(data.get("schema"), bool):
        target.parse(text, stem, where)  # which says what is wrong
    wrong = f"{where}: cannot be rewritten as it is written; {_HINT}"
    try:
        wanted = schema2.converted(data, schema.SCHEMA)
        out = _rewritten(text, data)
        if tomllib.loads(out) != wanted:
            raise Usage(wrong)
        out = out.replace(f'"{shapes(data)}"', f'"{shapes(wanted)}"')
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):  # tables or lists of another type
        raise Usage(wrong) from None
    if any(name in data for name in ALGORITHMS):  # facts alone, as `hsgen suggest` takes them, are no target
        target.parse(out, stem, where)
    return out


@dataclass(slots=True)
class _Block:
    """The lines of a table: comments above its head, and everything up to the next table's."""

    path: Path
    lines: list[str] = field(default_factory=list)

    @property
    def head(self) -> int:
        """The number of the line with the head."""
        return next(i for i, line in enumerate(self.lines) if _ANY_HEAD.match(line))


def _rewritten(text: str, data: Mapping[str, Any]) -> str:
    """The text with each table rewritten."""
    runs, known = schema2.runs(data), dict(schema2.tables(data))
    listed = {path: run for run in runs for path in run.paths}
    blocks = _blocks(text)
    out, done = "", set[Path]()
    for block in blocks:
        run = listed.get(block.path)
        if run is None:
            out += "".join(_written(block, data, known, runs))
        elif run.to not in done:
            done.add(run.to)
            cases = {b.path: b for b in blocks if b.path in run.paths}
            out += "".join("".join(_case(cases[path], run, known[path])) for path in run.paths)
    return re.sub(r"(?m)^(\s*schema\s*=\s*)2\b", rf"\g<1>{schema.SCHEMA}", out, count=1)


def _blocks(text: str) -> list[_Block]:
    """The lines before the first table, and those of each table from the comments right above its head on."""
    found = [_Block(())]
    for line in text.splitlines(True):
        if _ANY_HEAD.match(line):
            above: list[str] = []
            while found[-1].lines and found[-1].lines[-1].startswith("#"):
                above.insert(0, found[-1].lines.pop())
            head = _HEAD.match(line)
            found.append(_Block(tuple(head[1].split(DOT)) if head else ("?",), above))
        found[-1].lines.append(line)
    return found


def _written(block: _Block, data: Mapping[str, Any], known: Mapping[Path, Any], runs: list[Run]) -> list[str]:
    """The lines of a table that becomes a table."""
    if block.path in known:
        return _strategy(block, schema2.moved(block.path), known[block.path])
    if len(block.path) == 2 and block.path[0] == SORT:
        return _ranges(block, data, runs)
    return block.lines


def _strategy(block: _Block, to: Path, values: Mapping[str, Any], more: str = "", *, case: bool = False) -> list[str]:
    """The lines of a strategy's table in its new place; `more` are its first lines."""
    at, strategy = block.head, block.path[2]
    old, new = DOT.join(block.path), DOT.join(to)
    head = block.lines[at].replace(old, new, 1)
    if case:
        head = head.replace("[", "[[", 1).replace("]", "]]", 1)
    wanted = schema2.records_of(strategy, values)
    out, pending, done = [*block.lines[:at], head, more], list[str](), set[str]()
    for line in block.lines[at + 1 :]:
        found = _KEY.match(line)
        if found is None:
            pending.append(line)
            continue
        name = NEW.get(strategy, {}).get(found[1], found[1])
        record = record_of(name)
        if not record:
            out += [*pending, _plain(line, found, name)]
        else:
            out += [*pending, *([f"{found[3]}\n"] if found[3] else [])]
            if record not in done:
                out.append(f"{record} = {_inline(wanted[record])}\n")
                done.add(record)
        pending = []
    return _comments_first(out) + pending


def _comments_first(lines: list[str]) -> list[str]:
    """The lines with comments that stood between the keys of a stage above its inline table."""
    out: list[str] = []
    for line in lines:
        table = len(out) and line.startswith("#") and re.match(r"\w+ = \{", out[-1])
        out.insert(len(out) - 1 if table else len(out), line)
    return out


def _plain(line: str, found: re.Match[str], name: str) -> str:
    """A line of a key that stays a line."""
    if name == FALLBACK:
        value = found[2].strip('"')
        return line.replace(f'"{value}"', f'"{schema2.behind(value)}"', 1)
    return line if name == found[1] else line.replace(found[1], name, 1)


def _inline(values: Mapping[str, Any]) -> str:
    return f"{{ {', '.join(f'{k} = {v}' for k, v in values.items())} }}"


def _case(block: _Block, run: Run, values: Mapping[str, Any]) -> list[str]:
    """The lines of a table that becomes the case of a list."""
    at = run.paths.index(block.path)
    more = f'name = "{block.path[3]}"\n' + (f"up_to = {run.tops[at]}\n" if at < len(run.tops) else "")
    return _strategy(block, run.to, values, more, case=True)


def _ranges(block: _Block, data: Mapping[str, Any], runs: list[Run]) -> list[str]:
    """The lines of a sort for any count: rows with new names, and one row for the cases of a list."""
    key = block.path[1]
    names = schema2.renamed(data, key)
    inner = {schema2.name_of(path): run for run in runs if run.key == key for path in run.paths}
    out = []
    for line in block.lines:
        found = _USE.search(line)
        run = inner.get(found[2]) if found else None
        if run is None:
            out.append(_renamed(line, names))
        elif found and found[2] == schema2.name_of(run.paths[-1]):
            out.append(line.replace(f'"{found[2]}"', f'"{run.use}"', 1))
        elif comment := re.search(r"#.*$", line):
            out.append(f"    {comment[0]}\n")
    return out


def _renamed(line: str, names: Mapping[str, str]) -> str:
    """A line of a sort for any count with the new names of tables."""
    line = _USE.sub(lambda m: f'{m[1]}"{names.get(m[2], m[2])}"', line)
    return re.sub(r'^(\s*first\s*=\s*)"([^"]*)"', lambda m: f'{m[1]}"{names.get(m[2], m[2])}"', line)
