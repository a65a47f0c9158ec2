"""Argsorts with the results of torch.sort: 64-bit indices, and sorted keys with their original bits of zeros and NaNs.

A radix sort with 32-bit indices replaces these bits.  `hsgen.algorithms.radix.floats` derives from such a sort the
variants that this module prepares.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from hsgen.algorithms.radix import floats
from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.cuda.driver import Device
from hsgen.cuda.kernels import Kernels
from hsgen.cuda.prepared import Prepared


class Argsorts:
    """Variants of an out-of-place argsort on a GPU, which differ in the indices and key bits that they store.

    Each method returns the prepared launches of a variant.  The result is None if the variant cannot sort `n` keys of
    this type.

    floating: whether keys are floats in numeric order.  rewrite: as in `Kernels`.

    Methods raise:
        Unavailable, Wrong: a kernel does not compile, or the GPU cannot run it.
    """

    def __init__(self, gpu: Device, sort: Sort, rewrite: Callable[[str], str], *, floating: bool) -> None:
        self._gpu, self._sort, self._rewrite, self._floating = gpu, sort, rewrite, floating

    def raw(self, n: int, options: Options) -> Prepared | None:
        """Return the single launch that sorts floats in numeric order and keeps the bits of zeros and NaNs."""
        kernels = self._raw
        if kernels is None or not 0 < n <= kernels.sort.plan.max_n:
            return None
        return Prepared(kernels, n, options, in_place=False)

    def uneven(self, n: int, options: Options) -> Prepared | None:
        """Return the single launch that sorts floats: it samples keys, and partitions all keys by quantiles of the
        sample.
        """
        kernels = self._uneven
        if kernels is None or not 0 < n <= kernels.sort.parts[0].max_n:
            return None
        return Prepared(kernels, n, options, in_place=False)

    def widened(self, n: int, options: Options) -> tuple[Prepared, int] | None:
        """Return launches that store 64-bit indices only for some keys, and the byte offset in scratch of the word that
        says so.

        The distribution of keys determines on the device whether a sort of small buckets follows the last radix pass.
        If none follows, the last pass stores 64-bit indices, and for floats restores the bits of zeros and NaNs.  The
        pass then sets the word (`floats.turn`) to a number from 1 to 255.  Otherwise, a launch after the sort
        (`hsgen.cuda.finish`) does this work.
        """
        kernels = self._widened
        if kernels is None or n > kernels.sort.plan.max_n or (at := floats.turn(kernels.sort, n)) is None:
            return None
        return Prepared(kernels, n, options, in_place=False), at

    def _kernels(self, sort: Sort | None) -> Kernels | None:
        return Kernels(self._gpu, sort, self._rewrite) if sort else None

    @cached_property
    def _raw(self) -> Kernels | None:
        sort = floats.uneven(self._sort, self._gpu.host.local_bytes)
        return self._kernels(floats.raw(sort)) if self._floating else None

    @cached_property
    def _uneven(self) -> Kernels | None:
        sort = floats.uneven(self._sort, self._gpu.host.local_bytes)
        return self._kernels(sort) if self._floating and sort != self._sort else None

    @cached_property
    def _widened(self) -> Kernels | None:
        return self._kernels(floats.widened(self._sort, raw=self._floating))
