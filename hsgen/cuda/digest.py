"""Digests (checksums) of arrays on NVIDIA GPUs, by which a program verifies a sort without copying the arrays to the
host.

>>> checker = Checker("f32", value=4)
>>> before = checker(keys, values)                        # before the sort
>>> after = checker(keys, values)                         # and after it
>>> assert after.faults(before) == ()
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from hsgen.core.plan import ROLES
from hsgen.cuda.driver import bindings, done
from hsgen.cuda.prepared import wait
from hsgen.cuda.runner import Checked, Runner
from hsgen.operations.digest import WORDS, Digest, read
from hsgen.runners.base import alone
from hsgen.runners.digest import DigestCalls

_REPORT = ROLES.index("report")


class Checker(Runner):
    """Digests of arrays of keys of one type on one GPU; see docs/guides/digest.md.

    Args:
        key, value, order, target, device: as in `hsgen.cuda.Sorter`.  With the value "index", the checker digests the
            input of an argsort: each key with its index.  To digest the output of the argsort, use a checker with
            values of 4 bytes, or of 8 bytes for "index64".
        bit_range: whether calls may choose the bits by which keys are compared.

    Raises:
        hsgen.core.errors.Usage: there is no such target, key type, value, order or GPU.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _calls: DigestCalls
    _internal = ("report",)

    def __init__(
        self,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        bit_range: bool = False,
        device: int | None = None,
    ) -> None:
        super().__init__(device, target, DigestCalls(key, value, order, bit_range=bit_range))
        self._report = 0  # address of the digest in device memory; 0 before the first call

    @alone
    def __call__(
        self,
        keys: Any,
        values: Any = None,
        *,
        n: int | None = None,
        size: int = 0,
        begin_bit: int = 0,
        end_bit: int | None = None,
        stream: Any = None,
    ) -> Digest:
        """Digest the first `n` keys (by default all) with their values; wait for the digest and return it.

        With a `size` above n, the digest also covers the elements from n up to `size`, which a sort of n keys must not
        change.  With the default 0, the digest covers only the first n elements.  Pass 0 for an argsort, whose index
        array has no defined contents before the sort.  The arrays are only read.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as in `hsgen.cuda.Sorter`, or the size is negative.
            hsgen.core.errors.Usage: n or size exceeds `max_n`, or the bit range is reversed or exceeds the key.
        """
        driver, words = bindings(), (ctypes.c_uint32 * WORDS)()
        numbers = self._calls.integers(n, size, begin_bit, end_bit)
        with self._gpu.current():
            self._report = self._report or int(done(driver.cuMemAlloc(4 * WORDS), "cuMemAlloc"))
            now = self._run((keys, values), numbers, stream)
            wait(self._gpu, now)
            done(driver.cuMemcpyDtoH(ctypes.addressof(words), self._report, 4 * WORDS), "cuMemcpyDtoH")
        return read(list(words))

    def _before(self, call: Checked, bases: list[int], stream: int) -> None:
        """See `Runner`; the array that receives the digest belongs to the checker."""
        bases[_REPORT] = self._report
