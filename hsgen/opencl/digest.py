"""Digests (checksums) of pyopencl arrays, by which a program verifies a sort without copying the arrays to the host.

>>> checker = Checker(queue.context, "f32", value=4)
>>> before = checker(queue, keys, values)                 # before the sort
>>> after = checker(queue, keys, values)                  # and after it
>>> assert after.faults(before) == ()
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from hsgen.opencl.runner import Runner
from hsgen.operations.digest import WORDS, Digest, read
from hsgen.runners.base import alone
from hsgen.runners.digest import DigestCalls
from hsgen.system import toolchain


class Checker(Runner):
    """Digests of arrays of keys of one type, compiled for a context of one device; see docs/guides/digest.md.

    Args:
        context: a `pyopencl.Context`; its first device determines the target.
        key, value, order, target: as in `hsgen.opencl.Sorter`.  With the value "index", the checker digests the input
            of an argsort: each key with its index.  To digest the output of the argsort, use a checker with values of 4
            bytes, or of 8 bytes for "index64".
        bit_range: whether calls may choose the bits by which keys are compared.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type, value or order.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    _calls: DigestCalls

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        bit_range: bool = False,
    ) -> None:
        super().__init__(context, target, DigestCalls(key, value, order, bit_range=bit_range))
        self._report: Any = None

    @alone
    def __call__(
        self,
        queue: Any,
        keys: Any,
        values: Any = None,
        *,
        n: int | None = None,
        size: int = 0,
        begin_bit: int = 0,
        end_bit: int | None = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Digest:
        """Digest the first `n` keys (by default all) with their values; wait for the digest and return it.

        With a `size` above n, the digest also covers the elements from n up to `size`, which a sort of n keys must not
        change.  With the default 0, the digest covers only the first n elements.  Pass 0 for an argsort, whose index
        array has no defined contents before the sort.  The arrays are only read.

        Raises:
            TypeError: an argument has a wrong Python type, such as a numpy array.
            ValueError: a buffer is missing, unexpected or invalid, the checker does not support the bit range, or the
                size is negative.
            hsgen.core.errors.Usage: n or size exceeds `max_n`, or the bit range is reversed or exceeds the key.
        """
        numbers = self._calls.integers(n, size, begin_bit, end_bit)
        cl = toolchain.pyopencl()
        self._report = self._report or cl.Buffer(self._context, cl.mem_flags.READ_WRITE, 4 * WORDS)
        event = self._run(queue, (keys, values, self._report), numbers, wait_for)
        words = np.empty(WORDS, np.uint32)
        cl.enqueue_copy(queue, words, self._report, wait_for=[event]).wait()
        return read(words)
