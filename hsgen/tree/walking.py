"""Walks through a tree, and copies of it with other words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

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
    Word,
)

Change = Callable[[list[Word]], list[Word]]
"""Returns the words that stand instead of those of a group or a statement."""
Each = Callable[[Statement], Statement]
"""Returns the statement that stands instead of another."""


def groups(node: Statement | Tree) -> Iterator[list[Word]]:
    """Yield the lists of words of statements: those of declarations and expressions, conditions, and heads of loops."""
    match node:
        case Plain(words=words):
            yield words
        case Block(body=body) | Tree(body=body):
            for inner in body:
                yield from groups(inner)
        case If(condition=condition, yes=yes, no=no):
            yield condition.words
            yield from groups(yes)
            if no is not None:
                yield from groups(no)
        case Loop(head=head, body=statement):
            yield head.words
            yield from groups(statement)
        case Repeat(body=statement, condition=condition):
            yield condition.words
            yield from groups(statement)
        case Function(head=words, body=block):
            yield words
            yield from groups(block)
        case Shifted(statement=statement):
            yield from groups(statement)


def words(node: Statement | Tree) -> Iterator[Word]:
    """Yield all words of statements, those within groups, accesses and calls as well."""
    for listed in groups(node):
        yield from _within(listed)


def _within(listed: list[Word]) -> Iterator[Word]:
    for word in listed:
        yield word
        if isinstance(word, Element):
            yield from _within(word.index.words)
        elif isinstance(word, Call):
            yield from _within(word.arguments.words)
        elif isinstance(word, Group):
            yield from _within(word.words)


def statements(tree: Tree, each: Each) -> Tree:
    """Return a tree with what `each` returns for each of its statements."""
    return Tree([each(x) for x in tree.body], tree.end)


def inner(node: Statement, each: Each) -> Statement:
    """Return a statement with what `each` returns for the statements directly in it; its words stay."""
    match node:
        case Block(open=opening, body=body, close=closing):
            return Block(opening, [each(x) for x in body], closing)
        case If(word=word, condition=condition, yes=yes, otherwise=otherwise, no=no):
            return If(word, condition, each(yes), otherwise, None if no is None else each(no))
        case Loop(unrolled=unrolled, word=word, head=head, body=body):
            return Loop(unrolled, word, head, each(body))
        case Repeat(word=word, body=body, end=end, condition=condition, semicolon=semicolon):
            return Repeat(word, each(body), end, condition, semicolon)
        case Function(head=head, body=body):
            block = each(body)
            assert isinstance(block, Block)
            return Function(head, block)
        case Shifted(statement=statement, margin=margin):
            return Shifted(each(statement), margin)
        case Plain() | Directive():
            return node


def mapped(node: Statement, change: Change) -> Statement:
    """Return a statement with other words: `change` gets those of each declaration, expression, condition and head."""
    made = inner(node, lambda x: mapped(x, change))
    match made:
        case Plain(words=words, end=end):
            return Plain(change(words), end)
        case If(condition=group) | Repeat(condition=group):
            return replace(made, condition=within(group, change))
        case Loop(head=group):
            return replace(made, head=within(group, change))
        case Function(head=words, body=block):
            return Function(change(words), block)
        case _:
            return made


def within(group: Group, change: Change) -> Group:
    """Return a group with other words."""
    return Group(group.open, change(group.words), group.close)


def changed(node: Statement, change: Change) -> Statement:
    """Return a statement in which `change` has replaced the words of each group, the inner ones first."""

    def deep(listed: list[Word]) -> list[Word]:
        out: list[Word] = []
        for word in listed:
            if isinstance(word, Token):
                out.append(word)
            elif isinstance(word, Element):
                out.append(Element(word.name, within(word.index, deep)))
            elif isinstance(word, Call):
                out.append(Call(word.name, within(word.arguments, deep)))
            else:
                out.append(within(word, deep))
        return change(out)

    return mapped(node, deep)


def arguments(call: Call) -> list[list[Word]]:
    """Return the words of each argument of a call."""
    out: list[list[Word]] = [[]]
    for word in call.arguments.words:
        if isinstance(word, Token) and word.text == ",":
            out.append([])
        else:
            out[-1].append(word)
    return out


def name(listed: list[Word]) -> str:
    """Return the text of the only token among words; "" for other words."""
    return listed[0].text if len(listed) == 1 and isinstance(listed[0], Token) else ""


def spaced(listed: list[Word], before: str) -> list[Word]:
    """Return words with this white space before the first of them."""
    if not listed:
        return listed
    match listed[0]:
        case Token(text=text):
            first: Word = Token(before, text)
        case Element(name=own, index=index):
            first = Element(Token(before, own.text), index)
        case Call(name=own, arguments=given):
            first = Call(Token(before, own.text), given)
        case Group(open=opening, words=inner, close=closing):
            first = Group(Token(before, opening.text), inner, closing)
    return [first, *listed[1:]]


def leading(word: Word) -> str:
    """Return the white space and the comments before a word."""
    if isinstance(word, Token):
        return word.before
    return word.open.before if isinstance(word, Group) else word.name.before


def element(buffer: str, index: list[Word], before: str = "") -> Element:
    """Return an access to an element of an array."""
    return Element(Token(before, buffer), Group(Token("", "["), spaced(index, ""), Token("", "]")))


def call(function: str, given: list[list[Word]], before: str = "") -> Call:
    """Return a call of a function."""
    listed: list[Word] = []
    for argument in given:
        if listed:
            listed.append(Token("", ","))
        listed += spaced(argument, " " if listed else "")
    return Call(Token(before, function), Group(Token("", "("), listed, Token("", ")")))
