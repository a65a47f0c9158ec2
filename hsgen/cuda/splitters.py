"""The launches by which a rank (a process) of a distributed sort counts its keys below probes, to find the splitters.

Splitters are the keys at the boundaries between the parts that ranks receive.  Probes are candidates for splitters.
``templates/apis/cuda/python/splitters.cu`` describes the search.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda import kernels
from hsgen.cuda.driver import Device, bindings, done
from hsgen.cuda.prepared import STREAMS, Arguments, launching
from hsgen.system import resources

_FILE = "apis/cuda/python/splitters.cu"
_ROUND, _ENDS = "hs_count_keys", "hs_count_ends"
_THREADS, _WARP = 128, 32
_UNSIGNED = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_ARGUMENTS = {_ROUND: 11, _ENDS: 5}
_KEPT = 8 * STREAMS  # greatest number of kept launches, each for a kernel, a grid and a stream


@dataclass(frozen=True, slots=True)
class Kind:
    """A variant of the kernels: the type of keys and their order."""

    key: str
    descending: bool

    def text(self) -> str:
        """Return the CUDA C++ of this variant: its definitions, then both kernels."""
        lines = [
            f"#define HS_BITS {_UNSIGNED[KEYS[TYPES[self.key].key].bytes]}",
            f"#define HS_KIND {TYPES[self.key].kind}",
            f"#define HS_DESCENDING {int(self.descending)}",
        ]
        return "\n".join([*lines, (resources.templates() / _FILE).read_text(encoding="utf-8")])


class SplitterCounts:
    """The launches of a search for splitters, compiled for one GPU."""

    def __init__(self, device: Device, key: str, *, descending: bool) -> None:
        self._device = device
        text = Kind(key, descending).text()
        self._handles = {name: kernels.single(device, name, text, _FILE) for name in _ARGUMENTS}
        self._calls: dict[tuple[str, int, int, int], tuple[Arguments, Any]] = {}
        self._lock = Lock()

    def count_keys(self, numbers: tuple[int, ...], boundaries: int, bits: int, stream: int) -> None:
        """Launch a round of the search: count this rank's keys below 2^bits + 1 probes of each boundary.

        numbers: the arguments of the kernel `hs_count_keys`: addresses and numbers.

        Raises:
            Wrong: the driver refuses the launch.
        """
        self._launch(_ROUND, -(-((1 << bits) + 1) // _THREADS), boundaries, numbers, stream)

    def count_ends(self, numbers: tuple[int, ...], boundaries: int, stream: int) -> None:
        """Launch the kernel `hs_count_ends`, which ends a search; arguments and errors as in `count_keys`."""
        self._launch(_ENDS, boundaries, 1, numbers, stream)

    def _launch(self, name: str, wide: int, high: int, numbers: tuple[int, ...], stream: int) -> None:
        with self._lock, self._device.current():
            known = self._calls.get((name, wide, high, stream))
            if known is None:
                if len(self._calls) >= _KEPT:
                    self._calls.clear()
                arguments = Arguments([[0] * _ARGUMENTS[name]])
                where = (self._handles[name], wide, high, 1, _THREADS if name == _ROUND else _WARP, 1, 1, 0)
                call = launching(self._device, where, arguments.at[0], name)(bindings().CUstream(stream))
                known = self._calls[name, wide, high, stream] = arguments, call
            arguments, (function, values, _) = known
            arguments.slots[:] = list(numbers)
            done(function(*values), name)
