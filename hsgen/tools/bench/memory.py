"""The memory check of a benchmark, before anything is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hsgen import operations
from hsgen.core.errors import Unavailable
from hsgen.core.interpreter import Options, scratch_bytes
from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.stages import attach

_HOST_ARRAYS = 4  # of keys and values: the input, the expected result, the actual result, and a baseline's own
_GIB = 2**30


def fits(engines: Sequence[Engine], n: int, how: Options) -> None:
    """Refuse a count whose keys, values, offsets, report and scratch exceed the memory of the device or the host.

    The engines, at least one, share a device.  Other baselines need about as much again, which is not counted.  `how`
    has the greatest number of segments.

    Raises:
        Unavailable: they do; the message has the sizes.
    """
    sort = engines[0].sort
    item = sort.item_bytes + sort.signature.value_bytes
    value = n * sort.signature.value_bytes
    need = sum(2 * n * item + 2 * value + _extra(e.sort, n, how) + scratch_bytes(e.sort, n, how) for e in engines)
    total, largest = engines[0].memory()
    if total and need > total:
        _refuse(n, f"all buffers together are {_gib(need)}, the device has {_gib(total)}")
    if largest and n * item > largest:
        _refuse(n, f"a buffer has {_gib(n * item)}, the device allows {_gib(largest)}")
    free = _free()
    if free and _HOST_ARRAYS * n * item > free:
        _refuse(n, f"the host's arrays are {_gib(_HOST_ARRAYS * n * item)}, {_gib(free)} are free")


def _extra(sort: Sort, n: int, how: Options) -> int:
    """The bytes of offsets and of a report."""
    return operations.of(sort).input_bytes(how) + 4 * attach.report_length(sort, n)


def _refuse(n: int, why: str) -> None:
    raise Unavailable(f"sizes up to {n}: do not fit: {why}; give smaller --sizes")


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"


def _free() -> int:
    """The bytes of available memory; 0: unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
