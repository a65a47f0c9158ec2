"""Segmented sorts of pyopencl arrays and buffers: build once, sort many times.

>>> sorter = SegmentedSorter(queue.context, "u32")    # picks the target that matches the device
>>> sorter(queue, keys, offsets)                      # each segment, in place; returns the event
>>> sorter(queue, keys, segments=100, out=result)     # rows of equal length, into another array
"""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hsgen.algorithms import implicit_for
from hsgen.core.keys import TYPES, Signature
from hsgen.opencl.arguments import host_of, serving
from hsgen.opencl.runner import Given, Runner, alone
from hsgen.operations.segmented_sort import OPERATION

_NAMES = {"source": "keys", "destination": "out", "other": "offsets"}


class SegmentedSorter(Runner):
    """A segmented sort, compiled for a context of one device; see docs/guides/segmented-sort.md.

    Scratch memory is kept as in a `hsgen.opencl.sorter.Sorter`: somewhat more than the size of keys and values.

    Args:
        context, key, order, target: as of `hsgen.opencl.Sorter`.
        value: what moves along with each key: None, a numpy type or a number of bytes (4, 8 or 16), "index" or
            "index64" for the index that the key had in the whole array.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type, value or order, or no segmented sort that combines
            them.
        hsgen.core.errors.Unavailable: the device lacks what the target needs.
        hsgen.core.errors.Wrong: the kernels do not build, or the compiler crashes.
    """

    _names = _NAMES
    _operation = "segmented_sort"
    _rows_hint = ", and the rows as segments={rows}"

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
    ) -> None:
        host, how = host_of(context), self._name_keys(key, value, order)
        signature = Signature(value=self.value, key_transform=how.kind > 0 or how.descending)
        found, sort = serving(host, target, self.key, signature, implicit_for(OPERATION))
        super().__init__(context, host, found, sort, TYPES[self.key].numpy)
        self._how = how
        self._last: Any = None  # the queue of the last call

    @alone
    def __call__(
        self,
        queue: Any,
        keys: Any,
        offsets: Any = None,
        *,
        segments: int | None = None,
        out: Any = None,
        values: Any = None,
        values_out: Any = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue the sort of each segment of `keys` by itself; return the event of its end.

        Segment s is keys[offsets[s]:offsets[s + 1]].  `offsets` are `segments` + 1 ascending 32-bit numbers on the
        device, the last at most len(keys); by default `segments` follows from their number.  Without offsets, the keys
        are `segments` rows of equal length.  All buffers are `pyopencl.array.Array` or `pyopencl.Buffer` objects.
        Without `out` and `values_out` the sort is in place; otherwise keys and values outside all segments are copied.
        If offsets decrease or exceed the number of keys, nothing is written, and `check` raises an error.

        Raises:
            TypeError: an argument is of a wrong Python type, such as a numpy array.
            ValueError: a missing, unexpected or invalid buffer; neither offsets nor segments.
            hsgen.core.errors.Usage: there are more than `max_n` keys, or the keys cannot be split into equal rows.
        """
        if segments is None:
            if offsets is None:
                raise ValueError("offsets is missing: give offsets, or segments where all are of equal length")
            segments = max(self._memory(offsets, "other").size // 4 - 1, 0)
        how = replace(self._how, segment_count=operator.index(segments))
        given = {"source": keys, "destination": out, "values": values, "values_out": values_out, "other": offsets}
        self._check_given(given)
        self._segment_count = how.segment_count
        event = self._run(queue, given, None, wait_for, how)
        self._last = queue
        return event

    @alone
    def check(self) -> None:
        """Wait for the last call, and check its status.

        Raises:
            ValueError: its offsets were invalid; it wrote nothing.
        """
        if self._last is not None and self._compiled.device_status(self._last):
            raise ValueError("offsets decrease, or end beyond the keys; nothing was written")

    def _check_given(self, given: Given) -> None:
        """Refuse unexpected and missing values."""
        signature = self._sort.signature
        for role, wanted in (
            ("values", signature.value_bytes and not signature.index),
            ("values_out", signature.value_bytes),
        ):
            if given[role] is not None and not wanted:
                does = "makes values of its own" if signature.index else "has none; give value= when it is made"
                raise ValueError(f"{role} is given, but this sorter {does}")
        missing = "values_out" if signature.index else "values"
        if signature.value_bytes and given[missing] is None:
            raise ValueError(f"{missing} is missing: this sorter has {signature.value_bytes} bytes a key")

    def _length(self, role: str, n: int) -> int:
        """The items that a call uses of the buffer of a role."""
        return self._segment_count + 1 if role == "other" else super()._length(role, n)

    def _size(self, role: str) -> int:
        """The bytes of one item in the buffer of a role."""
        return 4 if role == "other" else super()._size(role)

    def _elements(self, role: str) -> np.dtype[Any] | None:
        """The type that elements of an array must have; None: any of the right size."""
        return np.dtype(np.uint32) if role == "other" else super()._elements(role)
