"""Two kernels for `ColumnSorter` on NVIDIA GPUs.  The first packs the key columns of each row into a word, the second
copies the same bytes of each record.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import gcd
from typing import Any

from hsgen.cuda import kernels
from hsgen.cuda.driver import Device, bindings, done
from hsgen.cuda.prepared import Arguments
from hsgen.runners.packing import NAME, By, Language, Pack, Packing
from hsgen.runners.rows import Column
from hsgen.system import resources

_FILE, _ROWS = "apis/cuda/python/rows.cu", "hs_rows"
_THREADS = 256
UNITS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
"""The C type of the units in which a kernel copies, by the size of a unit in bytes."""

CUDA = Language(f"""#define HS_KERNEL extern "C" __global__ void __launch_bounds__({_THREADS})
#define HS_GLOBAL
#define HS_ROW ((hs_u64)blockIdx.x * {_THREADS} + threadIdx.x)
typedef unsigned char hs_u8;
typedef unsigned short hs_u16;
typedef unsigned int hs_u32;
typedef unsigned long long hs_u64;
""")


def _launch(function: Any, items: int, arguments: Sequence[int], stream: int, name: str) -> None:
    """Launch one thread per item.  The driver copies the arguments, so they may be freed after the launch."""
    driver, packed = bindings(), Arguments([arguments])
    blocks = -(-items // _THREADS)
    where = (blocks, 1, 1, _THREADS, 1, 1, 0, driver.CUstream(stream))
    done(driver.cuLaunchKernel(function, *where, packed.at[0], 0), f"kernel {name}")


class Packer(Packing):
    """Kernels that pack the key columns of each row into one 4-byte or 8-byte word, on one GPU.

    A column is aligned if all its keys begin at multiples of the key size.  There is a kernel for each combination of
    aligned and unaligned columns.
    """

    def __init__(self, device: Device, by: By, pack: Pack) -> None:
        super().__init__(by, pack)
        self._gpu = device
        self._functions: dict[tuple[bool, ...], Any] = {}

    def __call__(self, columns: Sequence[Column], words: int, n: int, stream: int) -> None:
        """Enqueue the kernel that stores one packed word for each of `n` rows at the address `words`.

        columns: all key columns of the table; the kernel reads only those that it packs.

        Raises:
            Unavailable, Wrong: the kernel does not compile or load, or the driver refuses the launch.
        """
        selected = self.select(columns)
        aligned = self.aligned(selected)
        if aligned not in self._functions:
            text = self.text(aligned, CUDA)
            self._functions[aligned] = kernels.single(self._gpu, NAME, text, "the packing of columns")
        _launch(
            self._functions[aligned], n, [words, n, *(x for c in selected for x in (c.at, 0, c.pitch))], stream, NAME
        )


@cache
def rows_text(unit: int) -> str:
    """Return the text of the kernel that copies the same bytes of every record, in units of `unit` bytes."""
    text = (resources.templates() / _FILE).read_text(encoding="utf-8")
    return f"#define HS_UNIT {UNITS[unit]}\n{text}"


def copy_rows(device: Device, to: Column, source: Column, size: int, n: int, stream: int, index: int = 0) -> None:
    """Enqueue a strided copy of `size` bytes from each of `n` records in `source` to a record in `to`.

    index: the address of n indices: record i of `to` is a copy of record index[i].  With 0, record i is copied.

    Raises:
        Unavailable, Wrong: the kernel does not compile or load, or the driver refuses the launch.
    """
    unit = gcd(size, to.at, to.pitch, source.at, source.pitch, max(UNITS))
    function = kernels.single(device, _ROWS, rows_text(unit), _FILE)
    numbers = [source.at, source.pitch // unit, to.at, to.pitch // unit, index, size // unit, n]
    _launch(function, n * (size // unit), numbers, stream, _ROWS)
