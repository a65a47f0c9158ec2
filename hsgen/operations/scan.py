"""Inclusive or exclusive prefix sums over n rows, separate for each column.

Elements are integers, whose sums wrap, or 32-bit floats.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, TYPES, Signature, Type
from hsgen.core.sort import Sort
from hsgen.operations.arguments import SCRATCH, Arguments, Buffer, Number, options_member
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
"""The functions that make elements for a prefix sum, by the name of the kind of input.

Depending on the kind, sums of 32-bit elements wrap after a few rows, after many rows, or never.
"""

FLOAT = 2
"""The kind of floats (`hsgen.core.keys.Type.kind`)."""
TYPES_OF_SUMS = ("u32", "i32", "f32", "u64", "i64")
"""The names of the types of elements."""
_EXACT = 1 << 24  # 32-bit floats represent all integers up to this number


def exact_floats(keys: Keys, columns: int) -> Keys:
    """Return the bits of a 32-bit float for each of `keys`; sums of the floats are exact in any order.

    The floats are integers from -1000 to 1000, without -0.  For many keys, the range is smaller, so that no sum over a
    column exceeds 2^24 in magnitude: up to this limit, 32-bit floats represent all integers.
    """
    most = max(1, min(1000, _EXACT // max(1, len(keys) // columns)))
    floats = (keys % np.uint32(2 * most + 1)).astype(np.float32) - np.float32(most)
    return floats.view(np.uint32)


def sums(sort: Sort, keys: Keys, kind: int = 0) -> Keys:
    """Return the prefix sums of each column, shape (n * columns,).

    Sums of integers wrap.  Floats are added in the order of rows, starting from +0.
    keys: the elements of n rows, shape (n * columns,), as unsigned numbers with the same bits.
    kind: the kind of the elements' type; `FLOAT` for floats.
    """
    rows = keys.reshape(-1, sort.columns).view(np.float32 if kind == FLOAT else keys.dtype)
    out = np.cumsum(rows, axis=0, dtype=rows.dtype)
    if getattr(sort.parts[0].params, "exclusive", False):
        out = np.concatenate([np.zeros_like(rows[:1]), out[:-1]])
    flat: Keys = out.reshape(-1).view(keys.dtype)
    return flat


class _Scan(Operation):
    """The operation that computes the prefix sums of each column of n rows."""

    name, noun, c_kind = "scan", "prefix sum", "HS_SCAN"
    agent = "Scanner"
    c_number = 1
    arguments = Arguments(
        about="The prefix sums of each column of a table of n rows (HS_SCAN).",
        members=(
            Number(name="n", meaning="rows", about="The number of rows; by default all that the buffer has."),
            options_member("type: integers, whose sums wrap, or 32-bit floats"),
            Buffer(
                name="source",
                role="source",
                meaning="written only if it is also the destination",
                javascript="elements",
                about="The rows.",
            ),
            Buffer(
                name="destination",
                role="destination",
                meaning="null: in place",
                written=True,
                optional=True,
                javascript="elementsOut",
                about="Receives the sums; without it, the sums replace the rows.",
            ),
            SCRATCH,
        ),
        in_place=True,
        javascript="Prefix sums of rows of `columns` elements, separate for each column.",
    )
    items, unit, element = "rows", "", "element"
    section = "scan", "Prefix sums of {}"
    plain_only = "sums up"
    table_keys = "columns", "exclusive"
    kinds = SUMMANDS
    timed = True

    def subject(self, sort: Sort) -> str:
        """Return a description of the prefix sum."""
        return f"{sort.algorithm} of {sort.label} elements"

    def c_label(self, sort: Sort) -> str:
        """Return the description of the prefix sum in C files, with the elements of a row."""
        return f"{sort.algorithm} of {sort.columns} {sort.key.name} in a row"

    def columns(self, params: object) -> int:
        """Return the number of elements in a row."""
        return int(getattr(params, "columns", 1))

    def signature(self, signature: Signature) -> Signature:
        """Return the signature without values and features, because prefix sums support none."""
        return PLAIN

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return the signature, with `floats` set if `key` is a float type.

        Signed and unsigned integers need the same signature, because their sums have the same bits.
        """
        return replace(signature, floats=signature.floats or key.kind == FLOAT)

    def types(self, keys: Iterable[str], width: str) -> tuple[str, ...]:
        """Return the unsigned type if the bundle has integers of the width, and the float type if it has floats.

        One prefix sum serves signed and unsigned integers of a width.  Floats need another.
        """
        kinds = {TYPES[name].kind: name for name in keys if TYPES[name].key == width}
        return (width,) * any(kind < FLOAT for kind in kinds) + (kinds.get(FLOAT, ""),) * (FLOAT in kinds)

    def serves(self, sort: Sort, key: Type) -> bool:
        """Whether the type has the sort's width, and is a float if and only if the sort is for floats."""
        return key.key == sort.key.name and (key.kind == FLOAT) == sort.signature.floats

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call that sums `keys`; floats are small integers, so their sums are exact in any order."""
        if sort.signature.floats:
            options = replace(options, kind=FLOAT)
            keys = exact_floats(keys, sort.columns)
        expected = sums(sort, keys, options.kind)
        return Call(n=len(keys) // sort.columns, keys=keys, expected=expected, in_place=in_place, how=options)

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return a workload of n rows.  Column c contains the keys, shifted cyclically by c rows."""
        rows = np.stack([np.roll(keys, column) for column in range(sort.columns)], axis=1).reshape(-1)
        if options.kind == FLOAT:
            rows = exact_floats(rows, sort.columns)
        expected = sums(sort, rows, options.kind)
        return Load(keys=rows, values=None, expected=expected, values_expected=None, how=options, columns=sort.columns)


OPERATION = _Scan()
