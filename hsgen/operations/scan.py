"""Prefix sums of every column of n rows, inclusive or exclusive, in wrapping arithmetic or of 32-bit floats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, TYPES, Signature, Type
from hsgen.core.sort import Sort
from hsgen.operations.arguments import SCRATCH, Arguments, Buffer, Number, options
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
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

FLOAT = 2
"""The kind of floats (`hsgen.core.keys.Type`)."""
TYPES_OF_SUMS = ("u32", "i32", "f32", "u64", "i64")
"""The types of elements by name."""
_EXACT = 1 << 24  # 32-bit floats represent all integers up to here


def exact_floats(keys: Keys, columns: int) -> Keys:
    """Return the bits of 32-bit floats, one for each of `keys`, whose sums are exact in any order.

    They are integers of both signs, so small that no sum of a column exceeds 2^24; none is -0.
    """
    most = max(1, min(1000, _EXACT // max(1, len(keys) // columns)))
    made = (keys % np.uint32(2 * most + 1)).astype(np.float32) - np.float32(most)
    return made.view(np.uint32)


def sums(sort: Sort, keys: Keys, kind: int = 0) -> Keys:
    """Return the prefix sums of each column; `keys` are n rows, shape (n * columns,), the bits of floats for `FLOAT`.

    Integers wrap.  Floats are added in the order of rows, starting from +0.
    """
    rows = keys.reshape(-1, sort.columns).view(np.float32 if kind == FLOAT else keys.dtype)
    out = np.cumsum(rows, axis=0, dtype=rows.dtype)
    if getattr(sort.parts[0].params, "exclusive", False):
        out = np.concatenate([np.zeros_like(rows[:1]), out[:-1]])
    found: Keys = out.reshape(-1).view(keys.dtype)
    return found


class _Scan(Operation):
    """Prefix sums of n rows."""

    name, noun, c_kind = "scan", "prefix sum", "HS_SCAN"
    c_number = 1
    arguments = Arguments(
        about="The prefix sums of each column of a table of n rows (HS_SCAN).",
        members=(
            Number(name="n", meaning="rows"),
            options("type: integers, whose sums wrap, or 32-bit floats"),
            Buffer(name="source", role="source", meaning="written only if it is also the destination"),
            Buffer(name="destination", role="destination", meaning="null: in place", written=True),
            SCRATCH,
        ),
    )
    items, unit, element = "rows", "", "element"
    section = "scan", "Prefix sums of {}"
    plain_only = "sums up"
    table_keys = "columns", "exclusive"
    kinds = SUMMANDS
    timed = True

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

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """See `Operation`: signed elements have the sums of unsigned ones."""
        return replace(signature, floats=signature.floats or key.kind == FLOAT)

    def types(self, keys: Iterable[str], width: str) -> tuple[str, ...]:
        """See `Operation`: the width for integers, and the type of floats."""
        kinds = {TYPES[name].kind: name for name in keys if TYPES[name].key == width}
        return (width,) * any(kind < FLOAT for kind in kinds) + (kinds.get(FLOAT, ""),) * (FLOAT in kinds)

    def serves(self, sort: Sort, key: Type) -> bool:
        """See `Operation`."""
        return key.key == sort.key.name and (key.kind == FLOAT) == sort.signature.floats

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """See `Operation`; floats are integers, whose sums are exact in any order."""
        if sort.signature.floats:
            how = replace(how, kind=FLOAT)
            keys = exact_floats(keys, sort.columns)
        expected = sums(sort, keys, how.kind)
        return Call(n=len(keys) // sort.columns, keys=keys, expected=expected, in_place=in_place, how=how)

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """Return n rows of `keys`, which are one column: further columns repeat them, shifted."""
        rows = np.stack([np.roll(keys, column) for column in range(sort.columns)], axis=1).reshape(-1)
        if how.kind == FLOAT:
            rows = exact_floats(rows, sort.columns)
        expected = sums(sort, rows, how.kind)
        return Load(keys=rows, values=None, expected=expected, values_expected=None, how=how, columns=sort.columns)


OPERATION = _Scan()
