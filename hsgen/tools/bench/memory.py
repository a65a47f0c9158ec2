"""Checks, before anything is allocated, that a benchmark fits into memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hsgen import operations
from hsgen.core.errors import Unavailable
from hsgen.core.interpreter import Options, scratch_bytes
from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.stages import attach

_HOST_ARRAYS = 4  # arrays in the host's memory: the input, the expected and the actual result, and one of a baseline
_GIB = 2**30


def fits(engines: Sequence[Engine], n: int, options: Options) -> None:
    """Check that keys, values, offsets, report and scratch of all engines fit the memory of the device and the host.

    All engines use the same device.  Baselines on the device need about as much memory again, which is not counted.
    `options` has the greatest number of segments.

    Raises:
        Unavailable: buffers for `n` keys do not fit; the message has their size and that of the memory.
    """
    sort = engines[0].sort
    item = sort.item_bytes + sort.signature.value_bytes
    value = n * sort.signature.value_bytes
    need = sum(
        2 * n * item + 2 * value + _extra(e.sort, n, options) + scratch_bytes(e.sort, n, options) for e in engines
    )
    total, largest = engines[0].memory()
    if total and need > total:
        _refuse(n, f"all buffers together are {_gib(need)}, the device has {_gib(total)}")
    if largest and n * item > largest:
        _refuse(n, f"a buffer has {_gib(n * item)}, the device allows {_gib(largest)}")
    free = _free()
    if free and _HOST_ARRAYS * n * item > free:
        _refuse(n, f"the host's arrays are {_gib(_HOST_ARRAYS * n * item)}, {_gib(free)} are free")


def _extra(sort: Sort, n: int, options: Options) -> int:
    """Return the bytes of the offsets of segments and of the report."""
    return operations.of(sort).input_bytes(options) + 4 * attach.report_length(sort, n)


def _refuse(n: int, why: str) -> None:
    raise Unavailable(f"sizes up to {n}: do not fit: {why}; give smaller --sizes")


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"


def _free() -> int:
    """Return the bytes of available memory of the host; 0 if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
