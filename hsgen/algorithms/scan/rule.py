"""Target tables that list several numbers of columns.

A table of this kind stands for prefix sums of each of these numbers.  A lane takes about the same number of elements
for each of them.
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
"""The keys of a target table ``[scan.KEY]`` that lists numbers of columns."""


def variant(columns: int, *, exclusive: bool) -> str:
    """Return the name of the variant for rows of `columns` elements, such as "x2ex"."""
    return f"x{columns}{'ex' if exclusive else ''}"


def rows(items: int, columns: int, coordination: str) -> int:
    """Return how many rows of `columns` elements a lane takes, so that it holds up to `items` elements.

    With sections, the rows of a lane are a whole number of vectors.
    """
    count = max(1, items // columns)
    return count - count % (VECTOR // gcd(VECTOR, columns)) if coordination == "sections" else count


def listed(table: Mapping[str, Any]) -> bool:
    """Whether a target table ``[scan.KEY]`` lists numbers of columns."""
    return isinstance(table.get("columns"), list)


def expanded(table: Mapping[str, Any]) -> dict[str, Any]:
    """Expand a target table with a list of columns to one table for each variant.  Return any other table unchanged.

    The table may contain a subtable for a variant.  Its values replace the derived values.
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
