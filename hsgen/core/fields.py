"""A strict reader of TOML and JSON tables.  Unknown keys and wrong types are errors.

The reader collects all errors of a file, so that one message can report them together.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hsgen.core.errors import Usage, shown
from hsgen.core.records import DOT, record_of, records


@dataclass(frozen=True, slots=True)
class Field:
    """The valid type and range of the value at a key of a table.

    kind: the type of the value: "int", "bool", "str", "ints" (a list of integers) or "strs" (a list of strings).
    hint: a description of the valid values, for messages.
    least, greatest: the range of integers, inclusive.
    choices: the valid strings; empty if every string is valid.
    filled: whether an empty string or list is an error.
    """

    kind: str
    hint: str
    required: bool = True
    least: int = 0
    greatest: int = 2**63 - 1
    choices: tuple[str, ...] = ()
    filled: bool = False

    def problem(self, value: object) -> str | None:
        """Return a description of what is wrong with `value`, or None if the value is valid."""
        if not self._right_type(value):
            return f"{_shown(value)} is not {_KINDS[self.kind]}"
        if self.filled and not value:
            return "is empty"
        values: Iterable[object] = value if isinstance(value, list) else [value]
        for v in values:
            if isinstance(v, int) and not isinstance(v, bool) and not self.least <= v <= self.greatest:
                return f"{_shown(v)} is not between {self.least} and {self.greatest}"
            if self.choices and v not in self.choices:
                return f"{_shown(v)} is not one of {', '.join(self.choices)}"
        return None

    def _right_type(self, value: object) -> bool:
        if self.kind in ("ints", "strs"):
            inner = int if self.kind == "ints" else str
            return isinstance(value, list) and all(isinstance(v, inner) and not isinstance(v, bool) for v in value)
        if self.kind == "int":
            return isinstance(value, int) and not isinstance(value, bool)
        return isinstance(value, bool if self.kind == "bool" else str)


_KINDS = {
    "int": "a whole number",
    "bool": "true or false",
    "str": "a string",
    "ints": "a list of whole numbers",
    "strs": "a list of strings",
}


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f'"{shown(value)}"'
    return str(value).lower() if isinstance(value, bool) else shown(_number(value))


def _number(value: object) -> object:
    """Return the value as decimal text, or a description of it if an integer has too many digits.

    `str` raises ValueError for such integers.  The description then states the size of the integer in bits.
    """
    try:
        return str(value)
    except ValueError:
        return f"a number of {value.bit_length()} bits" if isinstance(value, int) else "a list with very long numbers"


LINES = 20
"""A message shows at most this many errors of one file."""


@dataclass(slots=True)
class Reader:
    """A reader of one file, which collects the errors.  Each is a line that begins with `where`, the file's name."""

    where: str
    errors: list[str] = field(default_factory=list)
    _meant: set[str] = field(default_factory=set)  # missing keys whose misspelt form was reported

    def error(self, key: str, problem: str, hint: str) -> None:
        """Record an error: `problem` is what is wrong with the value at `key`, and `hint` is the remedy."""
        self.errors.append(f"{self.where}: {shown(key)}: {problem}; {hint}")

    def misspelt(self, key: str) -> bool:
        """Whether a recorded error already reports a misspelt form of `key`."""
        return key in self._meant

    def check(self) -> None:
        """Raise the recorded errors, if there are any.

        Raises:
            Usage: the file has errors.  The message shows each distinct error once, and at most `LINES` lines.
        """
        errors = list(dict.fromkeys(self.errors))
        if len(errors) > LINES:
            errors[LINES - 1 :] = [f"{self.where}: and {len(errors) - LINES + 1} more; fix these first"]
        if errors:
            raise Usage(*errors)

    def table(self, parent: Mapping[str, Any], name: str, *, required: bool = True) -> dict[str, Any] | None:
        """Return the inner table `name` of the table `parent`, or None if there is no such table.

        A value that is not a table is recorded as an error.  So is a missing table, if `required` is true.
        """
        value = parent.get(name.split(".")[-1])
        if isinstance(value, dict):
            return value
        if value is not None or (required and not self.misspelt(name)):
            self.error(name, "missing" if value is None else "is not a table", f"write it as [{name}]")
        return None

    def fields(self, table: Mapping[str, Any], name: str, known: Mapping[str, Field]) -> dict[str, Any]:
        """Return the valid values of `table` by key; record an error for each invalid, missing or unknown key.

        A dotted key of `known`, such as ``bucket.items``, stands for the key ``items`` of an inner table ``bucket``.
        Inner tables are optional.
        """
        prefix = f"{name}." if name else ""
        table = self._opened(table, prefix, known)
        present = set(records(table))
        self.unknown(table, name, known)
        good: dict[str, Any] = {}
        for key, rule in known.items():
            if key not in table:
                needed = rule.required and (DOT not in key or record_of(key) in present)
                if needed and not self.misspelt(prefix + key):
                    self.error(prefix + key, "missing", f"give {rule.hint}")
            elif problem := rule.problem(table[key]):
                self.error(prefix + key, problem, f"give {rule.hint}")
            else:
                good[key] = table[key]
        return good

    def _opened(self, table: Mapping[str, Any], prefix: str, known: Iterable[str]) -> dict[str, Any]:
        """Return `table`, in which the dotted keys of `known` replace the inner tables that contain these keys.

        For example, the entry ``{"bucket": {"items": 4}}`` becomes ``{"bucket.items": 4}``.
        """
        inner = {record_of(key) for key in known} - {""}
        dotted: dict[str, Any] = {}
        for key, value in table.items():
            if key in inner and isinstance(value, dict) and value:
                dotted |= {f"{key}{DOT}{name}": x for name, x in value.items()}
            elif key in inner:
                problem = "is empty" if value == {} else f"{_shown(value)} is not a table"
                names = [x.removeprefix(key + DOT) for x in known if record_of(x) == key]
                self.error(prefix + key, problem, f"write {key} = {{ {', '.join(f'{x} = ...' for x in names)} }}")
            else:
                dotted[key] = value
        return dotted

    def unknown(self, table: Mapping[str, Any], name: str, known: Iterable[str]) -> None:
        """Record an error for each key of `table` that is not in `known`."""
        names = list(known)
        for key in table:
            if key not in names:
                close = difflib.get_close_matches(key, names, 1)
                hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(names)}"
                self.error(f"{name}.{key}" if name else key, "unknown key", hint)
                if close and close[0] not in table:
                    self._meant.add(f"{name}.{close[0]}" if name else close[0])


LONGEST_TEXT = 200  # characters
PLAIN_TEXT = f"give 1 to {LONGEST_TEXT} printable ASCII characters"


def presentable(text: str) -> bool:
    """Whether a text has 1 to `LONGEST_TEXT` characters, all printable ASCII, which every terminal can show."""
    return 0 < len(text) <= LONGEST_TEXT and text.isascii() and text.isprintable()


def plain(text: str) -> bool:
    """Whether a text can stand unchanged in C strings and comments.

    A plain text needs no escapes and does not end a comment.  It contains no name that begins with ``hs_`` or ``HS_``,
    because a bundle replaces these prefixes by its own.  The empty text is plain.
    """
    prefixed = re.search(r"(?<![A-Za-z0-9])(hs|HS)[_/.]", text)
    return (
        text.isascii()
        and (text.isprintable() or not text)
        and not set(text) & set('"\\')
        and not prefixed
        and "*/" not in text
    )
