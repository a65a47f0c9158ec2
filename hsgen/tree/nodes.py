"""The syntax tree of kernel text.  Nodes are statements, array accesses, calls, and groups in brackets.

A tree is lossless.  Each token includes the white space and the comments before it, so an unchanged tree prints the
original text.  An expression is a flat list of words, and operators are plain tokens in it.  Only `hsgen.emit.wgsl`
needs the precedence of operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Unreadable(Exception):
    """The error for text that is not valid kernel text.  line: the line, counted from 1, or 0 if unknown."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.problem, self.line = problem, line


class Token(NamedTuple):
    """A token.  before: the white space and the comments between the preceding token and this one."""

    before: str
    text: str


@dataclass(slots=True)
class Group:
    """A list of words in brackets.  A word is a token, a group, an array access or a call."""

    open: Token
    words: list[Word]
    close: Token


@dataclass(slots=True)
class Element:
    """An array access ``name[index]``."""

    name: Token
    index: Group


@dataclass(slots=True)
class Call:
    """A call ``name(arguments)`` of a function, a macro or a conversion."""

    name: Token
    arguments: Group


@dataclass(slots=True)
class Plain:
    """A simple statement: a declaration, an expression, a jump or a macro call.  end: its semicolon, or None."""

    words: list[Word]
    end: Token | None


@dataclass(slots=True)
class Block:
    """Statements in braces."""

    open: Token
    body: list[Statement]
    close: Token


@dataclass(slots=True)
class If:
    """A branch.  otherwise: the token ``else``, or None."""

    word: Token
    condition: Group
    yes: Statement
    otherwise: Token | None = None
    no: Statement | None = None


@dataclass(slots=True)
class Loop:
    """A ``for`` or ``while`` loop.  unrolled: the token before the loop that makes compilers unroll it, or None."""

    unrolled: Token | None
    word: Token
    head: Group
    body: Statement


@dataclass(slots=True)
class Repeat:
    """A ``do`` ... ``while`` loop."""

    word: Token
    body: Statement
    end: Token
    condition: Group
    semicolon: Token


@dataclass(slots=True)
class Function:
    """The definition of a function.  head: the words before its body."""

    head: list[Word]
    body: Block


@dataclass(slots=True)
class Directive:
    """A preprocessor directive, with its continuation lines."""

    line: Token


@dataclass(slots=True)
class Shifted:
    """A statement that starts a line; the white space `margin` indents each line of its text further."""

    statement: Statement
    margin: str


@dataclass(slots=True)
class Tree:
    """The statements of a text.  end: the white space and the comments after the last statement."""

    body: list[Statement]
    end: str


Word: TypeAlias = Token | Group | Element | Call
Statement: TypeAlias = Plain | Block | If | Loop | Repeat | Function | Directive | Shifted
Node: TypeAlias = Word | Statement | Tree
