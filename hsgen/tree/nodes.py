"""The syntax tree of kernel text, which is a subset of C.

A tree has *statements*, which consist of *words*.  A word is a token, an array access, a call, or a group of words in
brackets.  An expression is a flat list of words, in which operators are plain tokens.  The list has no structure by the
precedence of operators, because only `hsgen.emit.wgsl` needs that.  A tree is lossless: each token includes the white
space and the comments before it, so an unchanged tree prints the original text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Unreadable(Exception):
    """The error that the parser or a pass raises if it does not accept a kernel text.

    line: the number of the line, from 1; 0 if unknown.
    """

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.problem, self.line = problem, line


class Token(NamedTuple):
    """A token of C: a name, a number, an operator or a bracket.

    before: the white space and the comments between the preceding token and this token.
    """

    before: str
    text: str


@dataclass(slots=True)
class Group:
    """A list of words between two brackets, such as parentheses."""

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
    """A simple statement: a declaration, an expression, a jump or a macro call.

    end: the semicolon; None for a macro call without a semicolon.
    """

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
    """An ``if`` statement.

    word: the token ``if``.
    yes, no: the statements for a true and for a false condition; `no` may be None.
    otherwise: the token ``else``, or None.
    """

    word: Token
    condition: Group
    yes: Statement
    otherwise: Token | None = None
    no: Statement | None = None


@dataclass(slots=True)
class Loop:
    """A ``for`` or ``while`` loop.

    unrolled: the macro ``HS_UNROLL`` before the loop, which tells compilers to unroll the loop; None without it.
    word: the token ``for`` or ``while``.
    head: the condition, or the three parts of a ``for`` loop, in parentheses.
    """

    unrolled: Token | None
    word: Token
    head: Group
    body: Statement


@dataclass(slots=True)
class Repeat:
    """A ``do`` ... ``while`` loop; the tokens `word` and `end` are ``do`` and ``while``."""

    word: Token
    body: Statement
    end: Token
    condition: Group
    semicolon: Token


@dataclass(slots=True)
class Function:
    """The definition of a function.

    head: the words before the body: attributes, the result type, and a `Call` that has the name and the parameters.
    """

    head: list[Word]
    body: Block


@dataclass(slots=True)
class Directive:
    """A preprocessor directive, with its continuation lines, as a single token."""

    line: Token


@dataclass(slots=True)
class Shifted:
    """A statement that a pass has moved into a block: the printer indents its lines by the white space `margin`."""

    statement: Statement
    margin: str


@dataclass(slots=True)
class Tree:
    """The statements of a text.

    end: the white space and the comments after the last statement.
    """

    body: list[Statement]
    end: str


Word: TypeAlias = Token | Group | Element | Call
Statement: TypeAlias = Plain | Block | If | Loop | Repeat | Function | Directive | Shifted
Node: TypeAlias = Word | Statement | Tree
