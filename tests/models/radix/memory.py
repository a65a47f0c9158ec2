"""Common parts of the radix sort models: buffers, scratch, and unpacked arguments.

Buffers have the numbers that kernels use: 0 is the source, 1 the destination, 2 the buffer in scratch; so have values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix import Params
from hsgen.core.flags import DESCENDING, DEVICE_COUNT, DIRECT, DISCARD, FLOAT, REDO, SIGNED
from hsgen.core.interpreter import Launch, digit, passes
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, BitRange, PassCount
from hsgen.core.plan import Pass as Pass_
from hsgen.operations import oracle

Keys = NDArray[np.unsignedinteger]
Values = NDArray[np.unsignedinteger]
Places = NDArray[np.intp]
_ROLES = {
    "source": "source",
    "destination": "destination",
    "values_in": "values",
    "values_out": "values_out",
    "device_n": "count",
}


class Fault(Exception):
    """An illegal operation of a kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """A launch: its unpacked argument, its work-groups and its keys.

    number, shift, mask: of a pass.  begin, end: of the bits, if a kernel handles all passes.
    """

    number: int
    shift: int
    mask: int
    begin: int
    end: int
    redo: bool
    direct: bool
    discard: bool
    kind: int
    descending: bool
    groups: int
    n: int


def unpacked(p: Params, launch: Launch, n: int) -> Pass:
    """Unpack the argument of a launch as its kernel does.

    Raises:
        Fault: the argument requests an option that kernels of this signature do not support.
    """
    arg, signature = launch.argument, p.signature
    kind = 2 if arg & FLOAT else 1 if arg & SIGNED else 0
    at = Pass(
        number=arg & 255,
        shift=arg >> 8 & 255,
        mask=(1 << (arg >> 16 & 15)) - 1,
        begin=arg >> 8 & 255,
        end=arg & 255,
        redo=bool(arg & REDO),
        direct=bool(arg & DIRECT),
        discard=bool(arg & DISCARD),
        kind=kind,
        descending=bool(arg & DESCENDING),
        groups=launch.groups,
        n=n,
    )
    if (kind or at.descending) and not signature.key_transform:
        raise Fault("kernels without key transform get another type or order")
    if (at.discard and not signature.index) or (arg & DEVICE_COUNT and not signature.device_count):
        raise Fault("kernels get an unsupported flag")
    if not signature.bit_range:  # constants are not read from arguments
        end = p.key.bits if p.end is None else p.end
        given = launch.step.argument
        digits = {(shift, (1 << width) - 1) for shift, width in p.digits}
        if isinstance(given, Pass_) and (at.shift, at.mask) not in digits:
            raise Fault(f"a pass over a digit at bit {at.shift}, which this sort does not have")
        if isinstance(given, BitRange) and (at.begin, at.end) != (p.begin, end):
            raise Fault("kernels for all bits get a bit range")
        if isinstance(given, PassCount) and at.number != len(p.digits):
            raise Fault("kernels for all bits get a bit range")
    return at


@dataclass(slots=True)
class Memory:
    """The three buffers of keys and of values, and the parts of scratch by name; `words`: those of hybrid sorts.

    `drawn`: the tiles of each pass so far; `bases`: where the next ones of the last pass begin.
    `unsorted`: whether keys are out of order, if a sort checks it.  `scratch`: the bytes of it.
    `sample`: what a sample of keys alone has shown.
    """

    buffers: list[Keys]
    values: list[Values | None]
    in_place: bool
    where: dict[int, int] = field(default_factory=dict)
    order: dict[int, int] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    unsorted: bool = True
    table: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    totals: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    drawn: dict[int, int] = field(default_factory=dict)
    bases: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    histogram: list[NDArray[np.int64]] = field(default_factory=list)
    bound: dict[str, Binding] = field(default_factory=dict)
    words: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    scratch: int = 0
    sample: Any = None

    def bind(self, kernel: Kernel, bindings: tuple[Binding, ...]) -> None:
        """Check that a kernel's buffers are bound by role, and in scratch always at the same offsets.

        What one work-group sorts alone leaves nothing in scratch to others, and may have it at offsets of its own.
        """
        bound = {} if kernel.name == "single" else self.bound
        for buffer, binding in zip(kernel.buffers, bindings, strict=True):
            if binding.role != _ROLES.get(buffer.name, "scratch") or bound.setdefault(buffer.name, binding) != binding:
                raise Fault(f"{kernel.name} has another buffer instead of {buffer.name}")

    def look(self, p: Params, n: int, at: Pass, bits: tuple[int, int]) -> None:
        """If the sort does so, check whether keys are out of order by the bits from the first up to the second."""
        if p.sorted_exit:
            begin, end = bits
            by = oracle.ordered(self.buffers[0][:n], at.kind, descending=at.descending)
            by = by >> by.dtype.type(begin) & by.dtype.type((1 << end - begin) - 1) if begin < end else by * 0
            self.unsorted = bool((by[:-1] > by[1:]).any())

    def digits(self, number: int, at: Pass, shift: int, mask: int) -> NDArray[np.int64]:
        """Return the digits of the keys of a buffer, after the key transform."""
        return digits_of(self.buffers[number][: at.n], at, shift, mask)

    def entries(self, p: Params, number: int, n: int) -> tuple[Keys, Values | None]:
        """Return copies of the keys in a buffer and of their values; indices are generated at first, not read."""
        keys = self.buffers[number][:n].copy()
        if not p.valued:
            return keys, None
        if p.signature.index and number == 0:
            return keys, np.arange(n).astype(f"u{p.signature.value_bytes}").view(np.uint32).reshape(n, -1)
        values = self.values[number]
        if values is None:
            raise Fault("a kernel reads absent values")
        return keys, values[:n].copy()

    def store(self, to: int, place: Places, entries: tuple[Keys, Values | None], at: Pass) -> None:
        """Store keys and values; writing a read-only source is a fault."""
        keys, values = entries
        if to == 0:
            raise Fault("a kernel writes the source")
        if not at.discard:
            self.buffers[to][place] = keys
        out = self.values[to]
        if values is not None and out is not None:
            out[place] = values

    def may_move(self, place: int, following: int) -> None:
        """Check that a pass does not store where it reads."""
        if following == place or (self.in_place and {following, place} == {0, 1}):
            raise Fault("a pass stores where it reads")


def digits_of(keys: Keys, at: Pass, shift: int, mask: int) -> NDArray[np.int64]:
    """Return the digits of keys, after the key transform."""
    by = oracle.ordered(keys, at.kind, descending=at.descending)
    return ((by >> by.dtype.type(shift)).astype(np.uint64) & np.uint64(mask)).astype(np.int64)


def all_digits(p: Params, at: Pass) -> list[tuple[int, int]]:
    """Return shift and mask of every digit, for a kernel that handles all passes."""
    count = passes(at.begin, at.end, p.digit)
    found = (digit(at.begin, at.end, p.digit, number) for number in range(count))
    return [(shift, (1 << width) - 1) for shift, width in found]
