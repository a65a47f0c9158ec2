"""The tree of kernel text: statements, accesses, calls and groups in brackets.

A tree is lossless: each token has the white space and the comments before it, and a tree that no pass changes prints
the text that it was read from.  Operators are tokens of their expression; only `hsgen.emit.wgsl` needs their levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Unreadable(Exception):
    """Text that is not in the language of kernels; `line`: the line, from 1; 0 if unknown."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line = what, line


class Token(NamedTuple):
    """A token; `before`: the white space and the comments between it and the token before it."""

    before: str
    text: str


@dataclass(slots=True)
class Group:
    """Items in brackets; `words` are tokens, groups, accesses and calls in their order."""

    open: Token
    words: list[Word]
    close: Token


@dataclass(slots=True)
class Element:
    """``name[index]``"""

    name: Token
    index: Group


@dataclass(slots=True)
class Call:
    """``name(arguments)``: a function, a macro or a conversion."""

    name: Token
    arguments: Group


@dataclass(slots=True)
class Plain:
    """A declaration, an expression, a jump or a macro, up to its semicolon; `end`: None if it has none."""

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
    """A branch; `otherwise`: the word ``else``."""

    word: Token
    condition: Group
    yes: Statement
    otherwise: Token | None = None
    no: Statement | None = None


@dataclass(slots=True)
class Loop:
    """``for`` or ``while``; `unrolled`: the word before it by which compilers unroll it."""

    unrolled: Token | None
    word: Token
    head: Group
    body: Statement


@dataclass(slots=True)
class Repeat:
    """``do`` ``while``."""

    word: Token
    body: Statement
    end: Token
    condition: Group
    semicolon: Token


@dataclass(slots=True)
class Function:
    """The definition of a function; `head`: what is before its braces."""

    head: list[Word]
    body: Block


@dataclass(slots=True)
class Directive:
    """A line for the preprocessor, with those that continue it."""

    line: Token


@dataclass(slots=True)
class Shifted:
    """A statement on a line of its own, `margin` to the right of where it was read."""

    statement: Statement
    margin: str


@dataclass(slots=True)
class Tree:
    """The statements of a text, and what follows the last one."""

    body: list[Statement]
    end: str


Word: TypeAlias = Token | Group | Element | Call
Statement: TypeAlias = Plain | Block | If | Loop | Repeat | Function | Directive | Shifted
Node: TypeAlias = Word | Statement | Tree
