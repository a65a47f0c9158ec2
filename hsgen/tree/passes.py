"""The passes that adapt the syntax tree of a kernel body to a kernel language.

A *dialect* is the description of a kernel language, such as HLSL.  The dialect lists the names of the passes that it
needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hsgen.core.kernels import Kernel
from hsgen.tree import addressing, selection
from hsgen.tree.nodes import Call, Token, Tree, Word
from hsgen.tree.printing import text
from hsgen.tree.reading import read
from hsgen.tree.walking import changed, statements


@dataclass(frozen=True, slots=True)
class Memory:
    """The names of a kernel's buffers and local arrays.

    index: whether the sort is an argsort, whose input has no buffer of values, because value i is i.
    """

    buffers: tuple[str, ...]
    arrays: tuple[str, ...]
    index: bool


@dataclass(frozen=True, slots=True)
class Pass:
    """A function that changes a tree.

    words: the kernel functions, such as ``hs_load``, whose calls the pass replaces.  Every dialect must define the
    functions that kernels call, but a dialect that lists the pass need not define these.
    """

    change: Callable[[Tree, Memory], Tree]
    words: frozenset[str] = frozenset()


PASSES: Mapping[str, Pass] = {
    "pointers": Pass(lambda tree, _: addressing.without_pointers(tree)),
    "selection": Pass(lambda tree, memory: selection.selected(tree, memory.index), selection.WORDS),
    "offsets": Pass(lambda tree, memory: addressing.offset(tree, memory.buffers)),
    "addressing": Pass(
        lambda tree, memory: addressing.addressed(tree, memory.buffers, memory.arrays), frozenset(addressing.ATOMICS)
    ),
}
"""The passes by name."""


def replaced(names: Sequence[str]) -> frozenset[str]:
    """Return the kernel functions that a dialect need not define, because the named passes replace their calls."""
    return frozenset().union(*(PASSES[name].words for name in names))


@dataclass(frozen=True, slots=True)
class Passed:
    """The text of a kernel body after all passes, and the names of the functions that the text calls."""

    text: str
    calls: frozenset[str]


def memory(kernel: Kernel, index: bool) -> Memory:
    """Return the `Memory` of a kernel.

    index: whether the sort is an argsort (`Memory.index`).
    """
    return Memory(tuple(b.name for b in kernel.buffers), tuple(a.name for a in kernel.arrays), index)


@lru_cache(maxsize=4096)
def passed(body: str, names: Sequence[str], known: Memory) -> Passed:
    """Return a kernel body after the passes `names`, in this order.

    Raises:
        Unreadable: the body is not valid kernel text.
    """
    tree = read(body)
    for name in names:
        tree = PASSES[name].change(tree, known)
    return Passed(text(tree), addressing.called(tree))


SUBGROUP, LANE = "hs_subgroup_id", "hs_local_id"


def alone(body: str) -> str:
    """Return the body of a kernel that uses no subgroups, with ``hs_local_id`` in place of ``hs_subgroup_id``.

    The text of such a kernel is written for subgroups of one lane, so the index of the subgroup is that of the lane.
    The function ``hs_subgroup_id`` may return another index.  All kernels of a sort share its definition, and other
    kernels may use wider subgroups.
    """
    if SUBGROUP not in body:
        return body
    return text(statements(read(body), lambda x: changed(x, _renamed)))


def _renamed(listed: list[Word]) -> list[Word]:
    return [_lane(word) if isinstance(word, Call) and word.name.text == SUBGROUP else word for word in listed]


def _lane(call: Call) -> Call:
    return Call(Token(call.name.before, LANE), call.arguments)
