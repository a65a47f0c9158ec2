"""Functions that visit the statements and words of a syntax tree, and functions that copy a tree with changes."""

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
"""A function that takes a list of words, and returns the list that replaces it."""
Each = Callable[[Statement], Statement]
"""A function that takes a statement, and returns the statement that replaces it."""


def groups(node: Statement | Tree) -> Iterator[list[Word]]:
    """Yield the outermost lists of words in a statement or tree: declarations, expressions, conditions, loop heads."""
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
    """Yield all words of a statement or tree, including the words within groups, array accesses and calls."""
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
    """Return a tree in which `each` has replaced every top-level statement."""
    return Tree([each(x) for x in tree.body], tree.end)


def inner(node: Statement, each: Each) -> Statement:
    """Return a copy of a statement in which `each` has replaced every statement directly within it."""
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
    """Return a copy of a statement in which `change` has replaced each list of words that `groups` yields.

    These are the outermost lists.  The function `changed` also replaces the lists within them.
    """
    copy = inner(node, lambda x: mapped(x, change))
    match copy:
        case Plain(words=words, end=end):
            return Plain(change(words), end)
        case If(condition=group) | Repeat(condition=group):
            return replace(copy, condition=within(group, change))
        case Loop(head=group):
            return replace(copy, head=within(group, change))
        case Function(head=words, body=block):
            return Function(change(words), block)
        case _:
            return copy


def within(group: Group, change: Change) -> Group:
    """Return a copy of a group in brackets, in which `change` has replaced the list of words."""
    return Group(group.open, change(group.words), group.close)


def changed(node: Statement, change: Change) -> Statement:
    """Return a copy of a statement in which `change` has replaced all lists of words, the innermost lists first.

    Groups in brackets, indices of array accesses, and arguments of calls are inner lists.
    """

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
    """Return the text of `listed` if it is a single token; else ""."""
    return listed[0].text if len(listed) == 1 and isinstance(listed[0], Token) else ""


def spaced(listed: list[Word], before: str) -> list[Word]:
    """Return the words `listed`, with the white space `before` in front of the first word."""
    if not listed:
        return listed
    match listed[0]:
        case Token(text=text):
            first: Word = Token(before, text)
        case Element(name=token, index=index):
            first = Element(Token(before, token.text), index)
        case Call(name=token, arguments=group):
            first = Call(Token(before, token.text), group)
        case Group(open=opening, words=inner, close=closing):
            first = Group(Token(before, opening.text), inner, closing)
    return [first, *listed[1:]]


def leading(word: Word) -> str:
    """Return the white space and the comments before a word."""
    if isinstance(word, Token):
        return word.before
    return word.open.before if isinstance(word, Group) else word.name.before


def element(buffer: str, index: list[Word], before: str = "") -> Element:
    """Return the array access ``buffer[index]``."""
    return Element(Token(before, buffer), Group(Token("", "["), spaced(index, ""), Token("", "]")))


def call(function: str, values: list[list[Word]], before: str = "") -> Call:
    """Return a call of `function`; `values` has the words of each argument."""
    listed: list[Word] = []
    for argument in values:
        if listed:
            listed.append(Token("", ","))
        listed += spaced(argument, " " if listed else "")
    return Call(Token(before, function), Group(Token("", "("), listed, Token("", ")")))
