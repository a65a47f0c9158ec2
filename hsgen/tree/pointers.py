"""A pass that removes pointers from a choice between two elements, for languages without pointers.

``*(first ? &a[i] : &b[j])`` becomes ``(first ? a[i] : b[j])``.  GLSL cannot choose between narrow keys, so a conversion
of the choice becomes a choice between two conversions.
"""

from __future__ import annotations

from hsgen.tree.nodes import Call, Element, Group, Token, Tree, Word
from hsgen.tree.walking import call, changed, spaced, statements

CONVERSIONS = ("hs_twiddle_in", "hs_raw_in")


def without(tree: Tree) -> Tree:
    """Return a tree without addresses of elements."""
    return statements(tree, lambda x: changed(x, _words))


def _words(listed: list[Word]) -> list[Word]:
    out: list[Word] = []
    for word in listed:
        match word, out:
            case Group(), [*_, Token(text="*") as star] if chosen := _chosen(word):
                out[-1:] = spaced([chosen], star.before)
            case Call(name=Token(text=name), arguments=Group(words=[Group() as inner])), _ if name in CONVERSIONS and (
                cases := _cases(inner)
            ):
                condition, first, second = cases
                yes, no = (call(name, [[x]], " ") for x in (first, second))
                choice = [*condition, Token(" ", "?"), yes, Token(" ", ":"), no]
                out.append(Group(Token(word.name.before, "("), choice, inner.close))
            case _:
                out.append(word)
    return out


def _chosen(group: Group) -> Group | None:
    """Return a choice between two elements for a group that chooses between their addresses; None for other groups."""
    match group.words:
        case [*condition, Token(text="?"), Token(text="&"), Element() as first, Token(text=":"), Token(text="&"), last]:
            assert isinstance(last, Element)
            words = [*condition, Token(" ", "?"), *spaced([first], " "), Token(" ", ":"), *spaced([last], " ")]
            return Group(group.open, words, group.close)
    return None


def _cases(group: Group) -> tuple[list[Word], Element, Element] | None:
    """Return the condition and the two elements of a choice; None for other groups."""
    match group.words:
        case [*condition, Token(text="?"), Element() as first, Token(text=":"), Element() as last]:
            return condition, first, last
    return None
