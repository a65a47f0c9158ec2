"""Sorting a whole array, with or without values, by a bit range, up to a host or device-side count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import Keys


class _Sort(Operation):
    """The stable sort of n keys."""

    name, noun, c_kind = "sort", "sort", "HS_SORT"
    order = 0
    by_count = digested = timed = comparable = True

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """See `Operation`."""
        n = len(keys)
        live = keys if count is None else keys[: min(count, n)]
        if not sort.signature.value_bytes and (expected := oracle.whole_keys(live, sort, how)) is not None:
            return Call(n=n, keys=keys, expected=expected, in_place=in_place, how=how, count=count)
        order = oracle.permutation(live, sort, how)
        values = oracle.values_for(rng, n, sort)
        return Call(
            n=n,
            keys=keys,
            expected=None if how.discard else live[order],
            in_place=in_place and not how.discard,
            values=values,
            values_expected=oracle.values_expected(values, order, sort),
            how=how,
            count=count,
        )

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """See `Operation`."""
        expected, after = oracle.results(sort, how, keys, values)
        report = oracle.changes(expected, sort, how.shift) if sort.signature.run_boundaries else None
        return Load(keys=keys, values=values, expected=expected, values_expected=after, how=how, report=report)


OPERATION = _Sort()
