"""The packing of key columns through pyopencl: a kernel for each choice of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hsgen.engines import builds
from hsgen.runners.packing import NAME, By, Language, Pack, Packing
from hsgen.runners.rows import Column
from hsgen.system import toolchain

_LANES = 256  # grids are a multiple of this, so that drivers can choose work-groups

OPENCL = Language("""#define HS_KERNEL __kernel void
#define HS_GLOBAL __global
#define HS_ROW get_global_id(0)
typedef uchar hs_u8;
typedef ushort hs_u16;
typedef uint hs_u32;
typedef ulong hs_u64;
""")


class Packer(Packing):
    """The packing of columns `by` for a context of one device."""

    def __init__(self, context: Any, by: By, pack: Pack) -> None:
        super().__init__(by, pack)
        self._context = context
        self._kernels: dict[tuple[bool, ...], Any] = {}

    def __call__(self, queue: Any, columns: Sequence[Column], words: Any, n: int, wait_for: Sequence[Any]) -> Any:
        """Enqueue the packing of `n` rows of all columns into a buffer of words; return the event of its end."""
        selected = self.select(columns)
        aligned = self.aligned(selected)
        if aligned not in self._kernels:
            option = builds.standard(self._context, lanes=False)
            text = self.text(aligned, OPENCL)
            self._kernels[aligned] = builds.build(self._context, text, "the packing of columns", [NAME], option)[NAME]
        kernel = self._kernels[aligned]
        places = [x for c in selected for x in (c.root, np.uint64(c.at), np.uint64(c.pitch))]
        kernel.set_args(words, np.uint32(n), *places)
        lanes = (-(-n // _LANES) * _LANES,)
        return toolchain.pyopencl().enqueue_nd_range_kernel(queue, kernel, lanes, None, wait_for=wait_for)
