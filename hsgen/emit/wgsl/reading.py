"""C text to a tree without macros, with the line of each statement and the comments before it."""

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
    """A comment; trailing: it follows the statement before it on its line."""

    text: str
    trailing: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A text that was read: its tree, named constants, and lines and comments by the identity of a statement.

    ends: the comments before the closing brace of a block.
    """

    tree: Tree
    constants: dict[str, str]
    lines: dict[int, int]
    remarks: dict[int, list[Remark]]
    ends: dict[int, list[Remark]]


def parsed(text: str) -> Text:
    """Return a C text that was read.

    Raises:
        Unsupported: the text is not in the subset.
    """
    try:
        found, constants = expanded(text)
        tree = Reader(found).tree()
    except Unreadable as e:
        raise Unsupported(e.problem, e.line) from None
    made = Text(tree, constants, {}, {}, {})
    line = 1
    for statement in tree.body:
        line = _number(made, statement, line)
    return made


def remarks(before: str) -> list[Remark]:
    """Return the comments in the white space before a token."""
    out: list[Remark] = []
    for at, line in enumerate(before.split("\n")):
        _, slashes, comment = line.partition("//")
        if slashes:
            out.append(Remark(comment.strip(), at == 0 and "\n" in before))
    return out


def _number(made: Text, statement: Statement, line: int) -> int:
    """Note the lines and the comments of a statement and of those in it; return the line of its end."""
    tokens = _own(statement)
    first = next(tokens, None)
    own: list[Remark] = []
    if isinstance(first, Token):
        line += first.before.count("\n")
        own = remarks(first.before)
    made.lines[id(statement)] = line
    for item in tokens:
        if isinstance(item, Token):
            line += item.before.count("\n")
            if not isinstance(statement, Block):
                own += [Remark(x.text, False) for x in remarks(item.before)]
            elif item is statement.close:
                made.ends[id(statement)] = remarks(item.before)
        else:
            line = _number(made, item, line)
    made.remarks[id(statement)] = own
    return line


def _own(statement: Statement) -> Iterator[Token | Statement]:
    """The tokens of a statement itself, and the statements in it, in their order."""
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
