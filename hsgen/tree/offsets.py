"""A pass that adds the index of a buffer's first element to every index, because GLSL's bindings start at aligned
offsets.
"""

from __future__ import annotations

from collections.abc import Collection

from hsgen.tree.nodes import Call, Element, Group, Token, Tree, Word
from hsgen.tree.walking import arguments, call, changed, name, spaced, statements

FIRST = "{}_first"
LINE = "hs_store_line"
"""The word whose first two arguments are a buffer and an index."""
_LOWER = frozenset(("<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?"))
"""The operators with a lower precedence than a sum."""


def offset(tree: Tree, buffers: Collection[str]) -> Tree:
    """Return a tree with ``BUFFER_first`` added to every index of these buffers."""

    def access(word: Word) -> Word:
        match word:
            case Element(name=Token(text=buffer), index=Group(open=opening, words=index, close=closing)):
                if buffer in buffers:
                    return Element(word.name, Group(opening, _sum(buffer, index), closing))
            case Call(name=Token(text=function)) if function == LINE:
                target, index, *rest = arguments(word)
                if name(target) in buffers:
                    return call(function, [target, _sum(name(target), index), *rest], word.name.before)
        return word

    return statements(tree, lambda x: changed(x, lambda listed: [access(w) for w in listed]))


def _sum(buffer: str, index: list[Word]) -> list[Word]:
    first: list[Word] = [Token("", FIRST.format(buffer)), Token(" ", "+")]
    if any(isinstance(w, Token) and w.text in _LOWER for w in index):
        return [*first, Group(Token(" ", "("), spaced(index, ""), Token("", ")"))]
    return [*first, *spaced(index, " ")]
