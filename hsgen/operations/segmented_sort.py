"""A sort of each segment of an array.  If a call has no offsets, its segments are rows of equal length."""

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
from hsgen.operations.arguments import (
    ONE,
    SCRATCH,
    VALUES,
    VALUES_DESTINATION,
    Arguments,
    Buffer,
    Length,
    Number,
    options_member,
)
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import Keys


def segmented(
    sort: Sort, options: Options, keys: Keys, values: NDArray[Any] | None, offsets: NDArray[np.int64]
) -> tuple[Keys, NDArray[Any] | None]:
    """Return the keys and the values that a segmented sort should write.

    The function is many times faster than `layouts.permutation`, so benchmarks use it.
    keys: shape (n,).
    values: shape (n, 32-bit words of a value), or None.
    offsets: the bounds of segments from 0 to n, shape (segments + 1,).
    """
    slices = [slice(begin, end) for begin, end in pairwise(offsets.tolist())]
    if not sort.signature.value_bytes and not sort.signature.bit_range:
        by = oracle.ordered(keys, options.kind, descending=options.descending)
        for part in slices:
            by[part].sort()
        return oracle.unordered(by, options.kind, descending=options.descending), None
    by, order = oracle.compared(keys, sort, options), np.arange(len(keys))
    for part in slices:
        order[part] = part.start + np.argsort(by[part], kind="stable")
    return keys[order], oracle.values_expected(values, order, sort)


class _SegmentedSort(Operation):
    """The operation that stably sorts each of `segment_count` segments of n keys."""

    name, noun, c_kind = "segmented_sort", "segmented sort", "HS_SEGMENTED_SORT"
    agent = "SegmentedSorter"
    c_number = 2
    arguments = Arguments(
        about="A sort of each segment of n keys (HS_SEGMENTED_SORT).  Segment i begins at offsets[i] and ends at "
        "offsets[i + 1], or at ends[i] in a sort with --feature segment-ends.  If offsets decrease or exceed n, "
        "or a segment begins before the end of the one before it, nothing is written, and hs_device_status "
        "reports it.",
        members=(
            Number(name="n", meaning="keys of all segments"),
            Number(
                name="segment_count",
                call="call->segment_count",
                field="segment_count",
                python="segments",
                javascript="segments",
                about="The number of segments; with `count` the greatest possible number.",
                optional=False,
            ),
            options_member("type and order", "order", "bits"),
            Buffer(
                name="source",
                role="source",
                meaning="written only if it is also the destination",
                about="The keys; without keysOut, sorted in place.",
            ),
            Buffer(
                name="destination",
                role="destination",
                meaning="null: sort in place",
                written=True,
                optional=True,
                about="Receives the sorted keys.",
            ),
            SCRATCH,
            Buffer(
                name="offsets",
                role="other",
                meaning="segment_count + 1 32-bit numbers; null: segments are rows of equal length",
                words=True,
                length=Length(factors=("number",), plus=1),
                optional=True,
                python="offsets",
                about="The start of each segment, then n, as 32-bit words; without it, segments are rows of equal "
                "length.",
            ),
            Buffer(
                name="ends",
                role="other_values",
                meaning="segment_count of them, and of offsets; null unless segments have ends",
                words=True,
                length=Length(factors=("number",)),
                optional=True,
                python="ends",
                about="The end of each segment, as 32-bit words, in a sort with --feature segment-ends; `offsets` then "
                "has no last word n.",
            ),
            Buffer(
                name="count",
                role="count",
                meaning="32 bits: the number of segments, at most segment_count counts; null: segment_count",
                words=True,
                single=True,
                length=ONE,
                optional=True,
                about="A buffer whose first 32-bit word is the number of segments (--feature segment-count).",
            ),
            VALUES,
            VALUES_DESTINATION,
        ),
        number="{segment_count}",
        in_place=True,
        javascript="Stable sorts of each segment of an array.",
    )
    order = 1
    segmented = timed = True

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Return the options with `rows` and `segments_counted`, which follow from the buffers of the call.

        Without offsets, segments are rows of equal length, so the number of segments must divide n.
        """
        rows = "other" not in roles
        if rows and n and (options.segment_count == 0 or n % options.segment_count):
            wrong = f"{n} keys cannot be divided into that number of equal rows"
            raise OutOfRange("segment_count", options.segment_count, f"{wrong}; give offsets")
        return replace(options, rows=rows, segments_counted="count" in roles)

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return the bytes per key of the buffers for the offsets and the ends of segments, by role.

        A buffer has room for two numbers per key, because some validation calls have more segments than keys.
        """
        return {"other": 8, "other_values": 8} if sort.signature.segment_ends else {"other": 8}

    def input_bytes(self, options: Options) -> int:
        """Return the size of the offsets in bytes: 4 bytes for each of `segment_count` + 1 offsets."""
        return 4 * (options.segment_count + 1)

    def reported(self, options: Options) -> list[str]:
        """Return a phrase with the number of segments."""
        return [f"{options.segment_count} segments" + ", of which the device has a count" * options.segments_counted]

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call that sorts segments of a random layout, or rows of equal length."""
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
        used = most if live is None else min(live, most)
        inside = (pairs[0][:used], pairs[1][:used]) if pairs else None
        if inside:
            order = layouts.apart(keys, *inside, sort, options)
        else:
            order = layouts.permutation(keys, offsets[: used + 1], sort, options)
        return Call(
            n=n,
            keys=keys,
            expected=None if options.discard else keys[order],
            in_place=False,
            values=values,
            values_expected=oracle.values_expected(values, order, sort),
            how=replace(options, segment_count=most, segments_counted=live is not None),
            count=live,
            other=None if rows else layouts.unread(*((pairs[0], used) if pairs else (offsets, used + 1))),
            other_values=layouts.unread(pairs[1], used) if pairs and not rows else None,
            unchanged=~layouts.inside(n, *inside) if inside else None,
        )

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return a workload of `segment_count` segments.

        With `options.rows`, they are rows of equal length; otherwise their lengths are random.
        """
        n = len(keys)
        offsets = (
            np.arange(options.segment_count + 1) * (n // options.segment_count)
            if options.rows
            else layouts.cut(rng, n, options.segment_count)
        )
        expected, after = segmented(sort, options, keys, values, offsets)
        return Load(keys=keys, values=values, expected=expected, values_expected=after, how=options, offsets=offsets)


OPERATION = _SegmentedSort()
