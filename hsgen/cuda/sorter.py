"""Sorting arrays on NVIDIA GPUs: build once, sort many times.

>>> sorter = Sorter("u32")                     # for the current GPU, by the target that matches it
>>> sorter(keys)                               # in place, on the current stream of the array's library
>>> sorter(keys, out=sorted_keys)              # into another array
"""

from __future__ import annotations

import os
from typing import Any

from hsgen.core.interpreter import Options
from hsgen.core.keys import TYPES
from hsgen.cuda.argsorts import Argsorts
from hsgen.cuda.driver import chosen
from hsgen.cuda.numeric import rewriting
from hsgen.cuda.runner import Runner
from hsgen.runners.arguments import serving
from hsgen.runners.ranges import Range
from hsgen.runners.sort import SortCalls


class Sorter(SortCalls, Runner):
    """A sort of keys of one type on one GPU; docs/reference/semantics.md defines the order.

    Kernels are compiled at their first use, and kept in the user's cache.  Each call takes its scratch memory from the
    library of its arrays (see `scratch_bytes`), and returns the memory in the order of the stream.

    Args:
        key: "u8" to "u64", "i8" to "i64", "f16", "bf16", "f32" or "f64", or the type of numpy or PyTorch.
        value: the value that moves with each key: None, a numpy type or a number of bytes (4, 8 or 16), "index" or
            "index64" for an argsort, "packed" for the lower half of 64-bit words whose upper half is the key.
        order: "ascending" or "descending".
        target: the name of a target or a path ending in .toml; None selects the target that matches the GPU, or the
            generic target if the matching target has no such sort.
        bit_range, device_count, run_boundaries, epilogue: as of `hsgen.opencl.Sorter`.
        numeric: floats in the order of numpy and PyTorch instead of the total order.  All NaNs are equal and greater
            than infinity, and with values -0 equals +0.  Sorted keys have one NaN, and with values one zero.
        device: the number of a GPU; None is the GPU of the current context, or the first GPU.

    Raises:
        hsgen.core.errors.Usage: there is no such target, key type, value, order or GPU, or no sort that combines them.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _given = ("source", "destination", "values", "values_out", "count", "report")
    _pairs = ((0, 1), (2, 3))

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
        gpu, options = chosen(device), self._name_keys(key, value, order)
        features = {"bit_range": bit_range, "device_count": device_count, "run_boundaries": run_boundaries}
        signature = self._signature(options, features, epilogue)
        served, sort = serving(gpu.host, target, self.key, signature)
        element = "" if self.value == "packed" else TYPES[self.key].element
        rewrite = rewriting(self.key, self.value) if numeric else str
        super().__init__(gpu, served, sort, element, rewrite)
        floating = numeric and TYPES[self.key].kind == 2
        self.argsorts = Argsorts(gpu, sort, rewrite, floating=floating)
        """The argsorts out of place for `hsgen.cuda.order`."""

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
        """Enqueue a sort of the first `n` keys (by default all) on the current stream of the library of `keys`, or on
        `stream`; arguments are those of `hsgen.opencl.Sorter`.

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
        self._run(arrays, self._integers(n, begin_bit, end_bit, discard_keys, shift), stream)

    def _settle(self, ranges: dict[str, Range], arguments: tuple[Any, ...]) -> tuple[int, Options]:
        """See `Runner`."""
        n, begin, end, discard, shift = arguments
        options = self._asked({role: ranges.get(role) for role in self._given}, begin, end, discard, shift)
        return ranges["source"].size // self._size("source") if n is None else n, options
