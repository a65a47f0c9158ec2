"""The classes `Shape` and `Take`, which describe a sort and a selection of rows.  The module imports little, so that
importing it is fast.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What to sort: `rows` rows of `length` keys of the type `key` on GPU `number`.

    keys, indices: whether the sort writes the sorted keys, and their original indices.
    """

    number: int
    key: str
    rows: int
    length: int
    descending: bool = False
    keys: bool = True
    indices: bool = True

    @property
    def n(self) -> int:
        """The number of keys in all rows."""
        return self.rows * self.length


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """What to select: `k` keys from each of `rows` rows of `length` keys of the type `key` on GPU `number`.

    largest: whether the greatest keys are selected, greatest first; otherwise the least, least first.
    sorted: whether the result must be sorted.
    numbers: the keywords of `hsgen.runners.row_numbers` for which calls pass an array in device memory.
    entry: the size in bytes of an entry of the look-up table, if there is one.
    """

    number: int
    key: str
    rows: int
    length: int
    k: int
    largest: bool = True
    sorted: bool = True
    numbers: tuple[str, ...] = ()
    entry: int = 4

    @property
    def n(self) -> int:
        """The number of keys in all rows."""
        return self.rows * self.length

    @property
    def selected(self) -> int:
        """The number of selected keys in all rows."""
        return self.rows * self.k
