"""Target tables ``[scan.KEY]`` with a list of numbers of columns, such as ``columns = [1, 2, 3, 4]``.

The table stands for two tables for each number: inclusive and exclusive sums.  In each of them, a lane takes about the
same number of elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd
from typing import Any

from hsgen.algorithms.scan.params import FIELDS, VECTOR
from hsgen.core.fields import Field

COLUMNS = Field("ints", "the columns of rows, each for both kinds of sums", least=1, greatest=16, filled=True)
RULE: Mapping[str, Field] = {
    **{name: field for name, field in FIELDS.items() if name != "exclusive"},
    "columns": COLUMNS,
    "items": replace(FIELDS["items"], hint="the rows per lane of a tile, for one column"),
}
"""The keys of a target table ``[scan.KEY]`` with a list of numbers of columns."""


def variant(columns: int, *, exclusive: bool) -> str:
    """Return the name of the variant for rows of `columns` elements, such as "x2ex"."""
    return f"x{columns}{'ex' if exclusive else ''}"


def rows(items: int, columns: int, coordination: str) -> int:
    """Return the number of rows of `columns` elements for a lane, so that it has at most `items` elements.

    With sections, the number is rounded down so that the elements of a lane are whole vectors.
    """
    count = max(1, items // columns)
    return count - count % (VECTOR // gcd(VECTOR, columns)) if coordination == "sections" else count


def listed(table: Mapping[str, Any]) -> bool:
    """Return whether a target table ``[scan.KEY]`` has a list of numbers of columns."""
    return isinstance(table.get("columns"), list)


def expanded(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of all variants for which `table` stands, by variant; `table` itself if it has no list.

    A subtable of `table` with the name of a variant, such as "x2ex", has values that replace derived values.
    """
    if not listed(table):
        return dict(table)
    base = {k: v for k, v in table.items() if not isinstance(v, dict) and k != "columns"}
    variants: dict[str, Any] = {}
    for columns in table["columns"]:
        for exclusive in (False, True):
            name = variant(columns, exclusive=exclusive)
            items = rows(base["items"], columns, base["coordination"])
            derived = {"columns": columns, "exclusive": exclusive, **base, "items": items}
            variants[name] = {**derived, **table.get(name, {})}
    return {**variants, **{k: v for k, v in table.items() if isinstance(v, dict) and k not in variants}}
