"""The printer of syntax trees, which returns kernel text."""

from __future__ import annotations

from hsgen.tree.nodes import (
    Block,
    Call,
    Directive,
    Element,
    Function,
    Group,
    If,
    Loop,
    Node,
    Plain,
    Repeat,
    Shifted,
    Statement,
    Token,
    Tree,
    Word,
)


def text(node: Node) -> str:
    """Return the text of a node, including the white space and the comments before its first token."""
    out: list[str] = []
    if isinstance(node, Tree):
        _put_all(node.body, out)
        out.append(node.end)
    elif isinstance(node, (Token, Group, Element, Call)):
        _put_word(node, out)
    else:
        _put(node, out)
    return "".join(out)


def _put_word(word: Word, out: list[str]) -> None:
    if isinstance(word, Token):
        out += word
        return
    group = word
    if isinstance(word, Element):
        out += word.name
        group = word.index
    elif isinstance(word, Call):
        out += word.name
        group = word.arguments
    assert isinstance(group, Group)
    out += group.open
    for inner in group.words:
        _put_word(inner, out)
    out += group.close


def _put_all(body: list[Statement], out: list[str]) -> None:
    for statement in body:
        _put(statement, out)


def _put(node: Statement, out: list[str]) -> None:
    match node:
        case Plain(words=words, end=end):
            for word in words:
                _put_word(word, out)
            out += end or ()
        case Block(open=opening, body=body, close=closing):
            out += opening
            _put_all(body, out)
            out += closing
        case If(word=token, condition=condition, yes=yes, otherwise=otherwise, no=no):
            out += token
            _put_word(condition, out)
            _put(yes, out)
            out += otherwise or ()
            _put_all([no] if no else [], out)
        case Loop(unrolled=unrolled, word=token, head=head, body=statement):
            out += (*(unrolled or ()), *token)
            _put_word(head, out)
            _put(statement, out)
        case Repeat(word=token, body=statement, end=last, condition=condition, semicolon=semicolon):
            out += token
            _put(statement, out)
            out += last
            _put_word(condition, out)
            out += semicolon
        case Function(head=words, body=block):
            for word in words:
                _put_word(word, out)
            _put(block, out)
        case Directive(line=line):
            out += line
        case Shifted(statement=statement, margin=margin):
            out.append(_moved(text(statement), margin))


def _moved(text: str, margin: str) -> str:
    """Return a text with the white space `margin` before every non-empty line except the first."""
    first, *lines = text.split("\n")
    return "\n".join([first, *(margin + line if line else line for line in lines)])
