"""A stable sort of an array by a bit range.  Keys may have values, and the count may be in device memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.arguments import (
    COUNT,
    SCRATCH,
    VALUES,
    VALUES_DESTINATION,
    Arguments,
    Buffer,
    Number,
    options_member,
)
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import Keys


class _Sort(Operation):
    """The operation that stably sorts n keys."""

    name, noun, c_kind = "sort", "sort", "HS_SORT"
    agent = "Sorter"
    arguments = Arguments(
        about="A sort of n keys.",
        members=(
            Number(name="n", meaning="keys; with `count` the capacity, below 2^30"),
            Number(
                name="shift",
                meaning="low bits of keys that the stage after the sort ignores",
                call="call->shift",
                field="shift",
            ),
            options_member("type, order, bits", "order", "bits"),
            Buffer(
                name="source",
                role="source",
                meaning="written only if it is also the destination",
                about="The keys; sorted in place without keysOut.",
            ),
            Buffer(
                name="destination",
                role="destination",
                meaning="null: sort in place, or the keys are discarded",
                written=True,
                optional=True,
            ),
            SCRATCH,
            replace(VALUES, about="The values, in place if the keys are; argsorts have only valuesOut."),
            VALUES_DESTINATION,
            COUNT,
            Buffer(
                name="report",
                role="report",
                meaning="output of the stage after the sort, such as run boundaries",
                words=True,
                written=True,
                optional=True,
            ),
        ),
        number="{shift}",
        in_place=True,
    )
    order = 0
    by_count = digested = timed = comparable = True

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call that sorts these keys; with a device-side count, it sorts only the first `count` of them."""
        n = len(keys)
        live = keys if count is None else keys[: min(count, n)]
        if not sort.signature.value_bytes and (expected := oracle.whole_keys(live, sort, options)) is not None:
            return Call(n=n, keys=keys, expected=expected, in_place=in_place, how=options, count=count)
        order = oracle.permutation(live, sort, options)
        values = oracle.values_for(rng, n, sort)
        return Call(
            n=n,
            keys=keys,
            expected=None if options.discard else live[order],
            in_place=in_place and not options.discard,
            values=values,
            values_expected=oracle.values_expected(values, order, sort),
            how=options,
            count=count,
        )

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return a workload that sorts these keys and values."""
        expected, after = oracle.results(sort, options, keys, values)
        report = oracle.changes(expected, sort, options.shift) if sort.signature.run_boundaries else None
        return Load(keys=keys, values=values, expected=expected, values_expected=after, how=options, report=report)


OPERATION = _Sort()
