"""Scratch memory of sorts that run through pyopencl."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hsgen.system import toolchain

GUARD = 4096
"""The number of guard bytes after each buffer, if scratch memory is guarded; a sort must not change these bytes."""


def cut(size: int, steps: Iterable[Iterable[int]]) -> dict[int, int]:
    """Divide `size` bytes of scratch into parts; return the size in bytes of each part by its byte offset.

    steps: for each kernel launch, the offsets in scratch memory at which its buffers begin.  A buffer of a launch ends
    where the next buffer of the same launch begins.  If buffers of several launches begin at the same offset, the part
    has the size of the largest.
    """
    sizes: dict[int, int] = {}
    for places in steps:
        begins = sorted(set(places))
        for a, b in zip(begins, [*begins[1:], size][: len(begins)], strict=True):
            sizes[a] = max(sizes.get(a, 0), b - a)
    return sizes


class Scratch:
    """Scratch memory: a buffer for each part that `cut` returns.  Buffers grow as needed.

    Parts are not sub-buffers of a single buffer, because NVIDIA's driver crashes unless sub-buffers are released in the
    reverse order of their creation.

    guarded: whether guard bytes follow each part; `intact` then returns whether they are unchanged.  New guarded
    buffers are filled with bytes 0xff, so that sorts do not rely on zeros.
    """

    def __init__(self, context: Any) -> None:
        self._cl = toolchain.pyopencl()
        self._context = context
        self._buffers: list[Any] = []
        self._sizes: dict[int, int] = {}
        self.guarded = False

    def ask(self, queue: Any, sizes: Mapping[int, int]) -> None:
        """Provide a buffer for each part; `sizes` is a result of `cut`.  If `guarded`, wait until the guard bytes are
        filled.
        """
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
        """Return the buffer for the part of scratch at byte offset `at`."""
        return self._buffers[list(self._sizes).index(at)]

    def read(self, queue: Any, at: int, count: int) -> Any:
        """Wait for the queue, and return the first `count` 32-bit words of the part of scratch at byte offset `at`."""
        words = np.empty(count, np.uint32)
        queue.finish()
        self._cl.enqueue_copy(queue, words, self.part(at), is_blocking=True)
        return words

    def intact(self, queue: Any) -> bool:
        """Return True if the guard bytes are unchanged, and always for scratch memory that is not guarded."""
        if not self.guarded:
            return True
        guard = np.empty(GUARD, np.uint8)
        for buffer, size in zip(self._buffers, self._sizes.values(), strict=False):
            self._cl.enqueue_copy(queue, guard, buffer, src_offset=size, is_blocking=True)
            if not (guard == 0x5A).all():
                return False
        return True
