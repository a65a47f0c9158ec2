"""Simulated GPUs, whose driver does nothing: collect the kernel texts for any GPU architecture on a machine without a
GPU.

Sorts are prepared as on a GPU, while `hsgen.cuda.compiler.collecting` collects the texts.  Nothing is compiled, loaded
or launched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from hsgen.core.errors import Usage
from hsgen.cuda import driver
from hsgen.engines.host import Host

SHARED = {
    50: 49152, 52: 49152, 60: 49152, 61: 49152, 70: 98304, 75: 65536, 80: 166912, 86: 101376, 89: 101376,
    90: 232448, 100: 232448, 103: 232448, 120: 101376, 121: 101376,
}  # fmt: skip
"""The greatest shared memory of a block by architecture, in bytes (CUDA guide, technical specifications)."""
_CONTEXT = 1
_FIRST = 1 << 8
_used = _FIRST
"""The number of the next stand-in.  It must be new, because caches have sorts for the numbers of earlier GPUs."""


def gpu(arch: str) -> Host:
    """Return the description (`Host`) of a simulated GPU of the architecture `arch`, such as "sm_90".

    Raises:
        Usage: there is no such architecture.
    """
    known = {f"sm_{n}": n for n in SHARED}
    if (number := known.get(arch)) is None:
        raise Usage(f"--arch {arch}: unknown; known are {', '.join(known)}")
    return Host(
        platform=driver.PLATFORM,
        api=driver.API,
        name=f"NVIDIA GPU of sm_{number}",
        driver="",
        version="",
        type="gpu",
        vendor=driver.VENDOR,
        work_group=1024,
        local_bytes=SHARED[number],
        shuffle=True,
        ballot=True,
        handle=0,
        compute=number,
        widths=tuple(1 << i for i in range(driver.WARP.bit_length())),
    )


class _Names:
    """Replaces an enumeration type of the driver: the value of each member is the member's name."""

    def __getattr__(self, name: str) -> str:
        return name


class Driver:
    """Replaces those functions of the driver that are called while a sort is prepared; the simulated GPUs are numbered
    from `first` on.
    """

    def __init__(self, hosts: Sequence[Host], first: int) -> None:
        self._hosts, self._first = hosts, first

    def _host(self, number: int) -> Host:
        return self._hosts[max(number - self._first, 0)]

    def __getattr__(self, name: str) -> Any:
        """Return a stand-in for the name `name` of the driver: a function if it starts with "cu", else a type."""
        if name.startswith("cu"):
            return lambda *arguments: (0, _CONTEXT)
        if name in ("CUlaunchAttribute", "CUlaunchConfig"):
            return lambda: SimpleNamespace(value=SimpleNamespace())
        return int if name in ("CUcontext", "CUfunction", "CUkernel", "CUstream") else _Names()

    def cuDeviceGetCount(self) -> tuple[int, int]:
        """Return one more than the last GPU's number, because the count includes all numbers below the first GPU."""
        return 0, self._first + len(self._hosts)

    def cuDeviceGet(self, number: int) -> tuple[int, int]:
        """Return the handle of a GPU, which is its number."""
        return 0, number

    def cuDeviceGetName(self, size: int, number: int) -> tuple[int, bytes]:
        """Return the name of a GPU."""
        return 0, self._host(number).name.encode()

    def cuDriverGetVersion(self) -> tuple[int, int]:
        """Return CUDA 11.8, which is too old for programmatic dependent launches in graphs."""
        return 0, 11080

    def cuDeviceGetAttribute(self, which: str, number: int) -> tuple[int, int]:
        """Return an attribute of a GPU; 2^30 for every attribute on which no text of a kernel depends."""
        host = self._host(number)
        facts = {
            "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": host.compute // 10,
            "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR": host.compute % 10,
            "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK": host.work_group,
            "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": host.local_bytes,
        }
        return 0, facts.get(which, 1 << 30)


@contextmanager
def devices(hosts: Sequence[Host]) -> Iterator[range]:
    """In the block, replace the driver by one that simulates these GPUs; yield the GPUs' numbers, which no earlier GPU
    had.
    """
    global _used
    known: tuple[Callable[..., Any], ...] = (driver.hosts, driver.device, driver._handle)
    numbers = range(_used, _used + len(hosts))
    driver.stand_in, _used = Driver(hosts, numbers.start), numbers.stop
    for function in known:
        function.cache_clear()  # type: ignore[attr-defined]
    try:
        yield numbers
    finally:
        driver.stand_in = None
        for function in known:
            function.cache_clear()  # type: ignore[attr-defined]
