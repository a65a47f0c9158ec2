"""Sorting arrays on NVIDIA GPUs: build once, sort many times.

>>> sorter = Sorter("u32")                     # for the current GPU, by the target that matches it
>>> sorter(keys)                               # in place, on the current stream of the array's library
>>> sorter(keys, out=sorted_keys)              # into another array
"""

from __future__ import annotations

import os
from typing import Any

from hsgen.cuda.argsorts import Argsorts
from hsgen.cuda.numeric import rewriting
from hsgen.cuda.runner import Runner
from hsgen.runners.sort import SortCalls


class Sorter(Runner):
    """A sort of keys of one type on one GPU; docs/reference/semantics.md defines the order.

    Kernels are compiled at their first use, and kept in the user's cache.  Each call allocates scratch memory
    (`scratch_bytes`) by the allocator of the arrays' library.  The call frees the memory in stream order: work that is
    enqueued later on the same stream may reuse the memory at once.

    Args:
        key: "u8" to "u64", "i8" to "i64", "f16", "bf16", "f32" or "f64", or such an element type of numpy or PyTorch.
        value: None for no values; a numpy type or a number of bytes (4, 8 or 16) for values that move with keys.
            "index" or "index64" makes an argsort with indices of 32 or 64 bits.  With "packed", an element is a 64-bit
            word: the key is the upper half, the value the lower half.
        order: "ascending" or "descending".
        target: the name of a target, which has the sorts that are tuned for a GPU model; or the path of a target file
        (.toml).  None selects the target that matches the GPU, or the generic target if the matching target has no such
        sort.  bit_range, device_count, run_boundaries, epilogue: as in `hsgen.opencl.Sorter`.
        numeric: whether floats are sorted as by numpy and PyTorch instead of in IEEE 754 totalOrder.  All NaNs are
            equal and greater than infinity; the output has one bit pattern for all NaNs.  In a sort with values, -0
            equals +0, and the output has +0 for both.
        device: the number of a GPU; None is the GPU of the current context, or the first GPU.

    Raises:
        hsgen.core.errors.Usage: there is no such target, key type, value, order or GPU, or no sort that combines them.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _calls: SortCalls

    def __init__(
        self,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        bit_range: bool = False,
        device_count: bool = False,
        run_boundaries: bool = False,
        epilogue: str = "",
        numeric: bool = False,
        device: int | None = None,
    ) -> None:
        features = {"bit_range": bit_range, "device_count": device_count, "run_boundaries": run_boundaries}
        calls = SortCalls(key, value, order, epilogue=epilogue, **features)
        rewrite = rewriting(calls.key, calls.value) if numeric else str
        super().__init__(device, target, calls, rewrite)
        floating = numeric and calls.options.kind == 2
        self.argsorts = Argsorts(self._gpu, self._sort, rewrite, floating=floating)
        """Out-of-place argsorts, for `hsgen.cuda.order`."""

    def scratch_bytes(self, n: int, *, discard_keys: bool = False) -> int:
        """Return the bytes of scratch memory that a sort of `n` keys needs.

        Raises:
            TypeError: n is no integer.
            hsgen.core.errors.OutOfRange: n is negative, or exceeds `max_n`.
        """
        return self._calls.scratch_bytes(n, discard_keys=discard_keys)

    def __call__(
        self,
        keys: Any,
        out: Any = None,
        *,
        values: Any = None,
        values_out: Any = None,
        n: int | None = None,
        begin_bit: int = 0,
        end_bit: int | None = None,
        count: Any = None,
        discard_keys: bool = False,
        report: Any = None,
        shift: int = 0,
        stream: Any = None,
    ) -> None:
        """Enqueue a sort of the first `n` keys (by default all); arguments are those of `hsgen.opencl.Sorter`.

        The call runs on `stream`, by default on the current stream of the library of `keys`.

        All arrays are contiguous arrays of PyTorch, CuPy or Numba, or have ``__cuda_array_interface__`` or DLPack.
        Without `out` and `values_out` the sort is in place; otherwise `keys` and `values` are only read.

        Raises:
            TypeError: an argument has a wrong Python type, such as a numpy array.
            ValueError: an array is missing, unexpected, on another GPU, strided, read-only, of a wrong type, or
                overlaps another array; the stream is of another GPU; or the sorter does not support a bit range, count
                or report.
            hsgen.core.errors.Usage: n exceeds `max_n`, or the bit range is reversed or exceeds the key.
            hsgen.core.errors.Wrong: a kernel does not compile, or the driver refuses a launch.
        """
        arrays = (keys, out, values, values_out, count, report)
        self._run(arrays, self._calls.integers(n, begin_bit, end_bit, discard_keys, shift), stream)
