"""Scratch memory of sorts that run through pyopencl."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hsgen.system import toolchain

GUARD = 4096
"""Bytes behind scratch that must survive a sort, where they are looked at."""


def cut(size: int, steps: Iterable[Iterable[int]]) -> dict[int, int]:
    """Return the parts of `size` bytes of scratch that `steps` see from these places on, as bytes by place.

    A part ends where the next one of the same step begins: steps of different algorithms may see scratch cut in
    different ways.
    """
    sizes: dict[int, int] = {}
    for places in steps:
        begins = sorted(set(places))
        for a, b in zip(begins, [*begins[1:], size][: len(begins)], strict=True):
            sizes[a] = max(sizes.get(a, 0), b - a)
    return sizes


class Scratch:
    """Scratch memory: one buffer for each place at which steps see a part of it, grown as needed.

    Parts of one buffer would do as well, but NVIDIA's driver crashes when they are released in another order than
    the reverse of their creation.  With `guarded` buffers are filled with bytes of 0xff when they are made, and
    `whole` reports whether memory after the last requested size was left intact.
    """

    def __init__(self, context: Any) -> None:
        self._cl = toolchain.pyopencl()
        self._context = context
        self._buffers: list[Any] = []
        self._sizes: dict[int, int] = {}
        self.guarded = False

    def ask(self, queue: Any, sizes: Mapping[int, int]) -> None:
        """Make room for the parts that `cut` returned.  Waits for the queue where `guarded` memory is filled."""
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
        """Return the buffer of the part that begins `at` bytes into it."""
        return self._buffers[list(self._sizes).index(at)]

    def read(self, queue: Any, at: int, count: int) -> Any:
        """Return `count` 32-bit words from `at` bytes on, where a part begins, once all on the queue is done."""
        words = np.empty(count, np.uint32)
        queue.finish()
        self._cl.enqueue_copy(queue, words, self.part(at), is_blocking=True)
        return words

    def whole(self, queue: Any) -> bool:
        """Return whether the guards are as they were written."""
        if not self.guarded:
            return True
        guard = np.empty(GUARD, np.uint8)
        for buffer, size in zip(self._buffers, self._sizes.values(), strict=False):
            self._cl.enqueue_copy(queue, guard, buffer, src_offset=size, is_blocking=True)
            if not (guard == 0x5A).all():
                return False
        return True
