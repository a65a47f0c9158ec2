"""A stable merge of two sorted arrays: keys of the first array precede equal keys of the second."""

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
from hsgen.operations.arguments import SCRATCH, Arguments, Buffer, Length, Number, options_member
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import KINDS, Keys, Make


def _interleaved(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    keys = KINDS["sorted"](rng, n, dtype)
    return np.concatenate([keys[::2], keys[1::2]])


MERGED: dict[str, Make] = {k: make for k, make in KINDS.items() if k != "organ pipe"} | {"interleaved": _interleaved}
"""The functions that make keys for a merge, by the name of the kind of input.

The keys are divided into two arrays, each of which numpy sorts before the call.
"""


def _sorted(sort: Sort, options: Options, *arrays: Keys) -> list[Keys]:
    """Return each array sorted, as keys without values: numpy sorts these many times faster than it sorts by a key."""
    plain = replace(sort, signature=replace(sort.signature, value="none"))
    return [oracle.results(plain, options, array, None)[0] for array in arrays]


class _Merge(Operation):
    """The operation that merges an array of `first_count` keys with an array of n - `first_count` keys."""

    name, noun, c_kind = "merge", "merge", "HS_MERGE"
    agent = "Merger"
    c_number = 3
    arguments = Arguments(
        about="A merge of two sorted arrays (HS_MERGE).",
        members=(
            Number(
                name="n",
                meaning="keys of both arrays",
                about="The number of keys in the first array; by default all that its buffer has.",
            ),
            Number(
                name="first_count",
                meaning="keys of the first array",
                call="call->first_count",
                field="first_count",
                javascript="otherN",
                about="The same for the second array.",
            ),
            options_member("type and order", "order"),
            Buffer(
                name="first",
                role="source",
                length=Length(factors=("number",)),
                python="a",
                javascript="keys",
                about="The first array.",
            ),
            Buffer(
                name="second",
                role="other",
                length=Length(factors=("n",), less="number"),
                python="b",
                javascript="otherKeys",
                about="The second array.",
            ),
            Buffer(
                name="destination", role="destination", written=True, about="Receives the keys of both arrays, sorted."
            ),
            SCRATCH,
            Buffer(
                name="first_values",
                role="values",
                meaning="the value of each key, for merges with values",
                length=Length(factors=("number",)),
                python="a_values",
                javascript="values",
                about="The values of the first array.",
            ),
            Buffer(
                name="second_values",
                role="other_values",
                length=Length(factors=("n",), less="number"),
                python="b_values",
                javascript="otherValues",
                about="The values of the second array.",
            ),
            Buffer(
                name="values_destination", role="values_out", written=True, about="Receives the values of both arrays."
            ),
        ),
        number="{first_count}",
        javascript="Merges of two sorted arrays; of equal keys, those of the first array come first.",
    )
    order = 2
    timed = True
    workload = "merge of two halves"
    kinds = MERGED

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Check that the first array has at most n keys, and return the options."""
        if options.first_count > n:
            raise OutOfRange("first_count", options.first_count, f"exceeds n, the {n} keys of both arrays")
        return options

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return the bytes per item of the second array and of its values, by role."""
        values = {"other_values": sort.signature.value_bytes} if sort.signature.value_bytes else {}
        return {"other": sort.item_bytes, **values}

    def turn(self, options: Options, number: int, n: int, block: int) -> Options:
        """Return the options with `first_count`, the size of the first array, set to one of seven sizes in turn."""
        sizes = (n // 2, 0, 1, n // 3, block - 1, block, block + 1)
        return replace(options, first_count=min(sizes[number % len(sizes)], n))

    def second(self, options: Options, n: int) -> Options | None:
        """Return the options with the sizes of the two arrays exchanged, because a merge cannot be in place."""
        return replace(options, first_count=n - options.first_count)

    def reported(self, options: Options) -> list[str]:
        """Return a phrase with the size of the first array."""
        return [f"{options.first_count} of them in the first array"]

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call that merges two arrays: the first `first_count` keys, sorted, and the other keys, sorted."""
        first, values = options.first_count, oracle.values_for(rng, len(keys), sort)
        halves = _sorted(sort, options, keys[:first], keys[first:])
        both = np.concatenate(halves)
        order = oracle.permutation(both, sort, options)
        return Call(
            n=len(keys),
            keys=halves[0],
            expected=both[order],
            in_place=False,
            values=None if values is None else values[:first],
            values_expected=oracle.values_expected(values, order, sort),
            how=options,
            other=halves[1],
            other_values=None if values is None else values[first:],
        )

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return a workload that merges the two halves of the keys, each sorted."""
        options = replace(options, first_count=len(keys) // 2)
        first, second = _sorted(sort, options, keys[: options.first_count], keys[options.first_count :])
        expected, after = oracle.results(sort, options, np.concatenate([first, second]), values)
        return Load(
            keys=first,
            values=None if values is None else values[: options.first_count],
            expected=expected,
            values_expected=after,
            how=options,
            other=second,
            other_values=None if values is None else values[options.first_count :],
        )


OPERATION = _Merge()
