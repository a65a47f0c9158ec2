"""The reader of the tables ``[sort.KEY]``, which state which algorithm sorts which counts in the sort "auto".

A range of counts is a *row* such as ``{ to = 131072, use = "bitonic" }``: calls for up to 131072 keys run the bitonic
sort.  The range begins after the count at which the preceding row ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsgen.core.fields import Field, Reader
from hsgen.targets.strategies import Labels

SORT = "sort"
"""The first part of the names of the tables with the ranges of counts."""
RANGES, VALUED, COUNTED, VALUED_COUNTED = "ranges", "ranges_values", "ranges_counts", "ranges_values_counts"
BY_VALUE = {value: f"ranges_{value}" for value in ("v4", "v8", "v16", "index")}
LISTS = (RANGES, VALUED, COUNTED, VALUED_COUNTED, *BY_VALUE.values())
"""The keys of the lists of rows that a table ``[sort.KEY]`` may have.

`VALUED` is the list for sorts with values.  A list of `BY_VALUE` is for one kind of values; ``ranges_index`` is also
for 64-bit indices.  `COUNTED` is the list for sorts without values whose count is in device memory, `VALUED_COUNTED`
for sorts with values and such a count.  `VALUED` replaces each list for values that the table lacks.  `RANGES` is the
list for all other sorts, and replaces each of the remaining lists that the table lacks.
"""
FIRST = {
    "first": Field("str", 'the sort whose kernels are compiled first, such as "radix-reduce_scan"', required=False)
}
"""The key that names the sort whose kernels are compiled first; it serves calls until those of "auto" are compiled."""
ROW = {
    "use": Field("str", 'a label, for example "bitonic" or "radix-onesweep"'),
    "to": Field("int", "the greatest count of the row; none in the last row", required=False, least=1),
}
_HINT = 'write rows such as [{ to = 131072, use = "bitonic" }, { use = "radix-onesweep" }]'


def read(r: Reader, table: Mapping[str, Any], where: str, names: Labels) -> dict[str, tuple[list[str], list[int]]]:
    """Read the lists of rows in a table ``[sort.KEY]``; record errors in `r`.

    The result has, by the name of the list, the labels in its rows, and the greatest counts of all labels but the last.

    A row may refer to a list of tables, which has parameters for several ranges of counts (`Labels.lists`).  The labels
    of these tables then replace the row.  The last of them sorts counts up to the row's greatest count.
    """
    r.unknown(table, where, (*LISTS, *FIRST))
    ranges: dict[str, tuple[list[str], list[int]]] = {}
    for name in LISTS:
        if name not in table:
            if name == RANGES and not r.misspelt(f"{where}.{name}"):
                r.error(f"{where}.{name}", "missing", _HINT)
            continue
        rows = table[name]
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            r.error(f"{where}.{name}", "is not a list of rows", _HINT)
            continue
        good = [r.fields(row, f"{where}.{name}[{i}]", ROW) for i, row in enumerate(rows)]
        for i, row in enumerate(good):
            if "to" in row and i == len(good) - 1:
                r.error(f"{where}.{name}[{i}].to", "bounds the last row", "leave it out: the last row serves the rest")
            if "to" not in row and i < len(good) - 1 and "to" not in rows[i]:
                r.error(f"{where}.{name}[{i}].to", "missing", f"give {ROW['to'].hint}")
        ranges[name] = _expanded(good, names)
    return ranges


def _expanded(rows: list[dict[str, Any]], names: Labels) -> tuple[list[str], list[int]]:
    """Return the labels to which rows refer, and the greatest counts of all labels but the last.

    If a row refers to a list of tables, the labels of all its tables replace the row.
    """
    labels: list[str] = []
    upto: list[int | None] = []
    for row in rows:
        use, to = row.get("use", ""), row.get("to")
        cases = names.lists.get(use) or ((names.tables.get(use, use), None),)
        labels += [label for label, _ in cases]
        upto += [*(most for _, most in cases[:-1]), to]
    return labels, [n for n in upto if n is not None]


def written(labels: list[str], upto: list[int]) -> str:
    """Return a list of rows as text for a target file, with a line per row.

    labels, upto: the labels, and the greatest counts of all labels but the last.
    """
    rows = [f'    {{ to = {n}, use = "{x}" }},' for x, n in zip(labels[:-1], upto, strict=True)]
    return "\n".join(["[", *rows, f'    {{ use = "{labels[-1]}" }},', "]"])
