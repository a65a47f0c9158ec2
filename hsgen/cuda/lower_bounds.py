"""Counts of sorted keys below probes: see ``templates/apis/cuda/python/lower_bounds.cu``."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda import kernels
from hsgen.cuda.driver import Device, bindings, done
from hsgen.cuda.prepared import Arguments, launching
from hsgen.system import resources

_FILE = "apis/cuda/python/lower_bounds.cu"
_NAME = "hs_lower_bounds"
_THREADS = 128
_UNSIGNED = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A variant of the kernel: the type of keys and their order."""

    key: str
    descending: bool

    def text(self) -> str:
        """Return the text of the kernel with its definitions."""
        lines = [
            f"#define HS_BITS {_UNSIGNED[KEYS[TYPES[self.key].key].bytes]}",
            f"#define HS_KIND {TYPES[self.key].kind}",
            f"#define HS_DESCENDING {int(self.descending)}",
        ]
        return "\n".join([*lines, (resources.templates() / _FILE).read_text(encoding="utf-8")])


class LowerBounds:
    """The launch that counts sorted keys below probes, compiled for one GPU."""

    def __init__(self, device: Device, key: str, *, descending: bool) -> None:
        self._device = device
        self._handle = kernels.single(device, _NAME, Kind(key, descending).text(), _FILE)

    def run(self, keys: int, n: int, probes: int, counts: int, number: int, stream: int) -> None:
        """Launch with the addresses of `n` sorted keys, of `number` probes, and of their counts.

        Probes and counts have 64 bits.  A probe is a transformed key: an unsigned number in the order of the sort.

        Raises:
            Wrong: the driver refuses the launch.
        """
        arguments = Arguments([[keys, probes, counts, n, number]])
        where = (self._handle, -(-number // _THREADS), 1, 1, _THREADS, 1, 1, 0)
        with self._device.current():
            launch = launching(self._device, where, arguments.at[0], _NAME)
            function, values, name = launch(bindings().CUstream(stream))
            done(function(*values), name)
