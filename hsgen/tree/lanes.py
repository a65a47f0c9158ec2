"""A pass for kernels without subgroups, in sorts whose other kernels have subgroups."""

from __future__ import annotations

from hsgen.tree.nodes import Call, Token, Word
from hsgen.tree.printing import text
from hsgen.tree.reading import read
from hsgen.tree.walking import changed, statements

SUBGROUP, LANE = "hs_subgroup_id", "hs_local_id"


def alone(body: str) -> str:
    """Return a body in which each lane is a subgroup.

    All kernels of a sort share a prelude, which defines ``hs_subgroup_id`` as the lane only if no kernel has subgroups.
    """
    if SUBGROUP not in body:
        return body
    return text(statements(read(body), lambda x: changed(x, _renamed)))


def _renamed(listed: list[Word]) -> list[Word]:
    return [_lane(word) if isinstance(word, Call) and word.name.text == SUBGROUP else word for word in listed]


def _lane(call: Call) -> Call:
    return Call(Token(call.name.before, LANE), call.arguments)
