"""Sorting pyopencl arrays and buffers: build once, sort many times.

>>> sorter = Sorter(queue.context, "u32")      # picks the target that matches the device
>>> sorter(queue, keys)                        # in place; returns the event
>>> sorter(queue, keys, out=sorted_keys)       # into another array
"""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import PLAIN, Options, bit_range, scratch_bytes
from hsgen.core.keys import TYPES, Signature
from hsgen.opencl.arguments import host_of, serving
from hsgen.opencl.runner import Given, Runner, alone
from hsgen.stages.attach import report_words


class Sorter(Runner):
    """A sort of keys of one type, compiled for a context of one device; docs/reference/semantics.md defines the order.

    A sort that needs scratch memory allocates it at the first call, and keeps what the greatest n so far needed; see
    `scratch_bytes`.  Calls of one such sorter wait for each other on the device, also on different queues.

    Args:
        context: a `pyopencl.Context`; its first device determines the target.
        key: "u8" to "u64", "i8" to "i64", "f16", "f32" or "f64", or the numpy type of such keys.
        value: what moves along with each key: None, a numpy type or a number of bytes (4, 8 or 16), "index" or
            "index64" for an argsort, "packed" for the lower half of 64-bit words whose upper half is the key.
        order: "ascending" or "descending".
        target: the name of a target or a path ending in .toml; None picks the one that matches, or the generic one
            if that has no such sort.
        bit_range: whether calls may choose the bits to sort by.
        device_count: whether calls may take the count from a buffer on the device.
        run_boundaries: whether calls report where runs of equal keys start.
        epilogue: the text of the template for every sorted key; see docs/guides/epilogue.md.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type, value or order, or no sort that combines them.
        hsgen.core.errors.Unavailable: the device lacks what the target needs.
        hsgen.core.errors.Wrong: the kernels do not build, or the compiler crashes.
    """

    _rows_hint = ", or sort {rows} rows with a SegmentedSorter: segments={rows}"

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        bit_range: bool = False,
        device_count: bool = False,
        run_boundaries: bool = False,
        epilogue: str = "",
    ) -> None:
        host, how = host_of(context), self._name_keys(key, value, order)
        signature = Signature(
            value=self.value,
            key_transform=how.kind > 0 or how.descending,
            bit_range=bool(bit_range),
            device_count=bool(device_count),
            run_boundaries=bool(run_boundaries),
            epilogue=epilogue,
        )
        found, sort = serving(host, target, self.key, signature)
        super().__init__(context, host, found, sort, None if self.value == "packed" else TYPES[self.key].numpy)
        self._how = how

    @alone
    def __call__(
        self,
        queue: Any,
        keys: Any,
        out: Any = None,
        *,
        values: Any = None,
        values_out: Any = None,
        n: int | None = None,
        begin_bit: int = 0,
        end_bit: int | None = None,
        count: Any = None,
        discard_keys: bool = False,
        report: Any = None,
        shift: int = 0,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue a sort of the first `n` keys (by default all); return the event of its end.

        All buffers are `pyopencl.array.Array` or `pyopencl.Buffer` objects.  Without `out` and `values_out` the sort is
        in place; otherwise `keys` and `values` are only read.  An argsort always writes the indices of the keys to
        `values_out`; with `discard_keys` it does not write keys.  Keys are sorted by the bits from `begin_bit` to
        `end_bit`, exclusive (None: all above).  With `count`, a 32-bit number on the device, min(count, n) keys are
        sorted.  Nothing at or beyond n is written.  `report` receives at most n + 1 32-bit words: the number of runs
        of keys that are equal above bit `shift` of their ordered bits, then the ascending positions at which runs
        start; or the output of an epilogue, which also gets `shift`.

        Raises:
            TypeError: a wrong Python type, such as a numpy array, or None for `queue` or `keys`.
            ValueError: a missing, unexpected or invalid buffer; a bit range, count or report that the sorter was not
                made for; a shift beyond the key.
            hsgen.core.errors.Usage: n exceeds `max_n`, or the bit range is reversed or exceeds the key.
        """
        how = self._options(operator.index(begin_bit), end_bit, count is not None, bool(discard_keys))
        how = replace(how, shift=self._shift(operator.index(shift), report is not None))
        given = {"source": keys, "destination": out, "values": values, "values_out": values_out, "count": count}
        given["report"] = report
        self._check_given(given, how.discard)
        return self._run(queue, given, n, wait_for, how)

    def scratch_bytes(self, n: int, *, discard_keys: bool = False) -> int:
        """Return the bytes of scratch memory that a sort of `n` keys needs."""
        return scratch_bytes(self._sort, n, Options(discard=True) if discard_keys else PLAIN)

    def _options(self, begin: int, end: int | None, device_count: bool, discard: bool) -> Options:
        """The options of a call."""
        signature, bits = self._sort.signature, self._sort.plan.bits
        last = bits if end is None else operator.index(end)
        how = replace(self._how, begin=begin, end=last, discard=discard, device_count=device_count)
        bit_range(self._sort.plan, how)
        for wanted, made, word in (
            (
                (begin, last) != (0, bits),
                signature.bit_range,
                "begin_bit or end_bit is given; make the sorter with bit_range=True",
            ),
            (device_count, signature.device_count, "count is given; make the sorter with device_count=True"),
            (
                discard,
                signature.index,
                'discard_keys needs an argsort; make the sorter with value="index" or "index64"',
            ),
        ):
            if wanted and not made:
                raise ValueError(word)
        return how

    def _shift(self, shift: int, given: bool) -> int:
        """The lowest bit that the keys of a run have in common."""
        if given != (report_words(self._sort) != (0, 0)):
            raise ValueError(
                "report is given; make the sorter with run_boundaries=True, or with an epilogue that has a report"
                if given
                else "report is missing: this sorter reports run boundaries, or its epilogue writes a report"
            )
        if not 0 <= shift < (self._sort.plan.bits if given or self._sort.signature.epilogue else 1):
            raise ValueError(f"shift {shift}: give 0 to {self._sort.plan.bits - 1}, and a report")
        return shift

    def _check_given(self, given: Given, discard: bool) -> None:
        """Refuse unexpected and missing values."""
        signature = self._sort.signature
        for role, wanted in (
            ("values", signature.value_bytes and not signature.index),
            ("values_out", signature.value_bytes),
        ):
            if given[role] is not None and not wanted:
                does = f"makes {role[:6]} of its own" if signature.index else "has none; give value= when it is made"
                raise ValueError(f"{role} is given, but this sorter {does}")
        if signature.value_bytes and given["values_out" if signature.index else "values"] is None:
            what = (
                "values_out is missing: an argsort writes"
                if signature.index
                else "values is missing: this sorter takes"
            )
            raise ValueError(f"{what} {signature.value_bytes} bytes a key")
        if discard and given["destination"] is not None:
            raise ValueError("out and discard_keys are given; give one of them")
