"""The first stage of the translation: it expands the macros of a C text, parses the text, and records its comments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hsgen.emit.wgsl.tree import Unsupported
from hsgen.tree.macros import expanded
from hsgen.tree.nodes import (
    Block,
    Call,
    Directive,
    Element,
    Function,
    Group,
    If,
    Loop,
    Plain,
    Repeat,
    Shifted,
    Statement,
    Token,
    Tree,
    Unreadable,
    Word,
)
from hsgen.tree.reading import Reader


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment.

    trailing: whether the comment follows a statement on the same line.
    """

    text: str
    trailing: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A parsed text.

    tree: the syntax tree, without macros.
    constants: the text of the number of each named constant, by name.
    The keys of the other dictionaries are `id(statement)`.
    lines: the number of the line at which each statement begins.
    remarks: the comments before and within each statement.
    ends: the comments before the closing brace of each block.
    """

    tree: Tree
    constants: dict[str, str]
    lines: dict[int, int]
    remarks: dict[int, list[Remark]]
    ends: dict[int, list[Remark]]


def parsed(text: str) -> Text:
    """Return the parsed text.

    Raises:
        Unsupported: the text uses C beyond the subset.
    """
    try:
        listed, constants = expanded(text)
        tree = Reader(listed).tree()
    except Unreadable as e:
        raise Unsupported(e.problem, e.line) from None
    source = Text(tree, constants, {}, {}, {})
    line = 1
    for statement in tree.body:
        line = _number(source, statement, line)
    return source


def remarks(before: str) -> list[Remark]:
    """Return the comments in `before`, the text between two tokens."""
    out: list[Remark] = []
    for at, line in enumerate(before.split("\n")):
        _, slashes, comment = line.partition("//")
        if slashes:
            out.append(Remark(comment.strip(), at == 0 and "\n" in before))
    return out


def _number(source: Text, statement: Statement, line: int) -> int:
    """Record in `source` the lines and comments of a statement and of its inner statements.

    line: the number of the line at which the preceding statement ends.
    Return the number of the line at which the statement ends.
    """
    tokens = _parts(statement)
    first = next(tokens, None)
    comments: list[Remark] = []
    if isinstance(first, Token):
        line += first.before.count("\n")
        comments = remarks(first.before)
    source.lines[id(statement)] = line
    for item in tokens:
        if isinstance(item, Token):
            line += item.before.count("\n")
            if not isinstance(statement, Block):
                comments += [Remark(x.text, False) for x in remarks(item.before)]
            elif item is statement.close:
                source.ends[id(statement)] = remarks(item.before)
        else:
            line = _number(source, item, line)
    source.remarks[id(statement)] = comments
    return line


def _parts(statement: Statement) -> Iterator[Token | Statement]:
    """Yield the tokens and the inner statements of a statement, in order."""
    match statement:
        case Plain(words=words, end=end):
            yield from _tokens(words)
            yield from [end] if end else []
        case Block(open=opening, body=body, close=closing):
            yield opening
            yield from body
            yield closing
        case If(word=word, condition=condition, yes=yes, otherwise=otherwise, no=no):
            yield from (word, *_tokens([condition]))
            yield yes
            if otherwise and no:
                yield otherwise
                yield no
        case Loop(unrolled=unrolled, word=word, head=head, body=inner):
            yield from [unrolled] if unrolled else []
            yield from (word, *_tokens([head]))
            yield inner
        case Repeat(word=word, body=inner, end=end, condition=condition, semicolon=semicolon):
            yield word
            yield inner
            yield from (end, *_tokens([condition]), semicolon)
        case Function(head=words, body=block):
            yield from _tokens(words)
            yield block
        case Directive(line=token):
            yield token
        case Shifted(statement=inner):
            yield inner


def _tokens(words: list[Word]) -> Iterator[Token]:
    for word in words:
        match word:
            case Token():
                yield word
            case Element(name=name, index=group) | Call(name=name, arguments=group):
                yield from (name, *_tokens([group]))
            case Group(open=opening, words=inner, close=closing):
                yield from (opening, *_tokens(inner), closing)
