"""Sorting every segment of an array independently; segments without offsets are rows of equal length."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import OutOfRange
from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.operations import layouts, oracle
from hsgen.operations.arguments import SCRATCH, Arguments, Buffer, Number, options
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import Keys


def segmented(
    sort: Sort, how: Options, keys: Keys, values: NDArray[Any] | None, offsets: NDArray[np.int64]
) -> tuple[Keys, NDArray[Any] | None]:
    """Return the sorted keys and values of segments, many times as fast as `layouts.permutation`.

    keys: shape (n,).  values: shape (n, 32-bit words), or None.  offsets: shape (segments + 1,), from 0 to n.
    """
    slices = [slice(begin, end) for begin, end in pairwise(offsets.tolist())]
    if not sort.signature.value_bytes and not sort.signature.bit_range:
        by = oracle.ordered(keys, how.kind, descending=how.descending)
        for part in slices:
            by[part].sort()
        return oracle.unordered(by, how.kind, descending=how.descending), None
    by, order = oracle.compared(keys, sort, how), np.arange(len(keys))
    for part in slices:
        order[part] = part.start + np.argsort(by[part], kind="stable")
    return keys[order], oracle.values_expected(values, order, sort)


class _SegmentedSort(Operation):
    """The stable sort of each of `segment_count` segments of n keys."""

    name, noun, c_kind = "segmented_sort", "segmented sort", "HS_SEGMENTED_SORT"
    c_number = 2
    arguments = Arguments(
        about="A sort of each segment of n keys (HS_SEGMENTED_SORT).  Segment i begins at offsets[i] and ends at "
        "offsets[i + 1], or at ends[i] in a sort with --feature segment-ends.  If offsets decrease or exceed n, "
        "or a segment begins before the end of the one before it, nothing is written, and hs_device_status "
        "reports it.",
        members=(
            Number(name="n", meaning="keys of all segments"),
            Number(name="segment_count", call="call->segment_count"),
            options("type and order"),
            Buffer(name="source", role="source", meaning="written only if it is also the destination"),
            Buffer(name="destination", role="destination", meaning="null: sort in place", written=True),
            SCRATCH,
            Buffer(
                name="offsets",
                role="other",
                meaning="segment_count + 1 32-bit numbers; null: segments are rows of equal length",
                words=True,
            ),
            Buffer(
                name="ends",
                role="other_values",
                meaning="segment_count of them, and of offsets; null unless segments have ends",
                words=True,
            ),
            Buffer(
                name="count",
                role="count",
                meaning="32 bits: the number of segments, at most segment_count counts; null: segment_count",
                words=True,
                single=True,
            ),
            Buffer(name="values", role="values", meaning="the value of each key, for sorts with values"),
            Buffer(
                name="values_destination",
                role="values_out",
                meaning="null: in place, like the keys; required if indices are made",
                written=True,
            ),
        ),
        number="{segment_count}",
    )
    order = 1
    segmented = timed = True

    def settled(self, n: int, how: Options, given: Container[str]) -> Options:
        """See `Operation`: segments without offsets are rows."""
        rows = "other" not in given
        if rows and n and (how.segment_count == 0 or n % how.segment_count):
            wrong = f"{n} keys cannot be divided into that number of equal rows"
            raise OutOfRange("segment_count", how.segment_count, f"{wrong}; give offsets")
        return replace(how, rows=rows, segments_counted="count" in given)

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """See `Operation`: the offsets, and ends; there may be more segments than keys, most of them empty."""
        return {"other": 8, "other_values": 8} if sort.signature.segment_ends else {"other": 8}

    def input_bytes(self, how: Options) -> int:
        """See `Operation`: the offsets."""
        return 4 * (how.segment_count + 1)

    def reported(self, how: Options) -> list[str]:
        """See `Operation`."""
        return [f"{how.segment_count} segments" + ", of which the device has a count" * how.segments_counted]

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return the call that sorts segments of a random layout, or rows of equal length."""
        n, number = len(keys), int(rng.integers(2 * len(layouts.LAYOUTS)))
        rows, pairs, live = number >= len(layouts.LAYOUTS), None, None
        if rows:
            most = layouts.rows(sort, n, number)
            offsets = np.arange(most + 1) * (n // most)
        else:
            offsets = list(layouts.LAYOUTS.values())[number](rng, n, *layouts.test_counts(sort))
            most = len(offsets) - 1
        values = oracle.values_for(rng, n, sort)
        if sort.signature.segment_ends:
            pairs = (offsets[:-1], offsets[1:]) if rows else layouts.with_gaps(rng, offsets)
        if sort.signature.segment_count and rng.integers(4):
            live = layouts.live(rng, most)
        some = most if live is None else min(live, most)
        inside = (pairs[0][:some], pairs[1][:some]) if pairs else None
        if inside:
            order = layouts.apart(keys, *inside, sort, how)
        else:
            order = layouts.permutation(keys, offsets[: some + 1], sort, how)
        return Call(
            n=n,
            keys=keys,
            expected=None if how.discard else keys[order],
            in_place=False,
            values=values,
            values_expected=oracle.values_expected(values, order, sort),
            how=replace(how, segment_count=most, segments_counted=live is not None),
            count=live,
            other=None if rows else layouts.unread(*((pairs[0], some) if pairs else (offsets, some + 1))),
            other_values=layouts.unread(pairs[1], some) if pairs and not rows else None,
            kept=~layouts.inside(n, *inside) if inside else None,
        )

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """Return the segments that `how` counts: rows where it says so, and else cut at random."""
        n = len(keys)
        offsets = (
            np.arange(how.segment_count + 1) * (n // how.segment_count)
            if how.rows
            else layouts.cut(rng, n, how.segment_count)
        )
        expected, after = segmented(sort, how, keys, values, offsets)
        return Load(keys=keys, values=values, expected=expected, values_expected=after, how=how, offsets=offsets)


OPERATION = _SegmentedSort()
