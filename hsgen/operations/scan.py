"""Prefix sums of every column of n rows, inclusive or exclusive, in wrapping arithmetic."""

from __future__ import annotations

import numpy as np

from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call
from hsgen.operations.inputs import KINDS, Keys, Make


def _ones(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    return rng.integers(0, 1, n, dtype, endpoint=True)


def _great(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    return rng.integers(1 << 28, 1 << 30, n, dtype)


SUMMANDS: dict[str, Make] = {
    **{kind: KINDS[kind] for kind in ("random", "all greatest", "all equal")},
    "2^28 to 2^30": _great,
    "zeros and ones": _ones,
}
"""The kinds of elements of a prefix sum: sums that wrap immediately, later, and never."""


def sums(sort: Sort, keys: Keys) -> Keys:
    """Return the prefix sums of each column in wrapping arithmetic; `keys` are n rows, shape (n * columns,)."""
    rows = keys.reshape(-1, sort.columns)
    out: Keys = np.cumsum(rows, axis=0, dtype=keys.dtype)
    if getattr(sort.parts[0].params, "exclusive", False):
        out = np.concatenate([np.zeros_like(rows[:1]), out[:-1]])
    return out.reshape(-1)


class _Scan(Operation):
    """Prefix sums of n rows."""

    name, noun, c_kind = "scan", "prefix sum", "HS_SCAN"
    items, unit, element = "rows", "", "element"
    section = "scan", "Prefix sums of {}"
    plain_only = "sums up"
    table_keys = "columns", "exclusive"
    kinds = SUMMANDS

    def subject(self, sort: Sort) -> str:
        """See `Operation`."""
        return f"{sort.algorithm} of {sort.label} elements"

    def c_label(self, sort: Sort) -> str:
        """See `Operation`."""
        return f"{sort.algorithm} of {sort.columns} {sort.key.name} in a row"

    def columns(self, params: object) -> int:
        """See `Operation`."""
        return int(getattr(params, "columns", 1))

    def signature(self, signature: Signature) -> Signature:
        """See `Operation`: elements are always plain."""
        return PLAIN

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """See `Operation`."""
        return Call(n=len(keys) // sort.columns, keys=keys, expected=sums(sort, keys), in_place=in_place)


OPERATION = _Scan()
