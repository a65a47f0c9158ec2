"""Scratch memory of sorts that run through pyopencl."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsgen import toolchain

GUARD = 4096
"""Bytes behind scratch that must survive a sort, where they are looked at."""


class Scratch:
    """Scratch memory: one buffer, grown as needed, and the parts of it that steps see.

    With `guarded` it is filled with bytes of 0xff when it is made, and `whole` tells whether anything was written
    behind the bytes that were asked for last.
    """

    def __init__(self, context: Any) -> None:
        self._cl = toolchain.pyopencl()
        self._context = context
        self._buffer: Any = None
        self._parts: dict[int, Any] = {}
        self._asked = 0
        self.guarded = False

    def ask(self, queue: Any, size: int) -> None:
        """Make room for `size` bytes, not 0; waits for the queue where `guarded` memory is filled."""
        room = size + GUARD if self.guarded else size
        fresh = self._buffer is None or self._buffer.size < room
        if fresh:
            while self._parts:  # in reverse order: NVIDIA's driver crashes on any other
                self._parts.popitem()
            self._buffer = self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, room)
        if self.guarded and (fresh or size != self._asked):
            if fresh:
                self._fill(queue, 0xFF, 0, room)
            self._fill(queue, 0x5A, size, GUARD)
            queue.finish()
        self._asked = size

    def _fill(self, queue: Any, byte: int, at: int, size: int) -> None:
        self._cl.enqueue_fill_buffer(queue, self._buffer, np.uint8(byte), at, size).wait()

    def part(self, at: int) -> Any:
        """Return the part that begins `at` bytes into it."""
        if at == 0:
            return self._buffer
        if at not in self._parts:
            self._parts[at] = self._buffer.get_sub_region(at, self._buffer.size - at)
        return self._parts[at]

    def read(self, queue: Any, at: int, count: int) -> Any:
        """Return `count` 32-bit words from `at` bytes on, once all on the queue is done."""
        words = np.empty(count, np.uint32)
        queue.finish()
        self._cl.enqueue_copy(queue, words, self._buffer, src_offset=at, is_blocking=True)
        return words

    def whole(self, queue: Any) -> bool:
        """Return whether the guard is as it was written."""
        if not self.guarded or self._buffer is None:
            return True
        guard = np.empty(GUARD, np.uint8)
        self._cl.enqueue_copy(queue, guard, self._buffer, src_offset=self._asked, is_blocking=True)
        return bool((guard == 0x5A).all())
