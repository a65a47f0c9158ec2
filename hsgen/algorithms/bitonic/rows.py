"""The rows and operations of passes.  Templates write groups that differ only in numbers as loops."""

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
    """The virtual row ``offset + sign * base`` of a column.

    `front` and `end` say whether the row needs a guard at the front or at the end of the span.
    """

    offset: int
    sign: int
    front: bool = False
    end: bool = False


RowGroup = tuple[Row, list[tuple[int, int]]]
OpGroup = tuple[str, list[tuple[int, int, int]]]


def row_groups(every: Iterable[Row], front: int = 0) -> list[RowGroup]:
    """Return groups of successive rows with the same sign and guards.

    A group consists of its first row and a list.  The list has, for each row, the register and the offset minus
    `front`.
    """
    groups = groupby(enumerate(every), lambda x: (x[1].sign, x[1].front, x[1].end))
    lists = [list(group) for _, group in groups]
    return [(group[0][1], [(n, row.offset - front) for n, row in group]) for group in lists]


def op_groups(every: Iterable[Op]) -> list[OpGroup]:
    """Return groups of successive operations with the same kind and mask.

    A group consists of the kind and a list.  The list has, for each operation, two registers and the mask.  The mask of
    a `Swap` is 0.  The second register of a `Half` is 0.
    """
    groups = groupby(map(_registers, every), lambda x: (x[0], x[1][2]))
    return [(kind, [numbers for _, numbers in group]) for (kind, _), group in groups]


def _registers(op: Op) -> tuple[str, tuple[int, int, int]]:
    if isinstance(op, Swap):
        return op.kind, (op.lo, op.hi, 0)
    if isinstance(op, Half):
        return op.kind, (op.reg, 0, op.mask)
    return op.kind, (op.a, op.b, op.mask)
