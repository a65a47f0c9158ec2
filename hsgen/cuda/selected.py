"""The launches that a `Selection` adds before and after the top-k kernels; the added kernels are in
``templates/apis/cuda/python``.

``bounds`` computes the start and the length of each row.  ``masked`` copies rows, and replaces keys beyond a row's
length by the last key in order.  ``selected`` stores the final indices and keys, and entries of a look-up table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda import kernels
from hsgen.cuda.driver import Device, bindings, done
from hsgen.cuda.numeric import limits, nan
from hsgen.cuda.packing import UNITS
from hsgen.cuda.prepared import STREAMS, Arguments, launching
from hsgen.system import resources

BOUNDS, MASKED, SELECTED = "bounds", "masked", "selected"
"""The names of the kernels without the prefix hs_; also the names of their files."""
_FOLDER = "apis/cuda/python"
_THREADS = 256
_ADDRESSES = {BOUNDS: 5, MASKED: 4, SELECTED: 13}
"""For each kernel, the number of arguments that every call sets.  All of these are addresses, except the last one of
SELECTED, which is the number of entries in the look-up table.
"""
_BLOCKS = 32
"""Greatest number of blocks per multiprocessor: four times as many as run at once."""


def fill(key: str, *, largest: bool) -> int:
    """Return the bits of the key that is last in the order of a selection, by which missing keys are filled.

    If `largest`, this is the least number (-infinity), else the greatest number (NaN).
    """
    kind, bits = TYPES[key].kind, KEYS[TYPES[key].key].bits
    if kind == 2:
        return limits(key)[1] | 1 << (bits - 1) if largest else nan(key)
    least = 1 << (bits - 1) if kind == 1 else 0
    return least if largest else 1 if key == "bool" else (1 << bits) - 1 - least


@dataclass(frozen=True, slots=True)
class Kind:
    """A variant of the kernels `masked` and `selected`.

    key: the key type.  largest: whether the greatest keys are selected.  entry: the bytes of an entry of the look-up
    table.
    """

    key: str
    largest: bool
    entry: int = 4

    def text(self, name: str) -> str:
        """Return the CUDA C++ of a kernel in this variant: definitions, then the kernel."""
        floats = TYPES[self.key].kind == 2
        lines = [f"#define HS_BITS {UNITS[KEYS[TYPES[self.key].key].bytes]}"]
        lines += [f"#define HS_FILL {fill(self.key, largest=self.largest):#x}ull", f"#define HS_FLOATS {int(floats)}"]
        lines.append(f"#define HS_ENTRY {UNITS[self.entry]}")
        if floats:
            magnitude, infinity = limits(self.key)
            lines += [f"#define HS_MAGNITUDE {magnitude:#x}ull", f"#define HS_INFINITY {infinity:#x}ull"]
        return "\n".join([*lines, body(name)])


def body(name: str) -> str:
    """Return the CUDA C++ of a kernel without the definitions of a variant."""
    return (resources.templates() / _FOLDER / f"{name}.cu").read_text(encoding="utf-8")


def loading(device: Device, name: str, kind: Kind) -> AbstractContextManager[None]:
    """Return a context manager that compiles and loads a kernel in a thread, while the block runs."""
    return kernels.meanwhile(device, f"hs_{name}", kind.text(name), f"{_FOLDER}/{name}.cu")


class Around:
    """A launch of one of the kernels `bounds`, `masked` and `selected` for `n` items.

    numbers: the arguments after n, which are the same in every call.  kind: the variant of the kernel; None for BOUNDS,
    which reads no keys.
    """

    def __init__(self, device: Device, name: str, kind: Kind | None, n: int, numbers: Sequence[int]) -> None:
        self._count = _ADDRESSES[name]
        self._arguments = Arguments([[*(0 for _ in range(self._count)), n, *numbers]])
        text = kind.text(name) if kind else body(name)
        handle = kernels.single(device, f"hs_{name}", text, f"{_FOLDER}/{name}.cu")
        blocks = min(-(-n // _THREADS), _BLOCKS * device.cores)
        where = (handle, blocks, 1, 1, _THREADS, 1, 1, 0)
        self._launch = launching(device, where, self._arguments.at[0], f"hs_{name}")
        self._calls: dict[int, Any] = {}
        self._lock = Lock()

    def run(self, addresses: Sequence[int], stream: int) -> None:
        """Launch the kernel on a stream; addresses: the arguments that every call sets (see `_ADDRESSES`), in order.

        Raises:
            Wrong: the driver refuses the launch.
        """
        with self._lock:
            self._arguments.slots[: self._count] = list(addresses)
            if stream not in self._calls:
                if len(self._calls) >= STREAMS:
                    self._calls.clear()
                self._calls[stream] = self._launch(bindings().CUstream(stream))
            function, arguments, name = self._calls[stream]
            done(function(*arguments), name)
