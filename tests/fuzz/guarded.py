"""Calls of a sort whose buffers are host memory that ends, or starts, at a guard page.

A CPU's OpenCL runtime uses such memory in place.  An access one element beyond a buffer then ends the process, and so
does a write to a read-only array.  On its other side, each array has guard bytes that must survive.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.engines.compiled import Compiled
from hsgen.operations.calls import UNTOUCHED, Call
from hsgen.system import toolchain

PAGE = mmap.PAGESIZE
MARGIN = 4096
"""Guard bytes on the open side of an array."""
_MARK, _UNIT = 0x5A, 16
_NONE, _READ, _WRITE = 0, 1, 2
_libc = ctypes.CDLL(None, use_errno=True)
_AT = "__kernel void at(__global uchar *x, __global ulong *out) { *out = (ulong)x; }"

Bytes = NDArray[np.uint8]


class Copied(Exception):
    """The runtime copies host memory, so guards would prove nothing."""


def _protect(address: int, size: int, how: int) -> None:
    if _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), how):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Arena:
    """Host memory between two inaccessible pages."""

    def __init__(self, room: int) -> None:
        self.room = -(-room // PAGE) * PAGE
        self._map = mmap.mmap(-1, self.room + 2 * PAGE)
        self.bytes: Bytes = np.frombuffer(self._map, np.uint8)
        self.address = self.bytes.ctypes.data
        _protect(self.address, PAGE, _NONE)
        _protect(self.address + PAGE + self.room, PAGE, _NONE)

    def begin(self, size: int, *, at_end: bool) -> int:
        """Return the address of an array of `size` bytes; an empty array lies in an inaccessible page."""
        if not size:
            return PAGE + self.room if at_end else 0
        return PAGE + self.room - size if at_end else PAGE

    def writable(self, yes: bool) -> None:
        """Allow or forbid writing between the guards."""
        _protect(self.address + PAGE, self.room, _READ | _WRITE if yes else _READ)


class Array:
    """An array in an arena, with its OpenCL buffer."""

    def __init__(self, memory: Memory, arena: Arena, image: Bytes, *, at_end: bool, read_only: bool) -> None:
        self._arena, self._size, self._read_only = arena, len(image), read_only
        self._begin = arena.begin(len(image), at_end=at_end)
        low, high = self._begin - MARGIN, self._begin + len(image) + MARGIN
        self._margin = slice(max(low, PAGE), min(high, PAGE + arena.room)) if len(image) else slice(0, 0)
        arena.writable(True)
        arena.bytes[self._margin] = _MARK
        arena.bytes[self._begin : self._begin + len(image)] = image
        if read_only:
            arena.writable(False)
        self.buffer = memory.buffer(arena, self._begin, len(image))

    def now(self) -> Bytes:
        """Return the content of the array."""
        return self._arena.bytes[self._begin : self._begin + self._size].copy() if self._size else np.zeros(0, np.uint8)

    def problem(self) -> str | None:
        """Return which guard byte was overwritten, or None."""
        data = self._arena.bytes[self._margin]
        inside = slice(self._begin - self._margin.start, self._begin - self._margin.start + self._size)
        rest = data != _MARK
        rest[inside] = False
        wrong = np.flatnonzero(rest)
        return f"byte {int(wrong[0]) - inside.start} of {self._size} was overwritten" if len(wrong) else None


class Memory:
    """The arenas of one context, reused by all calls."""

    def __init__(self, context: Any) -> None:
        self._cl = toolchain.pyopencl()
        self.context, self.queue = context, self._cl.CommandQueue(context)
        self._arenas: dict[str, Arena] = {}
        self._at = self._cl.Program(context, _AT).build().at
        self._seen = np.zeros(1, np.uint64)
        flags = self._cl.mem_flags.READ_WRITE | self._cl.mem_flags.USE_HOST_PTR
        self._out = self._cl.Buffer(context, flags, hostbuf=self._seen)

    def array(self, name: str, image: Bytes, *, at_end: bool, read_only: bool = False) -> Array:
        """Return the array `name`, filled with `image`."""
        if name not in self._arenas or self._arenas[name].room < len(image) + MARGIN:
            self._arenas[name] = Arena(max(2 * len(image), 1 << 16) + MARGIN)
        return Array(self, self._arenas[name], image, at_end=at_end, read_only=read_only)

    def buffer(self, arena: Arena, begin: int, size: int) -> Any:
        """Return a buffer of host memory.

        Raises:
            Copied: kernels see the buffer at another address.
        """
        flags = self._cl.mem_flags.READ_WRITE | self._cl.mem_flags.USE_HOST_PTR
        made = self._cl.Buffer(self.context, flags, hostbuf=arena.bytes[begin : begin + max(size, 4)])
        self._seen[0] = 0
        self._at.set_args(made, self._out)
        self._cl.enqueue_nd_range_kernel(self.queue, self._at, (1,), (1,))
        self.queue.finish()
        if int(self._seen[0]) != arena.address + begin:
            raise Copied("a kernel does not see the memory of the host where it is")
        return made


class Scratch:
    """Guarded scratch memory, like `hsgen.engines.scratch.Scratch`; filled with `fill` before a call."""

    def __init__(self, memory: Memory) -> None:
        self.guarded = False
        self._memory, self.at_end, self.fill = memory, True, 0xFF
        self._arrays: dict[int, Array] = {}

    def ask(self, queue: Any, sizes: Mapping[int, int]) -> None:
        """Allocate the parts that `hsgen.engines.scratch.cut` returns."""
        self._arrays = {}
        for number, (at, size) in enumerate(sizes.items()):
            whole = -(-size // _UNIT) * _UNIT
            image = np.full(whole, self.fill, np.uint8)
            self._arrays[at] = self._memory.array(f"scratch {number}", image, at_end=self.at_end)

    def part(self, at: int) -> Any:
        """Return the buffer of the part at byte offset `at` of scratch."""
        return self._arrays[at].buffer

    def read(self, queue: Any, at: int, count: int) -> NDArray[np.uint32]:
        """Return the first words of a part."""
        queue.finish()
        return self._arrays[at].now()[: 4 * count].view(np.uint32)

    def intact(self, queue: Any) -> bool:
        """Return whether all guard bytes of the parts survived."""
        return all(a.problem() is None for a in self._arrays.values())


class Guarded:
    """A compiled sort, called with guarded arrays."""

    def __init__(self, memory: Memory, compiled: Compiled) -> None:
        self._memory, self._compiled, self._sort = memory, compiled, compiled.sort
        self._scratch = Scratch(memory)
        compiled.scratch = self._scratch  # type: ignore[assignment]

    def run(self, call: Call, sides: Iterable[bool], fill: int) -> str | None:
        """Sort with each array at the end or the start of its memory, by `sides`, and scratch filled with `fill`.

        Return what is wrong, or None.
        """
        ends = iter(sides)
        images, after = _images(call)
        self._scratch.at_end, self._scratch.fill = next(ends), fill
        arrays, buffers = {}, {}
        for role, image in images.items():
            arrays[role] = self._memory.array(role, image, at_end=next(ends), read_only=role not in after)
            buffers[role] = arrays[role].buffer
        buffers |= {role: buffers[owner] for role, owner in call.shared.items()}
        if call.in_place:
            buffers["destination"] = buffers["source"]
            if "values" in buffers:
                buffers["values_out"] = buffers["values"]
        self._compiled.run(self._memory.queue, buffers, call.n, None, call.how)
        self._memory.queue.finish()
        if not self._scratch.intact(self._memory.queue):
            return "memory next to scratch was overwritten"
        for role, array in arrays.items():
            if problem := array.problem():
                return f"next to {role}: {problem}"
            now = array.now()
            expected = after.get(role, images[role])
            if role == "report" and call.report_room is not None:
                continue  # only its user knows the right content
            if not np.array_equal(now, expected):
                at = int(np.flatnonzero(now != expected)[0])
                return f"byte {at} of {role} is {now[at]}, should be {expected[at]}"
        if self._sort.operation == "segmented_sort" and self._compiled.device_status(self._memory.queue):
            return "offsets that can be were refused"
        return None


def _flat(array: NDArray[Any]) -> Bytes:
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)


def _read(array: NDArray[Any], call: Call) -> Bytes:
    """The bytes of an array that is read; packs read their columns as whole words."""
    image = _flat(array)
    return np.concatenate([image, np.full(-len(image) % 4, 0xA7, np.uint8)]) if call.how.columns else image


def _images(call: Call) -> tuple[dict[str, Bytes], dict[str, Bytes]]:
    """The bytes of each role before a call, and those of the written roles after it."""
    before, after = {"source": _read(call.keys, call)}, dict[str, Bytes]()
    if call.expected is not None:
        expected = _flat(call.expected)
        total = max(len(before["source"]), len(expected))
        if call.in_place:
            after["source"] = np.concatenate([expected, before["source"][len(expected) :]])
        else:
            before["destination"] = np.full(total, 0xA7, np.uint8)
            after["destination"] = np.concatenate([expected, before["destination"][len(expected) :]])
    if call.values is not None:
        before["values"] = _read(call.values, call)
    if call.values_expected is not None:
        expected = _flat(call.values_expected)
        rows = len(call.keys) + (0 if call.other_values is None else len(call.other_values))
        if call.in_place and call.values is not None:
            after["values"] = np.concatenate([expected, before["values"][len(expected) :]])
        else:
            size = max(rows * call.values_expected.shape[1] * 4, len(expected))  # gathers move several values an index
            before["values_out"] = np.full(size, UNTOUCHED & 0xFF, np.uint8)
            after["values_out"] = np.concatenate([expected, before["values_out"][len(expected) :]])
    for role, array in (("other", call.other), ("other_values", call.other_values)):
        if array is not None:
            before[role] = _read(array, call)
    if call.count is not None:
        before["count"] = _flat(np.array([call.count], np.uint32))
    if call.report is not None or call.report_room is not None:
        stated = np.zeros(0, np.uint8) if call.report is None else _flat(call.report)
        room = 4 * (call.n + 1 if call.report_room is None else call.report_room)
        before["report"] = np.full(max(room, len(stated)), 0xA7, np.uint8)
        after["report"] = np.concatenate([stated, before["report"][len(stated) :]])
    return before, after
