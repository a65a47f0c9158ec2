"""Merging two sorted arrays into a third one: stable; equal keys of the first array precede those of the second."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import KINDS, Keys, Make


def _interleaved(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    keys = KINDS["sorted"](rng, n, dtype)
    return np.concatenate([keys[::2], keys[1::2]])


MERGED: dict[str, Make] = {k: make for k, make in KINDS.items() if k != "organ pipe"} | {"interleaved": _interleaved}
"""The kinds of keys of which each half is sorted; of keys already in order, one half precedes the other."""


class _Merge(Operation):
    """The merge of an array of `parts` keys with one of n - `parts` keys; never in place."""

    name, noun, c_kind = "merge", "merge", "HS_MERGE"
    order = 2
    timed = True
    workload = "merge of two halves"
    kinds = MERGED

    def settled(self, n: int, how: Options, given: Container[str]) -> Options:
        """See `Operation`."""
        if how.parts > n:
            raise Usage(f"parts {how.parts}: the first array exceeds the {n} keys of both; give 0 to {n}")
        return how

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """See `Operation`: the second array and its values."""
        values = {"other_values": sort.signature.value_bytes} if sort.signature.value_bytes else {}
        return {"other": sort.item_bytes, **values}

    def turn(self, how: Options, number: int, n: int, block: int) -> Options:
        """See `Operation`: different sizes of the first array."""
        sizes = (n // 2, 0, 1, n // 3, block - 1, block, block + 1)
        return replace(how, parts=min(sizes[number % len(sizes)], n))

    def second(self, how: Options, n: int) -> Options | None:
        """See `Operation`: the sizes of both arrays are exchanged."""
        return replace(how, parts=n - how.parts)

    def told(self, how: Options) -> list[str]:
        """See `Operation`."""
        return [f"{how.parts} of them in the first array"]

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return the call that merges the first `parts` keys with the others, both sorted."""
        parts, values = how.parts, oracle.values_for(rng, len(keys), sort)
        halves = [x[oracle.permutation(x, sort, how)] for x in (keys[:parts], keys[parts:])]
        both = np.concatenate(halves)
        order = oracle.permutation(both, sort, how)
        return Call(
            n=len(keys),
            keys=halves[0],
            expected=both[order],
            in_place=False,
            values=None if values is None else values[:parts],
            values_expected=oracle.values_expected(values, order, sort),
            how=how,
            other=halves[1],
            other_values=None if values is None else values[parts:],
        )

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """Return both halves of the keys, sorted, and the result of their merge."""
        how = replace(how, parts=len(keys) // 2)
        plain = replace(sort, signature=replace(sort.signature, value="none"))
        halves = (keys[: how.parts], keys[how.parts :])
        first, other = (oracle.results(plain, how, half, None)[0] for half in halves)
        expected, after = oracle.results(sort, how, np.concatenate([first, other]), values)
        return Load(
            keys=first,
            values=None if values is None else values[: how.parts],
            expected=expected,
            values_expected=after,
            how=how,
            other=other,
            other_values=None if values is None else values[how.parts :],
        )


OPERATION = _Merge()
