"""Gathering items of arrays on NVIDIA GPUs by index: build once, gather many times.

>>> gather = Gatherer()
>>> gather(order, records, out)                # out[i] = records[order[i]]
"""

from __future__ import annotations

import os
from dataclasses import replace
from math import gcd
from threading import RLock
from typing import Any

from hsgen.core.interpreter import PLAIN
from hsgen.cuda.driver import chosen
from hsgen.cuda.libraries import library_of
from hsgen.cuda.prepared import Prepared
from hsgen.cuda.runner import Runner
from hsgen.operations import settled
from hsgen.operations.gather import unit
from hsgen.runners.gather import GatherCalls, item_bytes_of, same_items, size_of_item

_ALIGNED = 4  # addresses must be multiples of this number of bytes


def _viewed(array: Any, name: str, item_bytes: int | None) -> tuple[int, int]:
    """Return the address of an array, and the size of an item in bytes."""
    address, facts = library_of(array, name).view(array)
    size, shape = int(facts.type.itemsize), tuple(facts.shape)
    if address % _ALIGNED:
        raise ValueError(f"{name} starts at an address that is no multiple of {_ALIGNED}")
    return address, size_of_item(size, shape, name, contiguous=facts.contiguous, item_bytes=item_bytes)


class _Values(Runner):
    """A gather whose kernel moves each item in units of 4, 8 or 16 bytes."""

    _calls: GatherCalls

    def __init__(self, device: int, value: str, target: str | os.PathLike[str] | None) -> None:
        """Select the kernel that moves units of 4, 8 or 16 bytes; `value` is "v4", "v8" or "v16"."""
        super().__init__(device, target, GatherCalls(value))

    def run(self, index: Any, source: Any, out: Any, size: int, n: Any, stream: Any) -> None:
        """Enqueue the gather of items of `size` bytes."""
        self._run((index, source, out), self._calls.integers(n, size), stream)

    def launches(self, n: int, size: int) -> Prepared:
        """Return the launches that gather `n` items of `size` bytes from an array of `n` items."""
        options = replace(PLAIN, segment_count=n, take=size // self._sort.signature.value_bytes)
        return self.prepared(n, settled(self._sort, n, options, self._roles), in_place=False)


class Gatherer:
    """Gathers of items by index on one GPU; see docs/guides/columns.md.

    The size of an item is a multiple of 4 bytes.  There are three kernels, which move 16, 8 and 4 bytes at a time.
    Each kernel is compiled at its first use.

    Args:
        target, device: as in `hsgen.cuda.Sorter`.

    Raises:
        hsgen.core.errors.Usage: there is no such GPU.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing.
    """

    def __init__(self, *, target: str | os.PathLike[str] | None = None, device: int | None = None) -> None:
        self._gpu, self._target = chosen(device), target
        self._by_value: dict[str, _Values] = {}
        self._lock = RLock()

    def __repr__(self) -> str:
        """The operation and the device as text."""
        return f"<{type(self).__name__}: gather, device={self._gpu.host.label!r}>"

    def __call__(
        self,
        index: Any,
        source: Any,
        out: Any,
        *,
        item_bytes: int | None = None,
        n: int | None = None,
        stream: Any = None,
    ) -> None:
        """Enqueue out[i] = source[index[i]] for the first `n` indices (by default all).

        The call runs on `stream`, by default on the current stream of the library of `index`.

        `index` has 32-bit numbers.  An item is array[i]: an element, which may have a structured type, or a slice of an
        array with more dimensions.  `item_bytes` sets another size of an item.  If index[i] is not below the number of
        items in `source`, out[i] is not written.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as in `hsgen.cuda.Sorter`; items have different sizes, or an
                address is not a multiple of 4.
            hsgen.core.errors.Usage: the size of items is not a multiple of 4 bytes; there are 2^31 values or more in
                `source` or `out`; there is no such target.
        """
        bytes_named = item_bytes_of(item_bytes)
        (at, size), (to, after) = _viewed(source, "source", bytes_named), _viewed(out, "out", bytes_named)
        unit(same_items(size, after))
        self.of(gcd(size, at, to)).run(index, source, out, size, n, stream)

    def of(self, aligned: int) -> _Values:
        """Return the `_Values` that gathers in the widest unit (16, 8 or 4 bytes) that divides `aligned`; it is created
        at its first use.

        aligned: a number of bytes that divides the size and the address of every item.
        """
        value = unit(aligned)
        with self._lock:
            if value not in self._by_value:
                self._by_value[value] = _Values(self._gpu.number, value, self._target)
            return self._by_value[value]
