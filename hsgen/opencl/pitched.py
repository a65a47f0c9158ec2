"""Copies of columns of records in buffers of pyopencl: one run of bytes per record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hsgen.runners.rows import Column
from hsgen.system import toolchain


def copy(queue: Any, to: Column, source: Column, size: int, n: int, wait_for: Sequence[Any] | None = None) -> Any:
    """Enqueue the copy of `size` bytes of each of `n` records; return the event of its end."""
    return toolchain.pyopencl().enqueue_copy(
        queue,
        to.root,
        source.root,
        src_origin=(source.at, 0, 0),
        dst_origin=(to.at, 0, 0),
        region=(size, n, 1),
        src_pitches=(source.pitch, source.pitch * n),
        dst_pitches=(to.pitch, to.pitch * n),
        wait_for=wait_for,
    )


def fill(queue: Any, buffer: Any, size: int, wait_for: Sequence[Any] | None = None) -> Any:
    """Enqueue the filling of the first `size` bytes of a buffer with zeros; return the event of its end."""
    return toolchain.pyopencl().enqueue_fill_buffer(queue, buffer, b"\0", 0, size, wait_for=wait_for)
