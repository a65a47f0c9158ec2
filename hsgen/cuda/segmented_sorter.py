"""Segmented sorts of arrays on NVIDIA GPUs: build once, sort many times.

>>> sorter = SegmentedSorter("u32")                   # for the current GPU, by the target that matches it
>>> sorter(keys, offsets)                             # each segment, in place
>>> sorter(keys, segments=100, out=result)            # rows of equal length, into another array
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

from hsgen.algorithms.segmented import equal_rows, short_rows
from hsgen.core.interpreter import Options, offset
from hsgen.cuda.driver import bindings, done
from hsgen.cuda.kernels import Kernels
from hsgen.cuda.numeric import rewriting
from hsgen.cuda.prepared import SCRATCH, Prepared, wait
from hsgen.cuda.runner import Checked, Runner
from hsgen.runners.segmented_sort import REFUSED, SegmentedCalls


class SegmentedSorter(Runner):
    """A segmented sort on one GPU; see docs/guides/segmented-sort.md.

    Args:
        key, order, target, numeric, device: as in `hsgen.cuda.Sorter`.
        value: None for no values; a numpy type or a number of bytes (4, 8 or 16) for values that move with keys.
            "index" or "index64" makes an argsort: the value of a key is its original index in the whole array, of 32 or
            64 bits.
        bit_range: whether calls may choose the bits to sort by.
        segment_ends: whether calls also pass the ends of segments.
        segment_count: whether calls may take the number of segments from a buffer on the device.

    Raises:
        hsgen.core.errors.Usage: there is no such target, key type, value, order or GPU, or no segmented sort that
            combines them.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _calls: SegmentedCalls

    def __init__(
        self,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        bit_range: bool = False,
        segment_ends: bool = False,
        segment_count: bool = False,
        numeric: bool = False,
        device: int | None = None,
    ) -> None:
        features = {"bit_range": bit_range, "segment_ends": segment_ends, "segment_count": segment_count}
        calls = SegmentedCalls(key, value, order, **features)
        rewrite = rewriting(calls.key, calls.value) if numeric else str
        super().__init__(device, target, calls, rewrite)
        self._rewrite = rewrite
        self._rows: dict[tuple[bool, bool], Kernels | None] = {}  # kernels of `short_rows`, by (in_row, raw)
        self._status: int | None = None  # device memory for the status of the last call with offsets
        self._pending: int | None = None  # the stream of the last call with offsets

    def __call__(
        self,
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
        stream: Any = None,
    ) -> None:
        """Enqueue the sort of each segment of `keys` by itself; arguments are those of `hsgen.opencl.SegmentedSorter`.

        The call runs on `stream`, by default on the current stream of the library of `keys`.

        Segment s is keys[offsets[s]:offsets[s + 1]], or with `ends` keys[offsets[s]:ends[s]].  Without offsets, the
        keys are `segments` rows of equal length.  With `count`, a number on the device, only the first `count` segments
        or rows are sorted.  If offsets decrease or exceed the number of keys, nothing is written, and `check` raises an
        error.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as in `hsgen.cuda.Sorter`; offsets and segments are missing.
            hsgen.core.errors.Usage: there are more than `max_n` keys, or the keys cannot be split into equal rows; the
                bit range is reversed or exceeds the key.
        """
        arrays = (keys, out, offsets, ends, count, values, values_out)
        now = self._run(arrays, self._calls.integers(segments, begin_bit, end_bit), stream)
        if offsets is not None:
            self._pending = now

    def _prepare(self, n: int, options: Options, *, in_place: bool) -> Prepared:
        """Prepare and return the launches for calls with `n` keys and these options.

        Rows of equal length that fit a work-group are sorted by a single launch.  Longer rows of equal length are
        sorted by the launches of a segmented sort.  Launches that would have no work for rows of this length are left
        out.
        """
        if short := self.short_rows(n, options, in_place=in_place):
            return short
        rows, plan = options.segment_count, None
        if options.rows and not options.segments_counted and rows and n % rows == 0:
            plan = equal_rows.plan(self._sort, rows, n // rows)
        return Prepared(self._kernels, n, options, in_place=in_place, plan=plan)

    def short_rows(
        self, n: int, options: Options, *, in_place: bool, in_row: bool = False, raw: bool = False
    ) -> Prepared | None:
        """Return the single launch that sorts rows of equal length, a work-group per row; None if there is none.

        The launch serves no offsets, no count on the device, no bit range and no segment ends.  The function
        `hsgen.algorithms.segmented.short_rows.plan` states which numbers and lengths of rows the launch serves.

        in_row: whether an index counts from the start of its row, not of the array.  raw: whether zeros and NaNs have
        the same bits in the output as in the input; only for out-of-place sorts with indices.  If `raw` is False, a
        sort in numeric order stores +0 for each zero, and the same NaN for each NaN.

        Raises:
            Unavailable: NVRTC is missing or does not know the architecture, or the GPU cannot run the launch.
            Wrong: the kernel does not compile or load.
        """
        if not (options.rows and 0 < n <= self.max_n) or options.segments_counted:
            return None
        if (in_row, raw) not in self._rows:
            sort = short_rows.specialize(self._sort, self._gpu.host.local_bytes, in_row=in_row, raw=raw)
            self._rows[in_row, raw] = Kernels(self._gpu, sort, self._rewrite) if sort else None
        kernels = self._rows[in_row, raw]
        plan = kernels and short_rows.plan(kernels.sort, options.segment_count, n // options.segment_count)
        return Prepared(kernels, n, options, in_place=in_place, plan=plan) if kernels and plan else None

    def _after(self, call: Checked, bases: Sequence[int], stream: int) -> None:
        """After a call with offsets, copy the status from scratch memory, which is freed, to memory for `check`."""
        rule = self._sort.plan.device_status
        if rule is None or call.options.rows or call.n <= rule.min_n:
            return
        driver, size = bindings(), 4 * rule.words
        if self._status is None:
            self._status = int(done(driver.cuMemAlloc(size), "cuMemAlloc"))
        source = bases[SCRATCH] + offset(rule.binding, call.n)
        done(driver.cuMemcpyDtoDAsync(self._status, source, size, stream), "cuMemcpyDtoDAsync")

    def check(self) -> None:
        """Wait for the last call with offsets, and check that its offsets were valid.

        Raises:
            ValueError: the offsets of that call decrease or exceed the number of keys; the call wrote nothing.
        """
        rule = self._sort.plan.device_status
        if self._pending is None or self._status is None or rule is None:
            return
        wait(self._gpu, self._pending)
        words = (ctypes.c_uint32 * rule.words)()
        with self._gpu.current():
            done(bindings().cuMemcpyDtoH(ctypes.addressof(words), self._status, 4 * rule.words), "cuMemcpyDtoH")
        if any(words):
            raise ValueError(REFUSED)
