"""Preludes as lists of definitions: the words that a text defines, and the text with some of them overridden."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_MACRO = re.compile(r"#define (\w+)(\([^)]*\))?")
_STRUCT = re.compile(r"struct (\w+)\b")
_FUNCTION = re.compile(r"[A-Za-z_][\w ]*?[ *]+(\w+)\(([^()]*)\)\s*(?:\{.*)?$")
_VARIABLES = re.compile(r"(?:const )?\w+ (\w+(?:, \w+)*);")
_OPENS, _ENDS = re.compile(r"#if"), re.compile(r"#endif")


@dataclass(frozen=True, slots=True)
class Definition:
    """Consecutive lines of a text, and the words that they define; a comment or a pragma defines no words.

    parameters: of a macro or a function; None for other words.  branches: the definitions in a conditional block, which
    is one definition of all its words.
    """

    text: str
    names: tuple[str, ...] = ()
    parameters: tuple[str, ...] | None = None
    branches: tuple[Definition, ...] = ()


def split(text: str) -> list[Definition]:
    """Return the definitions of a text in order; their texts concatenate to it."""
    return list(_split(text.splitlines(keepends=True)))


def _split(lines: list[str]) -> Iterator[Definition]:
    at = 0
    while at < len(lines):
        end = _end(lines, at)
        own = "".join(lines[at:end])
        if _OPENS.match(lines[at]):
            inside = tuple(d for d in _split(lines[at + 1 : end - 1]) if d.names)
            names = dict.fromkeys(name for d in inside for name in d.names)
            yield Definition(own, tuple(names), None, inside)
        else:
            yield _definition(own)
        at = end


def _end(lines: list[str], at: int) -> int:
    """The line after the definition that starts at `at`: after the end of a block, or the last brace of a function."""
    end, depth = at + 1, 0
    if _OPENS.match(lines[at]):
        depth = 1
        while depth and end < len(lines):
            depth += bool(_OPENS.match(lines[end])) - bool(_ENDS.match(lines[end]))
            end += 1
        return end
    if lines[at].startswith("#"):
        while lines[end - 1].endswith("\\\n") and end < len(lines):
            end += 1
        return end
    if lines[at].startswith("//") or not _FUNCTION.match(lines[at].rstrip()):
        return end
    while end < len(lines) and (depth := _depth(lines[at:end])) >= 0 and (depth or "{" not in "".join(lines[at:end])):
        end += 1
    return end


def _depth(lines: list[str]) -> int:
    text = re.sub(r"//[^\n]*", "", "".join(lines))
    return text.count("{") - text.count("}")


def _definition(text: str) -> Definition:
    first = text.splitlines()[0]
    if found := _MACRO.match(first):
        return Definition(text, (found[1],), _parameters(found[2]) if found[2] else None)
    if first.startswith("typedef"):
        return Definition(text, (re.findall(r"(\w+);", text)[-1],))
    if found := _STRUCT.match(first):
        return Definition(text, (found[1],))
    if found := _VARIABLES.match(first):
        return Definition(text, tuple(found[1].split(", ")))
    if not text.startswith(("#", "//")) and (found := _FUNCTION.match(first)):
        return Definition(text, (found[1],), _parameters(f"({found[2]})"))
    return Definition(text)


def _parameters(listed: str) -> tuple[str, ...]:
    return tuple(re.findall(r"(\w+)\s*$", x)[0] for x in listed.strip("()").split(",") if x.strip())


def overridden(base: str, own: str, helpers: Collection[str], added: Collection[str]) -> str:
    """Return the text `base` with definitions replaced by those of the same words in `own`.

    Definitions of words that the base lacks are omitted, since it defines words only in sorts that need them; words in
    `added`, which it never defines, are appended.  Helpers and comments belong to the word that follows them.
    """
    have = {name for d in split(base) for name in d.names}
    instead: dict[str, str] = {}
    last = ""
    for text, names in _whole(own, helpers):
        known = [name for name in names if name in have]
        for name in known:
            instead[name] = instead.get(name, "") + text
        if not known and names and names[0] in added:
            last += text
    return "".join(_replaced(split(base), instead)) + last


def omitting(text: str, words: Collection[str], helpers: Collection[str]) -> str:
    """Return a text without the definitions of `words`, and without the helpers and comments that belong to them."""
    return "".join(own for own, names in _whole(text, helpers) if not names or not set(names) <= set(words))


def _whole(text: str, helpers: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each definition of words after its helpers and comments, with its words; at last those of no word."""
    pending = ""
    for d in split(text):
        pending += d.text
        if d.names and d.names[0] not in helpers:
            yield pending, d.names
            pending = ""
    yield pending, ()


def _replaced(base: list[Definition], instead: dict[str, str]) -> Iterator[str]:
    """The texts of definitions; each replacement is at the first definition that it replaces."""
    written: set[str] = set()
    for d in base:
        names = {name for name in d.names if name in instead}
        yield from dict.fromkeys(instead[name] for name in d.names if name in names - written)
        written |= names
        yield _without(d, names)


def _without(d: Definition, names: set[str]) -> str:
    """The text of a definition without some of its words; empty if it defines no others."""
    if not names:
        return d.text
    if names >= set(d.names):
        return ""
    text = d.text
    for inside in d.branches:
        text = text.replace(inside.text, _without(inside, names & set(inside.names)))
    return text
