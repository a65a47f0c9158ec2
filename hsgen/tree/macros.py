"""Macros of the preprocessor, expanded in tokens; macros that are one number stay, as named constants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hsgen.tree.nodes import Token, Unreadable
from hsgen.tree.reading import tokens

_DEFINE = re.compile(r"#define (\w+)(\([^)]*\))?(.*)\Z", re.DOTALL)
_NUMBER = re.compile(r"\d\w*\Z")
Hidden = frozenset[str]
"""The macros that a token comes from, which are not expanded in it again."""


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro; `parameters`: None if it has no parentheses."""

    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]


def expanded(text: str) -> tuple[list[Token], dict[str, str]]:
    """Return the tokens of a text with its macros expanded, and the numbers of named constants.

    White space keeps the lines of the text.

    Raises:
        Unreadable: a directive is no definition, or a macro lacks arguments.
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
    found = _DEFINE.match(directive.text)
    if not found:
        raise Unreadable(f"{directive.text} is not a definition")
    name, listed, rest = found.groups()
    body = tuple(
        Token(" " if token.before else "", token.text) for token in tokens(rest) if token.text not in ("", "\\")
    )
    if listed is None and len(body) == 1 and _NUMBER.match(body[0].text):
        constants[name] = body[0].text
        return
    parameters = None if listed is None else tuple(x.strip() for x in listed.strip("()").split(",") if x.strip())
    macros[name] = Macro(parameters, body)


def _expand(token: Token, hidden: Hidden, macros: dict[str, Macro], queue: list[tuple[Token, Hidden]]) -> None:
    """Put the expansion of a macro in front of the queue, whose end is its front."""
    macro, given = macros[token.text], dict[str, list[tuple[Token, Hidden]]]()
    if macro.parameters is not None:
        if not queue or queue[-1][0].text != "(":
            queue.append((token, hidden | {token.text}))
            return
        values = _arguments(token.text, queue)
        if len(values) != len(macro.parameters):
            raise Unreadable(f"{token.text} takes {len(macro.parameters)} arguments, not {len(values)}")
        given = dict(zip(macro.parameters, values, strict=True))
    made: list[tuple[Token, Hidden]] = []
    for own in macro.body:
        if own.text in given:
            value = given[own.text]
            made += [(Token(own.before, value[0][0].text), value[0][1]), *value[1:]] if value else []
        else:
            made.append((own, hidden | {token.text}))
    if made:
        made[0] = Token(token.before, made[0][0].text), made[0][1]
    queue += reversed(made)


def _arguments(name: str, queue: list[tuple[Token, Hidden]]) -> Sequence[list[tuple[Token, Hidden]]]:
    """The arguments in front of the queue, which are taken from it."""
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
