"""Functions that split a prelude into definitions, and replace or omit some of them.

A prelude is the text before the kernels of a sort, in which a dialect defines the words of the contract.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from hsgen.tree.nodes import Call, Directive, Function, Plain, Statement, Token
from hsgen.tree.printing import text as printed
from hsgen.tree.reading import read
from hsgen.tree.walking import arguments, leading, spaced

_MACRO = re.compile(r"#define (\w+)(\([^)]*\))?")
_OPENS, _ENDS = re.compile(r"#if"), re.compile(r"#endif")


@dataclass(frozen=True, slots=True)
class Definition:
    """Whole lines of a prelude, and the names that these lines define.

    names: the names; () for lines that define none, such as comments and some directives.
    parameters: the parameters of a macro or a function; None for any other name.
    parts: for an `#if` block, which is a single definition of all its names, the definitions and directives in it.
    """

    text: str
    names: tuple[str, ...] = ()
    parameters: tuple[str, ...] | None = None
    parts: tuple[Definition, ...] = ()

    @property
    def branches(self) -> tuple[Definition, ...]:
        """The definitions in an `#if` block, without the directives."""
        return tuple(d for d in self.parts if d.names)


def split(text: str) -> list[Definition]:
    """Return the definitions of a text in order.  The texts of all definitions, joined, are the whole text."""
    tree = read(text)
    listed: list[tuple[str, Statement | None]] = []
    before = _leading(tree.body[0]) if tree.body else tree.end
    for at, statement in enumerate(tree.body):
        lines, newline, margin = before.rpartition("\n")
        listed += [(lines + newline, None)] if newline else []
        following = _leading(tree.body[at + 1]) if at + 1 < len(tree.body) else tree.end
        rest, newline, before = following.partition("\n")
        listed.append((margin + _code(statement) + rest + newline, statement))
    return [*_definitions(listed, 0)[0], *([Definition(before)] if before else [])]


def _leading(statement: Statement) -> str:
    """Return the white space and the comments before a statement."""
    match statement:
        case Directive(line=token):
            return token.before
        case Plain(words=[first, *_]) | Function(head=[first, *_]):
            return leading(first)
        case Plain(end=Token(before=before)):
            return before
    raise AssertionError(statement)


def _code(statement: Statement) -> str:
    """Return the text of a statement without the white space and the comments before it."""
    match statement:
        case Directive(line=token):
            return token.text
        case Plain(words=[], end=Token(text=end)):
            return end
        case Plain(words=words, end=end):
            return printed(Plain(spaced(words, ""), end))
        case Function(head=head, body=body):
            return printed(Function(spaced(head, ""), body))
    raise AssertionError(statement)


def _definitions(listed: Sequence[tuple[str, Statement | None]], at: int) -> tuple[list[Definition], int]:
    """Return the definitions from index `at` to the end of the `#if` block or of the text, and the index after the end.

    listed: the lines of each statement, with the statement; None for lines of comments and white space.
    """
    out: list[Definition] = []
    while at < len(listed):
        text, statement = listed[at]
        line = statement.line.text if isinstance(statement, Directive) else ""
        at += 1
        if _OPENS.match(line):
            inner, at = _definitions(listed, at)
            parts = (Definition(text), *inner)
            names = dict.fromkeys(name for d in inner for name in d.names)
            out.append(Definition("".join(d.text for d in parts), tuple(names), None, parts))
        else:
            out.append(Definition(text, *_names(statement)) if statement else Definition(text))
            if _ENDS.match(line):
                break
    return out, at


def _names(statement: Statement) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Return the names that a statement defines, and the parameters of a macro or a function; None for other names."""
    match statement:
        case Directive(line=Token(text=line)) if define := _MACRO.match(line):
            parameters = tuple(x.strip() for x in define[2].strip("()").split(",") if x.strip()) if define[2] else None
            return (define[1],), parameters
        case Function(head=[*_, Call() as call]):
            listed = [x[-1].text for x in arguments(call) if x and isinstance(x[-1], Token)]
            return (call.name.text,), tuple(listed)
        case Plain(words=[Token(text="typedef"), *_, Token(text=name)]):
            return (name,), None
        case Plain(words=[Token(text="struct"), Token(text=name), *_]):
            return (name,), None
        case Plain(words=[Token(text="const"), Token(), *rest]) | Plain(words=[Token(), *rest]) if rest:
            words = [w.text if isinstance(w, Token) else "" for w in rest]
            if all((word == ",") == bool(at % 2) and word for at, word in enumerate(words)):
                return tuple(words[::2]), None
    return (), None


def overridden(base: str, changes: str, helpers: Collection[str], added: Collection[str]) -> str:
    """Return the prelude `base` after the definitions in `changes` have replaced those of the same words.

    If `base` lacks a word, its definition in `changes` is omitted, because `base` defines the words that the sort
    needs.  Only definitions of words in `added`, which no base defines, are appended.  Helpers and
    comments belong to the definition that follows them.
    """
    definitions = split(base)
    have = {name for d in definitions for name in d.names}
    instead: dict[str, str] = {}
    last = ""
    for text, names in _whole(changes, helpers):
        known = [name for name in names if name in have]
        for name in known:
            instead[name] = instead.get(name, "") + text
        if not known and names and names[0] in added:
            last += text
    return "".join(_replaced(definitions, instead)) + last


def omitting(text: str, words: Collection[str], helpers: Collection[str]) -> str:
    """Return a text without the definitions of `words`, and without the helpers and comments before each of them."""
    return "".join(part for part, names in _whole(text, helpers) if not names or not set(names) <= set(words))


def _whole(text: str, helpers: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (text, names) for each definition of a word; the text includes the helpers and comments before it.

    The last pair has the rest of the text, and no names.
    """
    pending = ""
    for d in split(text):
        pending += d.text
        if d.names and d.names[0] not in helpers:
            yield pending, d.names
            pending = ""
    yield pending, ()


def _replaced(base: list[Definition], instead: dict[str, str]) -> Iterator[str]:
    """Yield the texts of the definitions `base`; for words in `instead`, yield the new texts.

    A replacement takes the place of the first definition that it replaces.
    instead: the new text of each word to replace.
    """
    written: set[str] = set()
    for d in base:
        names = {name for name in d.names if name in instead}
        yield from dict.fromkeys(instead[name] for name in d.names if name in names - written)
        written |= names
        yield _without(d, names)


def _without(d: Definition, names: set[str]) -> str:
    """Return the text of a definition without the names `names`; "" if it defines no other name.

    From an `#if` block, only the parts that define these names are removed.
    """
    if not names:
        return d.text
    if names >= set(d.names):
        return ""
    return "".join(_without(part, names & set(part.names)) for part in d.parts)
