"""Passes over kernel trees for languages without pointers.

`addressed` is the pass for HLSL, whose byte-address buffers cannot be indexed as arrays.  The pass replaces accesses to
buffers by calls: ``b[i]`` becomes ``b_load(i)``, and ``b[i] = x`` becomes ``b_store(i, x)``.  Atomic accesses become
calls such as ``b_atomic_add(i, x)``.  `offset` and `without_pointers` are passes for GLSL.
"""

from __future__ import annotations

from collections.abc import Collection

from hsgen.tree.nodes import Call, Element, Group, Token, Tree, Unreadable, Word
from hsgen.tree.walking import arguments, call, changed, mapped, name, spaced, statements, within, words

ATOMICS = {
    f"hs_{memory}atomic_{operation}": operation
    for memory in ("", "local_")
    for operation in ("add", "or", "load", "store", "cas", "min")
}
"""The functions that kernel bodies call for atomic accesses, each with its operation, such as "add"."""
_COMPOUND = frozenset(("-=", "+=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>=", "++", "--"))
_ENDS = frozenset((";", ","))


class _Addressing:
    """A function object that takes the words of an expression, and returns them with accesses replaced by calls."""

    def __init__(self, buffers: Collection[str], arrays: Collection[str]) -> None:
        self.buffers, self.memory = frozenset(buffers), frozenset((*buffers, *arrays))

    def __call__(self, listed: list[Word]) -> list[Word]:
        """Return `listed`, in which calls replace the accesses to buffers and the atomic accesses."""
        out: list[Word] = []
        at = 0
        while at < len(listed):
            word, at = listed[at], at + 1
            match word:
                case Element(name=Token(text=buffer)) if buffer in self.buffers:
                    if _operator(listed, at) in _COMPOUND:
                        raise Unreadable(f"{buffer}[...] is combined with its old value")
                    operands, function = [self(word.index.words)], "load"
                    if _operator(listed, at) == "=":
                        start, at = at + 1, next((i for i in range(at, len(listed)) if _ends(listed[i])), len(listed))
                        operands, function = [*operands, self(listed[start:at])], "store"
                    out.append(call(f"{buffer}_{function}", operands, word.name.before))
                case Element(name=array, index=index):
                    out.append(Element(array, within(index, self)))
                case Call(name=Token(text=function)) if function in ATOMICS:
                    out.append(self._atomic(word, ATOMICS[function]))
                case Call(name=function, arguments=group):
                    out.append(Call(function, within(group, self)))
                case Group():
                    out.append(within(word, self))
                case _:
                    out.append(word)
        return out

    def _atomic(self, word: Call, operation: str) -> Word:
        (place, *_), *operands = arguments(word)
        if not isinstance(place, Element) or place.name.text not in self.memory:
            return Call(word.name, within(word.arguments, self))
        listed = [self(x) for x in (place.index.words, *operands)]
        if operation == "load":
            operation, listed = "or", [*listed, [Token("", "0u")]]
        return call(f"{place.name.text}_atomic_{operation}", listed, word.name.before)


def _operator(listed: list[Word], at: int) -> str:
    """Return the text of the token at index `at`, which follows an access; "" if there is no token at that index."""
    word = listed[at] if at < len(listed) else None
    return word.text if isinstance(word, Token) else ""


def _ends(word: Word) -> bool:
    return isinstance(word, Token) and word.text in _ENDS


def addressed(tree: Tree, buffers: Collection[str], arrays: Collection[str]) -> Tree:
    """Return a tree in which calls replace all accesses to `buffers` and the atomic accesses to `arrays`.

    Raises:
        Unreadable: a compound assignment, such as ``+=``, changes an element of a buffer.
    """
    change = _Addressing(buffers, arrays)
    return statements(tree, lambda x: mapped(x, change))


def called(tree: Tree) -> frozenset[str]:
    """Return the names of the functions that a tree calls.

    For a call of ``hs_store_line``, the result also has ``BUFFER_store``, which dialects call in its definition.
    """
    calls = [w for w in words(tree) if isinstance(w, Call)]
    lines = {f"{name(arguments(w)[0])}_store" for w in calls if w.name.text == LINE}
    return frozenset({w.name.text for w in calls} | lines)


FIRST = "{}_first"
LINE = "hs_store_line"
"""The function that stores several adjacent keys; its first two arguments are a buffer and an index in the buffer."""
_LOWER = frozenset(("<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?"))
"""The operators with a lower precedence than ``+``."""


def offset(tree: Tree, buffers: Collection[str]) -> Tree:
    """Return a tree in which ``BUFFER_first`` is added to every index into one of these buffers.

    A Vulkan binding can start only at an aligned offset in memory, but a call's array may start after that offset.
    ``BUFFER_first`` is the index, counted from the aligned offset, of the array's first element.
    """

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


CONVERSIONS = ("hs_twiddle_in", "hs_raw_in")


def without_pointers(tree: Tree) -> Tree:
    """Return a tree without addresses of array elements.

    ``*(first ? &a[i] : &b[j])`` becomes ``(first ? a[i] : b[j])``.

    GLSL has no ``?:`` for keys of fewer than 32 bits, so ``hs_raw_in(c ? x : y)`` becomes
    ``(c ? hs_raw_in(x) : hs_raw_in(y))``.
    """
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
    """Return ``(c ? a : b)`` for the expression ``(c ? &a : &b)``; None for any other expression in parentheses."""
    match group.words:
        case [*condition, Token(text="?"), Token(text="&"), Element() as first, Token(text=":"), Token(text="&"), last]:
            assert isinstance(last, Element)
            words = [*condition, Token(" ", "?"), *spaced([first], " "), Token(" ", ":"), *spaced([last], " ")]
            return Group(group.open, words, group.close)
    return None


def _cases(group: Group) -> tuple[list[Word], Element, Element] | None:
    """Return ``c``, ``a`` and ``b`` for ``(c ? a : b)`` if ``a`` and ``b`` are array elements; else return None."""
    match group.words:
        case [*condition, Token(text="?"), Element() as first, Token(text=":"), Element() as last]:
            return condition, first, last
    return None
