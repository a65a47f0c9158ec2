"""The rules by which the functions on arrays choose a method to select the first k keys of rows.

A rule names a method for a range of the number of rows, a range of lengths and a range of k.  `SORTED_SHARE` is an
estimate; the other numbers are limits of the operations.
"""

from __future__ import annotations

from dataclasses import dataclass

SELECT, SORT, LIBRARY = "select", "sort", ""
"""Methods.

SELECT is a selection; a sort of the selected keys follows if the result must be sorted and the selection does not sort.
SORT is a sort of all rows, whose first keys are copied.  LIBRARY is the array library's own function.
"""

LONGEST = 1 << 30
"""The greatest number of keys of a selection, hence of a row.  If all rows together have more keys, several selections
run, each for some of the rows.
"""
SORTED_SHARE = 4
"""If the selected keys must be sorted afterwards, and are at least 1/`SORTED_SHARE` of a row, whole rows are sorted
instead.
"""
ANY = 1 << 62
Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A method for ranges of the number of rows, of lengths and of k; limits are inclusive.

    share: the rule holds if k * share >= length; 0: for any k.
    sorts: whether the rule holds only for selections that a sort must follow.
    keys: the key types; empty for all types.
    """

    method: str
    rows: Range = (1, ANY)
    length: Range = (1, ANY)
    k: Range = (1, ANY)
    share: int = 0
    sorts: bool = False
    keys: tuple[str, ...] = ()

    def fits(self, key: str, rows: int, length: int, k: int, *, sorts: bool) -> bool:
        """Return True if the rule is for such a selection."""
        ranges = ((self.rows, rows), (self.length, length), (self.k, k))
        return (
            all(least <= x <= most for (least, most), x in ranges)
            and (not self.share or k * self.share >= length)
            and (sorts or not self.sorts)
            and (not self.keys or key in self.keys)
        )


RULES = (
    Rule(method=LIBRARY, length=(LONGEST + 1, ANY)),
    Rule(method=SORT, share=SORTED_SHARE, sorts=True),
    Rule(method=SELECT),
)
"""The rules; the first rule that fits determines the method."""


def choice(key: str, rows: int, length: int, k: int, *, sorts: bool) -> str:
    """Return the method for the first `k` keys of `rows` rows of `length` keys; "" is the array library's function.

    sorts: whether a sort must follow a selection; see `hsgen.cuda.selections.sorts_after`.
    """
    return next(rule.method for rule in RULES if rule.fits(key, rows, length, k, sorts=sorts))
