"""One of two elements by a condition, ``*(first ? &a[i] : &b[j])``, for languages without pointers.

It becomes ``(first ? a[i] : b[j])``.  A conversion of such an element is one of each: GLSL selects no narrow keys.
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
                made = [*condition, Token(" ", "?"), yes, Token(" ", ":"), no]
                out.append(Group(Token(word.name.before, "("), made, inner.close))
            case _:
                out.append(word)
    return out


def _chosen(group: Group) -> Group | None:
    """The elements that a group chooses the address of, instead of the addresses."""
    match group.words:
        case [*condition, Token(text="?"), Token(text="&"), Element() as first, Token(text=":"), Token(text="&"), last]:
            assert isinstance(last, Element)
            words = [*condition, Token(" ", "?"), *spaced([first], " "), Token(" ", ":"), *spaced([last], " ")]
            return Group(group.open, words, group.close)
    return None


def _cases(group: Group) -> tuple[list[Word], Element, Element] | None:
    """The condition of a choice between two elements, and the elements."""
    match group.words:
        case [*condition, Token(text="?"), Element() as first, Token(text=":"), Element() as last]:
            return condition, first, last
    return None
