"""Sorting pyopencl arrays and buffers: build once, sort as often as wanted.

>>> sorter = Sorter(queue.context, "u32")      # picks the target that matches the device
>>> sorter(queue, keys)                        # in place; returns the event
>>> sorter(queue, keys, out=sorted_keys)       # into another array
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hsgen.core.errors import Unavailable, Usage
from hsgen.core.interpreter import PLAIN, Options, bit_range, scratch_bytes
from hsgen.core.keys import ORDERS, TYPES, VALUES, Form
from hsgen.core.sort import Sort
from hsgen.engines import hosts
from hsgen.opencl.runner import Given, Runner, alone
from hsgen.stages.attach import report_words
from hsgen.targets import target as targets
from hsgen.targets.target import Target


class Sorter(Runner):
    """A sort of keys of one type, compiled for a context of one device; docs/reference/semantics.md defines the order.

    A sort that needs scratch memory allocates it when it is first called, and keeps as much as the greatest n so far
    needed; `scratch_bytes` tells how much that is.  Calls of one sorter then wait for each other on the device, also
    on different queues.

    Args:
        context: a `pyopencl.Context`; its first device decides the target.
        key: "u8" to "u64", "i8" to "i64", "f16", "f32" or "f64", or the numpy type of such keys.
        target: the name of a target or a path ending in .toml; None picks the one that matches, or the generic one
            where that has no such sort.
        value: what goes along with each key: None, a numpy type or a number of bytes (4, 8 or 16), "index" or
            "index64" for an argsort, "packed" for the lower half of 64-bit words whose upper half is the key.
        order: "ascending" or "descending".
        bit_range: whether calls may choose the bits that keys are sorted by.
        device_count: whether calls may leave the count to a buffer on the device.
        changes: whether calls are told where runs of equal keys begin.
        epilogue: the text of what is done with every sorted key, see docs/guides/epilogue.md.

    Raises:
        hsgen.core.errors.Usage: there is no such target, key type, value or order, or no sort that combines them.
        hsgen.core.errors.Unavailable: the device lacks what the target needs.
        hsgen.core.errors.Wrong: the kernels do not build, or the compiler crashes.
    """

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        target: str | None = None,
        *,
        value: Any = None,
        order: str = "ascending",
        bit_range: bool = False,
        device_count: bool = False,
        changes: bool = False,
        epilogue: str = "",
    ) -> None:
        self.key, self.value, self.order = key_name(key), value_name(value), order
        if order not in ORDERS:
            raise Usage(f"order {order}: unknown; give {' or '.join(ORDERS)}")
        kind = TYPES[self.key].kind
        form = Form(
            value=self.value,
            typed=kind > 0 or order == "descending",
            ranged=bool(bit_range),
            counted=bool(device_count),
            changes=bool(changes),
            epilogue=epilogue,
        )
        host = host_of(context)
        found, sort = serving(host, target, self.key, form)
        super().__init__(context, host, found, sort, None if self.value == "packed" else TYPES[self.key].numpy)
        self._how = Options(kind=kind, descending=order == "descending")

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
        """Enqueue a sort of the first `n` keys (all by default); return the event of its end.

        All that holds keys, values or a count is a `pyopencl.array.Array` or a `pyopencl.Buffer`.  Without `out` and
        `values_out` the sort is in place, otherwise `keys` and `values` are only read.  An argsort always writes the
        places that keys had to `values_out`, and leaves keys as they are with `discard_keys`.  Keys are sorted by
        the bits from `begin_bit` up to, not including, `end_bit` (None: to the last).  With `count`, a 32-bit number
        on the device, min(count, n) keys are sorted.  Nothing at or beyond n is written.  `report`, of a sorter that
        tells changes, gets n + 1 32-bit words at most: the number of runs of keys that are equal from bit `shift` of
        their ordered bits on, then the ascending places at which runs begin; of one with an epilogue what that writes.
        An epilogue is told `shift`.

        Raises:
            TypeError: a wrong Python type, such as a numpy array.
            ValueError: buffers that this sorter does not take or that are missing, too short, strided, misaligned,
                of wrong elements or another context, or overlap; a bit range, a count or a report that it was not made
                for, or a shift beyond the key.
            hsgen.core.errors.Usage: n is beyond `max_n`, or the bit range out of order or beyond the key.
        """
        how = self._options(operator.index(begin_bit), end_bit, count is not None, bool(discard_keys))
        how = replace(how, parts=self._shift(operator.index(shift), report is not None))
        given = {"source": keys, "destination": out, "values": values, "values_out": values_out, "count": count}
        given["report"] = report
        self._check_given(given, how.discard)
        return self._run(queue, given, n, wait_for, how)

    def scratch_bytes(self, n: int, *, discard_keys: bool = False) -> int:
        """Return the bytes of scratch memory that a sort of `n` keys needs."""
        return scratch_bytes(self._sort, n, Options(discard=True) if discard_keys else PLAIN)

    def _options(self, begin: int, end: int | None, counted: bool, discard: bool) -> Options:
        """The options of a call."""
        form, bits = self._sort.form, self._sort.plan.bits
        last = bits if end is None else operator.index(end)
        how = replace(self._how, begin=begin, end=last, discard=discard, counted=counted)
        bit_range(self._sort.plan, how)
        for wanted, made, word in (
            (
                (begin, last) != (0, bits),
                form.ranged,
                "begin_bit or end_bit is given; make the sorter with bit_range=True",
            ),
            (counted, form.counted, "count is given; make the sorter with device_count=True"),
            (discard, form.index, 'discard_keys goes with an argsort; make the sorter with value="index" or "index64"'),
        ):
            if wanted and not made:
                raise ValueError(word)
        return how

    def _shift(self, shift: int, given: bool) -> int:
        """The bit from which on keys of a run are equal."""
        if given != (report_words(self._sort) != (0, 0)):
            raise ValueError(
                "report is given; make the sorter with changes=True, or with an epilogue that has a report"
                if given
                else "report is missing: this sorter tells where runs of equal keys begin, or what its epilogue does"
            )
        if not 0 <= shift < (self._sort.plan.bits if given or self._sort.form.epilogue else 1):
            raise ValueError(f"shift {shift}: give 0 to {self._sort.plan.bits - 1}, and a report")
        return shift

    def _check_given(self, given: Given, discard: bool) -> None:
        """Refuse values that the sort does not have, and the lack of those that it has."""
        form = self._sort.form
        for role, wanted in (("values", form.value_bytes and not form.index), ("values_out", form.value_bytes)):
            if given[role] is not None and not wanted:
                does = f"makes {role[:6]} of its own" if form.index else "has none; say value= when it is made"
                raise ValueError(f"{role} is given, but this sorter {does}")
        if form.value_bytes and given["values_out" if form.index else "values"] is None:
            what = "values_out is missing: an argsort writes" if form.index else "values is missing: this sorter takes"
            raise ValueError(f"{what} {form.value_bytes} bytes a key")
        if discard and given["destination"] is not None:
            raise ValueError("out and discard_keys are given; give one of them")


def serving(host: hosts.Host, name: str | None, key: str, form: Form, label: str = "") -> tuple[Target, Sort]:
    """Return the target called `name`, or the one that matches the device, with its sort for any count, or what it has
    of the algorithm `label`.

    Raises:
        Usage: there is no such target, or it has no such sort, and without a name the generic one has none either.
    """
    found = target_of(host, name)
    try:
        return found, found.sort(label, key, form) if label else found.default(key, form)
    except Usage:
        if name:
            raise
    found = targets.find("generic")
    return found, found.sort(label, key, form) if label else found.default(key, form)


def host_of(context: Any) -> hosts.Host:
    """Return the first device of a context.

    Raises:
        Unavailable: it is a part of a device.
    """
    host = next((h for h in hosts.hosts() if h.handle == context.devices[0]), None)
    if host is None:
        raise Unavailable(
            f"{context.devices[0].name.strip()}: is no whole device of a platform; give its parent's context"
        )
    return host


def target_of(host: hosts.Host, name: str | None) -> Target:
    """Return the target called `name`, or the one that matches the device.

    Raises:
        Usage: there is no such target.
    """
    return targets.find(name) if name else hosts.target_for(host, [targets.find(n) for n in targets.names()])


def key_name(key: Any) -> str:
    """Return hsgen's name of a key type: of its name, or of a numpy type in this machine's byte order.

    Raises:
        Usage: it is none.
    """
    if isinstance(key, str) and key in TYPES:
        return key
    hint = f"give {', '.join(TYPES)} or the numpy type"
    try:
        dtype = np.dtype(key)
    except TypeError:
        raise Usage(f"key type {key}: unknown; {hint}") from None
    name = f"{dtype.kind}{dtype.itemsize * 8}"
    if key is None or not dtype.isnative or name not in TYPES:
        raise Usage(f"key type {key}: not a number of this machine; {hint}")
    return name


def value_name(value: Any) -> str:
    """Return hsgen's name of what is sorted along: of its name, a number of bytes, or a numpy type.

    Raises:
        Usage: it is none.
    """
    if value is None or (isinstance(value, str) and value in VALUES):
        return value or "none"
    try:
        size = value if isinstance(value, int) else np.dtype(value).itemsize
    except TypeError:
        size = 0
    if f"v{size}" in VALUES:
        return f"v{size}"
    raise Usage(f"value {value}: give a numpy type or a number of bytes, 4, 8 or 16, or index, index64 or packed")
