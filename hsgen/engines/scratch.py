"""Scratch memory of sorts that run through pyopencl."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hsgen.system import toolchain

GUARD = 4096
"""The number of guard bytes after guarded scratch; a sort must not change these bytes."""


def cut(size: int, steps: Iterable[Iterable[int]]) -> dict[int, int]:
    """Divide `size` bytes of scratch into parts; return the size in bytes of each part by its offset.

    steps: the offsets that each step uses.  A part ends at the next offset of the same step.  Steps of different
    algorithms may divide scratch differently; the size of a part is then the greatest that a step needs.
    """
    sizes: dict[int, int] = {}
    for places in steps:
        begins = sorted(set(places))
        for a, b in zip(begins, [*begins[1:], size][: len(begins)], strict=True):
            sizes[a] = max(sizes.get(a, 0), b - a)
    return sizes


class Scratch:
    """Scratch memory, with one buffer for each part of `cut`.  Buffers grow as needed.

    Sub-buffers of a single buffer would suffice, but NVIDIA's driver crashes unless sub-buffers are released in the
    reverse order of their creation.  With `guarded`, new buffers are filled with bytes of 0xff.  `intact` then tells
    whether the memory after each part is unchanged.
    """

    def __init__(self, context: Any) -> None:
        self._cl = toolchain.pyopencl()
        self._context = context
        self._buffers: list[Any] = []
        self._sizes: dict[int, int] = {}
        self.guarded = False

    def ask(self, queue: Any, sizes: Mapping[int, int]) -> None:
        """Allocate buffers for the parts that `cut` returned as `sizes`; wait for the queue if memory is `guarded`."""
        if sizes == self._sizes:
            return
        for number, room in enumerate(sizes.values()):
            need = room + GUARD if self.guarded else room
            if number == len(self._buffers):
                self._buffers.append(None)
            if self._buffers[number] is None or self._buffers[number].size < need:
                self._buffers[number] = self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, need)
                if self.guarded:
                    self._fill(queue, number, 0xFF, 0, need)
            if self.guarded:
                self._fill(queue, number, 0x5A, room, GUARD)
        self._sizes = dict(sizes)

    def _fill(self, queue: Any, number: int, byte: int, at: int, size: int) -> None:
        self._cl.enqueue_fill_buffer(queue, self._buffers[number], np.uint8(byte), at, size).wait()

    def part(self, at: int) -> Any:
        """Return the buffer of the part at byte offset `at` of scratch."""
        return self._buffers[list(self._sizes).index(at)]

    def read(self, queue: Any, at: int, count: int) -> Any:
        """Wait for the queue; return the first `count` 32-bit words of the part at byte offset `at` of scratch."""
        words = np.empty(count, np.uint32)
        queue.finish()
        self._cl.enqueue_copy(queue, words, self.part(at), is_blocking=True)
        return words

    def intact(self, queue: Any) -> bool:
        """Whether the guard bytes are unchanged; always true for scratch that is not guarded."""
        if not self.guarded:
            return True
        guard = np.empty(GUARD, np.uint8)
        for buffer, size in zip(self._buffers, self._sizes.values(), strict=False):
            self._cl.enqueue_copy(queue, guard, buffer, src_offset=size, is_blocking=True)
            if not (guard == 0x5A).all():
                return False
        return True
