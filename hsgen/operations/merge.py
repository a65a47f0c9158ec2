"""Merging two sorted arrays into a third one: stable; equal keys of the first array precede those of the second."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import OutOfRange
from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.arguments import SCRATCH, Arguments, Buffer, Number, options
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import KINDS, Keys, Make


def _interleaved(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    keys = KINDS["sorted"](rng, n, dtype)
    return np.concatenate([keys[::2], keys[1::2]])


MERGED: dict[str, Make] = {k: make for k, make in KINDS.items() if k != "organ pipe"} | {"interleaved": _interleaved}
"""The kinds of keys of which each half is sorted; of keys already in order, one half precedes the other."""


class _Merge(Operation):
    """The merge of an array of `first_count` keys with one of the other keys, n in all; never in place."""

    name, noun, c_kind = "merge", "merge", "HS_MERGE"
    c_number = 3
    arguments = Arguments(
        about="A merge of two sorted arrays (HS_MERGE).",
        members=(
            Number(name="n", meaning="keys of both arrays"),
            Number(name="first_count", meaning="keys of the first array", call="call->first_count"),
            options("type and order"),
            Buffer(name="first", role="source"),
            Buffer(name="second", role="other"),
            Buffer(name="destination", role="destination", written=True),
            SCRATCH,
            Buffer(name="first_values", role="values", meaning="the value of each key, for merges with values"),
            Buffer(name="second_values", role="other_values"),
            Buffer(name="values_destination", role="values_out", written=True),
        ),
        number="{first_count}",
    )
    order = 2
    timed = True
    workload = "merge of two halves"
    kinds = MERGED

    def settled(self, n: int, how: Options, given: Container[str]) -> Options:
        """See `Operation`."""
        if how.first_count > n:
            raise OutOfRange("first_count", how.first_count, f"exceeds n, the {n} keys of both arrays")
        return how

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """See `Operation`: the second array and its values."""
        values = {"other_values": sort.signature.value_bytes} if sort.signature.value_bytes else {}
        return {"other": sort.item_bytes, **values}

    def turn(self, how: Options, number: int, n: int, block: int) -> Options:
        """See `Operation`: different sizes of the first array."""
        sizes = (n // 2, 0, 1, n // 3, block - 1, block, block + 1)
        return replace(how, first_count=min(sizes[number % len(sizes)], n))

    def second(self, how: Options, n: int) -> Options | None:
        """See `Operation`: the sizes of both arrays are exchanged."""
        return replace(how, first_count=n - how.first_count)

    def reported(self, how: Options) -> list[str]:
        """See `Operation`."""
        return [f"{how.first_count} of them in the first array"]

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return the call that merges the first keys with the others, both brought in order before."""
        first, values = how.first_count, oracle.values_for(rng, len(keys), sort)
        halves = [x[oracle.permutation(x, sort, how)] for x in (keys[:first], keys[first:])]
        both = np.concatenate(halves)
        order = oracle.permutation(both, sort, how)
        return Call(
            n=len(keys),
            keys=halves[0],
            expected=both[order],
            in_place=False,
            values=None if values is None else values[:first],
            values_expected=oracle.values_expected(values, order, sort),
            how=how,
            other=halves[1],
            other_values=None if values is None else values[first:],
        )

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """Return both halves of the keys, brought in order, and what the merge of these is."""
        how = replace(how, first_count=len(keys) // 2)
        plain = replace(sort, signature=replace(sort.signature, value="none"))
        halves = (keys[: how.first_count], keys[how.first_count :])
        first, other = (oracle.results(plain, how, half, None)[0] for half in halves)
        expected, after = oracle.results(sort, how, np.concatenate([first, other]), values)
        return Load(
            keys=first,
            values=None if values is None else values[: how.first_count],
            expected=expected,
            values_expected=after,
            how=how,
            other=other,
            other_values=None if values is None else values[how.first_count :],
        )


OPERATION = _Merge()
