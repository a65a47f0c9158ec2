"""The rows and operations of passes, in groups: a template can write each group as one loop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple


class Swap(NamedTuple):
    """A comparator of registers `lo` and `hi`: the smaller key goes to `lo`."""

    lo: int
    hi: int
    kind: str = "swap"


class Half(NamedTuple):
    """A comparator between lanes: lanes l and l ^ `mask` exchange register `reg`.

    The lane in which the mask's bit is clear keeps the smaller key.
    """

    reg: int
    mask: int
    kind: str = "half"


class Flip(NamedTuple):
    """Two comparators between lanes l and l ^ `mask`: register `a` of each lane meets register `b` of the other.

    The lane in which the top bit of the mask is clear keeps the smaller keys.
    """

    a: int
    b: int
    mask: int
    kind: str = "flip"


Op = Swap | Half | Flip


@dataclass(frozen=True, slots=True)
class Row:
    """The virtual row ``offset + sign * base`` of a column (see `hsgen.algorithms.bitonic.passes.Pass`).

    front, end: whether the row may lie before the front or after the end of the span, and so needs a guard.
    """

    offset: int
    sign: int
    front: bool = False
    end: bool = False


RowGroup = tuple[Row, list[tuple[int, int]]]
OpGroup = tuple[str, list[tuple[int, int, int]]]


def row_groups(every: Iterable[Row], front: int = 0) -> list[RowGroup]:
    """Return the groups of successive rows with the same sign and guards.

    A group is (its first row, [(register, offset - `front`) of each row]).
    """
    groups = groupby(enumerate(every), lambda x: (x[1].sign, x[1].front, x[1].end))
    lists = [list(group) for _, group in groups]
    return [(group[0][1], [(n, row.offset - front) for n, row in group]) for group in lists]


def op_groups(every: Iterable[Op]) -> list[OpGroup]:
    """Return the groups of successive operations with the same kind and mask.

    A group is (kind, [(first register, second register, mask) of each operation]).  The mask of a `Swap` is 0.  The
    second register of a `Half` is 0.
    """
    groups = groupby(map(_registers, every), lambda x: (x[0], x[1][2]))
    return [(kind, [numbers for _, numbers in group]) for (kind, _), group in groups]


def _registers(op: Op) -> tuple[str, tuple[int, int, int]]:
    if isinstance(op, Swap):
        return op.kind, (op.lo, op.hi, 0)
    if isinstance(op, Half):
        return op.kind, (op.reg, 0, op.mask)
    return op.kind, (op.a, op.b, op.mask)
