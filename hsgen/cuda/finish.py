"""The completing launch, which follows an argsort: it widens indices to 64 bits, and restores the bits of zeros and
NaNs.

A sort in numeric order has replaced these bits: each NaN by the same NaN, and -0 by +0.  The kernel is in
``templates/apis/cuda/python/finish.cu``.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any

from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda import kernels
from hsgen.cuda.driver import Device, bindings, done
from hsgen.cuda.numeric import limits
from hsgen.cuda.prepared import STREAMS, Arguments, Recorded, launching
from hsgen.system import resources

_FILE = "apis/cuda/python/finish.cu"
_NAME = "hs_finish"
_THREADS, _EACH = 256, 8
_BLOCKS = 32
"""Greatest number of blocks per multiprocessor: four times as many as run at once.  A block processes several tiles.

The bound is low because in many launches, every block ends at once: the last pass of the sort has already done the
work.
"""
_UNSIGNED = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A variant of the kernel of the completing launch.

    key: the float type whose zeros and NaNs it restores, or "".  index_bytes: the size of the sort's indices.
    """

    key: str
    index_bytes: int

    def text(self) -> str:
        """Return the CUDA C++ of this variant: its definitions, then the kernel."""
        return _text(self)


@cache
def _text(kind: Kind) -> str:
    lines = [f"#define HS_INDEX {_UNSIGNED[kind.index_bytes]}", f"#define HS_KEYS {int(bool(kind.key))}"]
    if kind.key:
        magnitude, infinity = limits(kind.key)
        lines += [f"#define HS_BITS {_UNSIGNED[KEYS[TYPES[kind.key].key].bytes]}"]
        lines += [f"#define HS_MAGNITUDE {magnitude:#x}ull", f"#define HS_INFINITY {infinity:#x}ull"]
    body = (resources.templates() / _FILE).read_text(encoding="utf-8")
    return "\n".join([*lines, body])


def loading(device: Device, key: str, index_bytes: int) -> AbstractContextManager[None]:
    """Return a context manager that compiles and loads the kernel of a variant in a thread, while the block runs."""
    return kernels.meanwhile(device, _NAME, Kind(key, index_bytes).text(), _FILE)


class Finish:
    """The completing launch for `n` items in rows of `length` items.

    key: a float type, for which the launch restores the bits of zeros and NaNs, or "".  index_bytes: the size of the
    sort's indices.  widen: whether the launch writes 64-bit indices that count within their rows.  in_row: whether the
    sort's indices already count within their rows; otherwise they count within the whole array.
    """

    def __init__(
        self, device: Device, key: str, n: int, length: int, *, index_bytes: int, widen: bool, in_row: bool
    ) -> None:
        handle = kernels.single(device, _NAME, Kind(key, index_bytes).text(), _FILE)
        self._widen, self._keys = widen, bool(key)
        blocks = min(-(-n // (_THREADS * _EACH)), _BLOCKS * device.cores)
        self._numbers = (n, length, int(in_row))
        self._arguments = Arguments([[0, 0, *([0, 0] if key else []), 0, *self._numbers]])
        where = (handle, blocks, 1, 1, _THREADS, 1, 1, 0)
        self._launch = launching(device, where, self._arguments.at[0], _NAME)
        self._calls: dict[int, Any] = {}
        self._lock = Lock()

    def run(self, index: int, to: int, keys: int, source: int, stream: int, turn: int = 0) -> None:
        """Launch on a stream.

        index, to, keys, source: the addresses of the sort's indices, of the 64-bit indices to write, of the sorted keys
        and of the keys before the sort.  turn: the address of a word on the device, or 0.  If the word is 1 to 255, a
        pass of the sort has already done the work, and the launch does nothing.

        Raises:
            Wrong: the driver refuses the launch.
        """
        addresses = self._addresses(index, to, keys, source, turn)
        with self._lock:
            self._arguments.slots[: len(addresses)] = [*addresses]
            if stream not in self._calls:
                if len(self._calls) >= STREAMS:
                    self._calls.clear()
                self._calls[stream] = self._launch(bindings().CUstream(stream))
            function, arguments, name = self._calls[stream]
            done(function(*arguments), name)

    def recorded(self, index: int, to: int, keys: int, source: int, turn: int = 0) -> Recorded:
        """Return the launch that `run` would do with these addresses, without launching it."""
        addresses = self._addresses(index, to, keys, source, turn)
        which = (*(True for _ in addresses), *(False for _ in self._numbers))
        return Recorded(self._launch, (*addresses, *self._numbers), which)

    def _addresses(self, index: int, to: int, keys: int, source: int, turn: int) -> list[int]:
        """Return the addresses that the kernel takes, in the order of its parameters; 0 for an array that it does not
        use.
        """
        return [index, to if self._widen else 0, *([keys, source] if self._keys else []), turn]
