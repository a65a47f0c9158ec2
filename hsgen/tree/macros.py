"""Expansion of C macros in kernel text, for languages without macros.

A macro without parentheses whose body is a number is not expanded: it becomes a named constant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hsgen.tree.nodes import Token, Unreadable
from hsgen.tree.reading import tokens

_DEFINE = re.compile(r"#define (\w+)(\([^)]*\))?(.*)\Z", re.DOTALL)
_NUMBER = re.compile(r"\d\w*\Z")
Hidden = frozenset[str]
"""The names of the macros whose expansion produced a token.  As in C, these macros are not expanded in it again."""


@dataclass(frozen=True, slots=True)
class Macro:
    """The definition of a macro.

    parameters: the names of its parameters; None for a macro without parentheses.
    """

    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]


def expanded(text: str) -> tuple[list[Token], dict[str, str]]:
    """Return the tokens of a text with all macros expanded, and a dictionary of named constants to their numbers.

    The result has as many line breaks as the text, including those of the removed ``#define`` lines.

    Raises:
        Unreadable: a directive is not ``#define``, or a macro has the wrong number of arguments.
    """
    macros: dict[str, Macro] = {}
    constants: dict[str, str] = {}
    out: list[Token] = []
    queue = [(token, Hidden()) for token in reversed(tokens(text))]
    before = ""
    while queue:
        token, hidden = queue.pop()
        if token.text.startswith("#"):
            _define(token, macros, constants)
            before += token.before + "\n" * token.text.count("\n")
        elif token.text in macros and token.text not in hidden:
            _expand(Token(before + token.before, token.text), hidden, macros, queue)
            before = ""
        else:
            out.append(Token(before + token.before, token.text))
            before = ""
    return out, constants


def _define(directive: Token, macros: dict[str, Macro], constants: dict[str, str]) -> None:
    define = _DEFINE.match(directive.text)
    if not define:
        raise Unreadable(f"{directive.text} is not a definition")
    name, listed, rest = define.groups()
    body = tuple(
        Token(" " if token.before else "", token.text) for token in tokens(rest) if token.text not in ("", "\\")
    )
    if listed is None and len(body) == 1 and _NUMBER.match(body[0].text):
        constants[name] = body[0].text
        return
    parameters = None if listed is None else tuple(x.strip() for x in listed.strip("()").split(",") if x.strip())
    macros[name] = Macro(parameters, body)


def _expand(token: Token, hidden: Hidden, macros: dict[str, Macro], queue: list[tuple[Token, Hidden]]) -> None:
    """Put the expansion of the macro that `token` names at the front of the queue of tokens yet to be read.

    The front of the queue is the end of the list `queue`.  If the macro has parameters, its arguments are removed from
    the queue first.  As in C, a macro with parameters is not expanded unless a parenthesis follows its name.
    """
    macro, bound = macros[token.text], dict[str, list[tuple[Token, Hidden]]]()
    if macro.parameters is not None:
        if not queue or queue[-1][0].text != "(":
            queue.append((token, hidden | {token.text}))
            return
        values = _arguments(token.text, queue)
        if len(values) != len(macro.parameters):
            raise Unreadable(f"{token.text} takes {len(macro.parameters)} arguments, not {len(values)}")
        bound = dict(zip(macro.parameters, values, strict=True))
    expansion: list[tuple[Token, Hidden]] = []
    for part in macro.body:
        if part.text in bound:
            value = bound[part.text]
            expansion += [(Token(part.before, value[0][0].text), value[0][1]), *value[1:]] if value else []
        else:
            expansion.append((part, hidden | {token.text}))
    if expansion:
        expansion[0] = Token(token.before, expansion[0][0].text), expansion[0][1]
    queue += reversed(expansion)


def _arguments(name: str, queue: list[tuple[Token, Hidden]]) -> Sequence[list[tuple[Token, Hidden]]]:
    """Remove the parenthesized arguments of the macro `name` from the front of the queue, and return them."""
    queue.pop()
    out: list[list[tuple[Token, Hidden]]] = [[]]
    depth = 1
    while queue:
        token, hidden = queue.pop()
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0:
            return [] if out == [[]] else out
        if token.text == "," and depth == 1:
            out.append([])
        else:
            out[-1].append((token, hidden))
    raise Unreadable(f"the arguments of {name} have no end")
