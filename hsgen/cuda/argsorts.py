"""Argsorts out of place whose results are those that array libraries want: see `hsgen.algorithms.radix.floats`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from hsgen.algorithms.radix import floats
from hsgen.algorithms.radix.cooperative import Cooperative
from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.cuda.choices import UNEVEN_UP_TO
from hsgen.cuda.driver import Device
from hsgen.cuda.kernels import Kernels
from hsgen.cuda.prepared import Prepared
from hsgen.targets.target import Target


class Argsorts:
    """The variants of an argsort on a GPU; each method returns None if it has no variant for `n` keys.

    keys: the name of their type's width.  floating: they are floats in numeric order.  rewrite: see `Kernels`.

    Methods raise:
        Unavailable, Wrong: a kernel does not build, or the GPU cannot run it.
    """

    def __init__(
        self, gpu: Device, found: Target, sort: Sort, keys: str, rewrite: Callable[[str], str], *, floating: bool
    ) -> None:
        self._gpu, self._found, self._sort, self._keys = gpu, found, sort, keys
        self._rewrite, self._floating = rewrite, floating

    def raw(self, n: int, how: Options) -> Prepared | None:
        """Return the one launch after which zeros and NaNs of a numeric order have the bits that they had."""
        made = self._raw
        if made is None or not 0 < n <= made.sort.plan.max_n:
            return None
        return Prepared(made, n, how, in_place=False)

    def uneven(self, n: int, how: Options) -> Prepared | None:
        """Return the one launch that deals floats out by a sample."""
        made = self._uneven
        if made is None or not 0 < n <= made.sort.parts[0].max_n:
            return None
        return Prepared(made, n, how, in_place=False)

    def widened(self, n: int, how: Options) -> tuple[Prepared, int] | None:
        """Return launches of which the last pass stores 64-bit indices if no buckets follow, and for floats gives zeros
        and NaNs their bits back; and the offset in scratch memory of what says so (`floats.turn`)."""
        for made in self._widened[: None if n > UNEVEN_UP_TO else 1]:
            if made is not None and n <= made.sort.plan.max_n and (at := floats.turn(made.sort, n)) is not None:
                return Prepared(made, n, how, in_place=False), at
        return None

    def _kernels(self, sort: Sort | None) -> Kernels | None:
        return Kernels(self._gpu, sort, self._rewrite) if sort else None

    @cached_property
    def _raw(self) -> Kernels | None:
        own = floats.uneven(self._sort, self._gpu.host.local_bytes)
        return self._kernels(floats.raw(own)) if self._floating else None

    @cached_property
    def _uneven(self) -> Kernels | None:
        own = floats.uneven(self._sort, self._gpu.host.local_bytes)
        return self._kernels(own) if self._floating and own != self._sort else None

    @cached_property
    def _widened(self) -> list[Kernels | None]:
        """Of the sort; then for floats, which are too uneven for passes in one launch, of its second part."""
        sorts, parts = [self._sort], self._sort.parts
        if self._floating and len(parts) > 1 and isinstance(parts[0].params, Cooperative):
            sorts.append(self._found.sort(parts[1].label, self._keys, self._sort.signature))
        return [self._kernels(floats.widened(s, raw=self._floating)) for s in sorts]
