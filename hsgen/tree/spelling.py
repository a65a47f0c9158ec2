"""Replacement of tokens, including the tokens of directives, for kernels that run as another language."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hsgen.tree.nodes import Token
from hsgen.tree.reading import tokens

Change = Callable[[Sequence[Token]], list[Token]]
"""A function that returns the replacement for the tokens of a text or of a directive."""


def spelled(text: str, change: Change) -> str:
    """Return a text with the tokens that `change` returns."""
    out: list[Token] = []
    for token in tokens(text):
        mark, directive, rest = token.text.partition("#")
        if directive and not mark:
            out.append(Token(token.before, directive + spelled(rest, change)))
        else:
            out.append(token)
    return "".join(part for token in change(out) for part in token)
