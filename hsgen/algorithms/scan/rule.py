"""One table of a target for the sums of rows of several widths: a lane takes the same number of elements for each
width.
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
"""The keys of a table ``[scan.KEY]`` that lists columns."""


def variant(columns: int, *, exclusive: bool) -> str:
    """Return the variant of sums of rows of `columns` elements."""
    return f"x{columns}{'ex' if exclusive else ''}"


def rows(items: int, columns: int, coordination: str) -> int:
    """Return the number of rows of a lane that holds `items` elements in rows of `columns`; in sections, whole
    vectors.
    """
    count = max(1, items // columns)
    return count - count % (VECTOR // gcd(VECTOR, columns)) if coordination == "sections" else count


def listed(table: Mapping[str, Any]) -> bool:
    """Whether a table ``[scan.KEY]`` lists columns."""
    return isinstance(table.get("columns"), list)


def expanded(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table for each variant that a table with a list of columns stands for; any other table is returned
    unchanged.

    If the table contains a table for a variant, the values there replace the derived values.
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
