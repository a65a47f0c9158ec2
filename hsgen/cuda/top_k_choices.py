"""The rules that choose how `hsgen.torch.topk` and `hsgen.cupy.topk` select the first k keys of rows.

A rule names a method for a range of the number of rows, a range of lengths and a range of k.  `SORTED_SHARE` is an
estimate, not a measurement.  `LONGEST` is the limit of a selection.
"""

from __future__ import annotations

from dataclasses import dataclass

SELECT, SORT, LIBRARY = "select", "sort", ""
"""The methods, from which a rule chooses.

SELECT is a selection.  If the result must be sorted, and k is too great for the selection to sort, a sort of the
selected keys follows.  SORT is a sort of all rows, of which the first k keys are copied.  LIBRARY is the array
library's own function, such as torch.topk.
"""

LONGEST = 1 << 30
"""The greatest number of keys in one call of a selection, hence in a row.  If all rows together have more keys, a
selection runs for the first rows, another for the next rows, and so on.
"""
SORTED_SHARE = 4
"""All rows are sorted if a sort must follow the selection and k is at least 1/`SORTED_SHARE` of a row's length."""
ANY = 1 << 62
Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: the method for ranges of the number of rows, the row length and k; both limits of a range are included.

    share: the rule fits only if k * share >= length; with 0, it fits any k.
    sorts: whether the rule fits only selections that a sort must follow.
    keys: the key types that the rule fits; empty for all types.
    """

    method: str
    rows: Range = (1, ANY)
    length: Range = (1, ANY)
    k: Range = (1, ANY)
    share: int = 0
    sorts: bool = False
    keys: tuple[str, ...] = ()

    def fits(self, key: str, rows: int, length: int, k: int, *, sorts: bool) -> bool:
        """Return True if the rule covers a selection of `k` keys from each of `rows` rows of `length` keys."""
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
"""The rules for selections; the first rule that fits determines the method."""


def choice(key: str, rows: int, length: int, k: int, *, sorts: bool) -> str:
    """Return the method that selects the first `k` keys of `rows` rows of `length` keys; "" means the array library's
    function.

    sorts: whether a sort must follow a selection; see `hsgen.cuda.selections.sorts_after`.
    """
    return next(rule.method for rule in RULES if rule.fits(key, rows, length, k, sorts=sorts))
