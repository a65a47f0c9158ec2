"""Whether what is to be sorted fits, told before anything is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hsgen import operations
from hsgen.core.errors import Unavailable
from hsgen.core.interpreter import Options, scratch_bytes
from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.stages import attach

_HOST_ARRAYS = 4  # of keys and values: the input, what must come of it, what is read back, and a peer's or numpy's own
_GIB = 2**30


def fits(engines: Sequence[Engine], n: int, how: Options) -> None:
    """Refuse a count whose keys, values, offsets, report and scratch are more than the device or the host has.

    The engines, one at least, share a device; peers beside them need about as much again, which is not counted.
    `how` has the most segments.

    Raises:
        Unavailable: the line says how much is missing where.
    """
    sort = engines[0].sort
    item = sort.key.bytes + sort.signature.value_bytes
    value = n * sort.signature.value_bytes
    need = sum(2 * n * item + 2 * value + _besides(e.sort, n, how) + scratch_bytes(e.sort, n, how) for e in engines)
    total, largest = engines[0].memory()
    if total and need > total:
        _refuse(n, f"all buffers together are {_gib(need)}, the device has {_gib(total)}")
    if largest and n * item > largest:
        _refuse(n, f"a buffer is of {_gib(n * item)}, the device allows {_gib(largest)}")
    free = _free()
    if free and _HOST_ARRAYS * n * item > free:
        _refuse(n, f"the host's arrays are {_gib(_HOST_ARRAYS * n * item)}, {_gib(free)} are free")


def _besides(sort: Sort, n: int, how: Options) -> int:
    """The bytes of offsets and of a report; two arrays take no more than one."""
    return operations.of(sort).input_bytes(how) + 4 * attach.report_length(sort, n)


def _refuse(n: int, why: str) -> None:
    raise Unavailable(f"sizes up to {n}: do not fit: {why}; give smaller --sizes")


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"


def _free() -> int:
    """The bytes of memory that the system has to give, 0 where it does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
