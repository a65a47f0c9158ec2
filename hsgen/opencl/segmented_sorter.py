"""Segmented sorts of pyopencl arrays and buffers: build once, sort many times.

>>> sorter = SegmentedSorter(queue.context, "u32")    # picks the target that matches the device
>>> sorter(queue, keys, offsets)                      # each segment, in place; returns the event
>>> sorter(queue, keys, segments=100, out=result)     # rows of equal length, into another array
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hsgen.opencl.runner import Runner
from hsgen.runners.base import alone
from hsgen.runners.segmented_sort import REFUSED, SegmentedCalls


class SegmentedSorter(Runner):
    """A segmented sort, compiled for a context of one device; see docs/guides/segmented-sort.md.

    A sort needs scratch memory of somewhat more than the size of keys and values.  The memory is kept between calls,
    as in a `hsgen.opencl.Sorter`.

    Args:
        context, key, order, target: as in `hsgen.opencl.Sorter`.
        value: None for no values; a numpy type or a number of bytes (4, 8 or 16) for values that move with keys.
            "index" or "index64" makes an argsort: the value of a key is its original index in the whole array, of 32 or
            64 bits.
        bit_range: whether calls may choose the bits to sort by.
        segment_ends: whether calls also pass the ends of segments.
        segment_count: whether calls may take the number of segments from a buffer on the device.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type, value or order, or no segmented sort that combines
            them.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    _calls: SegmentedCalls

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        bit_range: bool = False,
        segment_ends: bool = False,
        segment_count: bool = False,
    ) -> None:
        features = {"bit_range": bit_range, "segment_ends": segment_ends, "segment_count": segment_count}
        super().__init__(context, target, SegmentedCalls(key, value, order, **features))
        self._last: Any = None  # the queue of the last call

    @alone
    def __call__(
        self,
        queue: Any,
        keys: Any,
        offsets: Any = None,
        *,
        ends: Any = None,
        count: Any = None,
        segments: int | None = None,
        out: Any = None,
        values: Any = None,
        values_out: Any = None,
        begin_bit: int = 0,
        end_bit: int | None = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue the sort of each segment of `keys` by itself; return the event of its end.

        Segment s is keys[offsets[s]:offsets[s + 1]].  `offsets` are `segments` + 1 ascending uint32 or int32 on the
        device, the last at most len(keys).  By default, the number of offsets determines `segments`.  Without offsets,
        the keys are `segments` rows of equal length.  All buffers are `pyopencl.array.Array` or `pyopencl.Buffer`
        objects.  Without `out` and `values_out` the sort is in place; otherwise keys and values outside all segments
        are copied.
        With `ends`, segment s is keys[offsets[s]:ends[s]].  Then `offsets` and `ends` have `segments` numbers each, no
        segment may overlap the segment before it, and nothing outside segments is written.  With `count`, a uint32 or
        int32 on the device, only the first `count` segments or rows are sorted.  Keys are sorted by the bits from
        `begin_bit` up to but excluding `end_bit` (None: all higher bits).  If offsets decrease or exceed the number of
        keys, nothing is written, and `check` raises an error.

        Raises:
            TypeError: an argument has a wrong Python type, such as a numpy array.
            ValueError: a buffer is missing, unexpected or invalid, offsets and segments are missing, or the sorter does
                not support a bit range or ends.
            hsgen.core.errors.Usage: there are more than `max_n` keys, or the keys cannot be split into equal rows; the
                bit range is reversed or exceeds the key.
        """
        arrays = (keys, out, offsets, ends, count, values, values_out)
        event = self._run(queue, arrays, self._calls.integers(segments, begin_bit, end_bit), wait_for)
        self._last = queue
        return event

    @alone
    def check(self) -> None:
        """Wait for the last call, and check that its offsets were valid.

        Raises:
            ValueError: the offsets of the last call decrease or exceed the number of keys; the call wrote nothing.
        """
        if self._last is not None and self._compiled.device_status(self._last):
            raise ValueError(REFUSED)
