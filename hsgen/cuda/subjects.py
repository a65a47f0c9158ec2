"""The subjects of sorts and selections of rows, as values; the module imports little."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The subject of a sort: `rows` rows of `length` keys on GPU `number`.  keys, indices: whether the sort writes keys
    and indices.
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
        """The number of all keys."""
        return self.rows * self.length


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """The subject of a selection: `k` keys of each of `rows` rows of `length` keys on GPU `number`.

    largest: the greatest keys are selected, greatest first; else the least, least first.
    sorted: the result must be sorted.
    numbers: the names of the numbers of rows that calls pass in device memory; see `hsgen.runners.row_numbers`.
    entry: the size of an entry of the table in bytes.
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
        """The number of all keys."""
        return self.rows * self.length

    @property
    def selected(self) -> int:
        """The number of all selected keys."""
        return self.rows * self.k
