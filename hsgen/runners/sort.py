"""Sorts in the Python APIs: the options of a call, and its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import PLAIN, Options, scratch_bytes
from hsgen.core.keys import Signature
from hsgen.core.numbers import integer
from hsgen.runners.base import Base, Given
from hsgen.stages.attach import report_words

Numbers = tuple[int | None, int, int | None, bool, int]
"""The numbers of a call: n, begin_bit, end_bit, discard_keys, shift."""


class SortCalls(Base):
    """Calls of a sort of a whole array."""

    _rows_hint = ", or sort {rows} rows with a SegmentedSorter: segments={rows}"

    def scratch_bytes(self, n: int, *, discard_keys: bool = False) -> int:
        """Return the bytes of scratch memory that a sort of `n` keys needs.

        Raises:
            TypeError: n is no integer.
            hsgen.core.errors.OutOfRange: n is negative, or exceeds `max_n`.
        """
        options = Options(discard=True) if discard_keys else PLAIN
        return scratch_bytes(self._sort, integer("n", n, 0, self.max_n), options)

    def _signature(self, options: Options, features: Mapping[str, Any], epilogue: str) -> Signature:
        """Return the signature of the sort, with the optional `features` that are True."""
        turned = options.kind > 0 or options.descending
        enabled = {name: bool(on) for name, on in features.items()}
        return Signature(value=self.value, key_transform=turned, epilogue=epilogue, **enabled)

    def _integers(self, n: Any, begin: Any, end: Any, discard: Any, shift: Any) -> Numbers:
        """Return the numbers of a call as integers of Python, so that calls with equal numbers compare equal."""
        bits = self._sort.plan.bits
        return self._count(n), *self._bits(begin, end), bool(discard), integer("shift", shift, 0, bits - 1)

    def _asked(self, arrays: Given, begin: int, end: int | None, discard: bool, shift: int) -> Options:
        """Return the options of a call with these arrays, after checks."""
        options = self._options(begin, end, arrays["count"] is not None, discard)
        options = replace(options, shift=self._shift(shift, arrays["report"] is not None))
        self._check_given(arrays, options.discard)
        return options

    def _options(self, begin: int, end: int | None, device_count: bool, discard: bool) -> Options:
        """Return the options of a call, after checks that the sort supports them."""
        signature, bits = self._sort.signature, self._sort.plan.bits
        last = bits if end is None else end
        options = replace(self._how, begin=begin, end=last, discard=discard, device_count=device_count)
        for used, supported, word in (
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
            if used and not supported:
                raise ValueError(word)
        return options

    def _shift(self, shift: int, has_report: bool) -> int:
        """Return the lowest bit in which the keys of a run agree, after checks."""
        if has_report != (report_words(self._sort) != (0, 0)):
            raise ValueError(
                "report is given; make the sorter with run_boundaries=True, or with an epilogue that has a report"
                if has_report
                else "report is missing: this sorter reports run boundaries, or its epilogue writes a report"
            )
        if shift and not (has_report or self._sort.signature.epilogue):
            raise ValueError(f"shift {shift}: this sorter reports nothing; give 0")
        return shift

    def _check_given(self, arrays: Given, discard: bool) -> None:
        """Check for unexpected and missing values."""
        signature = self._sort.signature
        for role, takes in (
            ("values", signature.value_bytes and not signature.index),
            ("values_out", signature.value_bytes),
        ):
            if arrays[role] is not None and not takes:
                reason = f"makes {role[:6]} of its own" if signature.index else "has none; give value= when it is made"
                raise ValueError(f"{role} is given, but this sorter {reason}")
        if signature.value_bytes and arrays["values_out" if signature.index else "values"] is None:
            problem = (
                "values_out is missing: an argsort writes"
                if signature.index
                else "values is missing: this sorter takes"
            )
            raise ValueError(f"{problem} {signature.value_bytes} bytes a key")
        if discard and arrays["destination"] is not None:
            raise ValueError("out and discard_keys are given; give one of them")
