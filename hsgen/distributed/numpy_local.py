"""What a rank with numpy arrays does by itself: it sorts, counts and merges keys.  Each `Run` has ordered keys (see
`Local`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda.numeric import limits
from hsgen.distributed.communicator import Span
from hsgen.distributed.local import HostSearch, Local, Run, Search
from hsgen.operations import oracle

_SUMS = {"i": np.int64, "u": np.uint64, "b": np.int64}
_REDUCED: dict[str, Any] = {"sum": np.add, "min": np.minimum, "max": np.maximum}


class NumpyLocal(Local):
    """A `Local` for arrays of numpy; device: what sorts, as in `hsgen.sort`; "" is the default device, None numpy."""

    def __init__(self, key: str, *, descending: bool, device: str | None = None) -> None:
        super().__init__(key, descending=descending)
        self._device = device
        self._type = np.dtype(f"u{KEYS[TYPES[key].key].bytes}")

    def ordered(self, keys: Any, *, zeros: bool) -> Any:
        """Transform keys to ordered keys in numeric order: all NaNs get the same ordered key and, if `zeros` is True,
        so do -0 and 0.
        """
        bits = np.ascontiguousarray(keys).view(self._type)
        if self.kind == 2:
            magnitude, infinity = (self._type.type(x) for x in limits(self.key))
            size = bits & magnitude
            bits = np.where(size > infinity, infinity | (infinity >> self._type.type(1)), bits)
            if zeros:
                bits = np.where(size == 0, self._type.type(0), bits)
        return oracle.ordered(bits, self.kind, descending=self.descending)

    def restored(self, keys: Any, dtype: Any) -> Any:
        """Convert ordered keys back to keys, in the numpy type `dtype`."""
        return oracle.unordered(keys, self.kind, descending=self.descending).view(dtype)

    def _order(self, keys: Any) -> Any:
        """Return the indices that sort ordered keys."""
        if self._device is None:
            return np.argsort(keys, kind="stable")
        from hsgen import numpy

        return numpy.argsort(keys, device=self._device or None)

    def sort(self, keys: Any, values: Any, *, zeros: bool = False, overwrite: bool = False) -> Run:
        """See `Local`."""
        by = self.ordered(keys, zeros=zeros or values is not None)
        if values is not None:
            order = self._order(by)
            return Run(by[order], (values[order],))
        if self._device is None:
            by.sort(kind="stable")
            return Run(by)
        from hsgen import numpy

        return Run(numpy.sort(by, device=self._device or None))

    def sort_index(self, keys: Any, first: int, total: int, *, overwrite: bool) -> Run:
        """See `Local`."""
        by = self.ordered(keys, zeros=True)
        order = self._order(by)
        return Run(by[order], (order.astype(np.int64) + first,))

    def first(self, keys: Any, k: int, first: int) -> Run:
        """See `Local`."""
        run = self.sort_index(keys, first, 0, overwrite=False)
        return Run(run.keys[:k], (run.columns[0][:k],))

    def words(self, x: NDArray[np.int64]) -> Any:
        """See `Local`."""
        return x

    def search(self, run: Run, n: int, places: Sequence[int], ranks: int) -> Search:
        """See `Local`."""
        return HostSearch(self, run, n, places, ranks)

    def counts(self, run: Run, probes: Any) -> Any:
        """Return the number of keys below each probe, for `HostSearch`."""
        return self.below(run, probes.view(np.uint64))

    def below(self, run: Run, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return how many ordered keys of a run are less than each probe."""
        beyond = probes > np.uint64(self.greatest)
        places = np.searchsorted(run.keys, probes.astype(self._type))
        return np.where(beyond, len(run.keys), places).astype(np.int64)

    def ends(self, run: Run) -> tuple[int, int]:
        """Return the first and the last ordered key; for a run without keys, `greatest` and 0."""
        return (int(run.keys[0]), int(run.keys[-1])) if len(run.keys) else (self.greatest, 0)

    def room(self, like: Run, n: int) -> Run:
        """See `Local`."""
        keys, *columns = (np.empty((n, *x.shape[1:]), x.dtype) for x in like.arrays)
        return Run(keys, tuple(columns))

    def merge(self, run: Run, spans: Sequence[Span], spare: Run | None = None) -> Run:
        """See `Local`; numpy's stable sort does this: for keys above 16 bits, it finds runs and merges them."""
        if sum(end - begin for begin, end in spans) < len(run):
            run = Run(np.concatenate([run.keys[a:b] for a, b in spans]), self._columns(run, spans))
        if not run.columns:
            run.keys.sort(kind="stable")
            return run
        order = np.argsort(run.keys, kind="stable")
        return Run(run.keys[order], tuple(x[order] for x in run.columns))

    def merge_within(self, run: Run, spans: Sequence[Span], begin: int, spare: Run) -> None:
        """See `Local`."""
        copied = Run(np.concatenate([run.keys[a:b] for a, b in spans]), self._columns(run, spans))
        merged = self.merge(copied, [(0, len(copied))])
        for x, y in zip(run.arrays, merged.arrays, strict=True):
            x[begin : begin + len(merged)] = y

    @staticmethod
    def _columns(run: Run, spans: Sequence[Span]) -> tuple[Any, ...]:
        return tuple(np.concatenate([x[a:b] for a, b in spans]) for x in run.columns)

    def groups(self, run: Run) -> Run:
        """See `Local`."""
        keys = run.keys
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
        return Run(keys[starts], (np.diff(starts, append=len(keys)).astype(np.int64), starts.astype(np.int64)))

    def reduce(self, values: Any, starts: Any, counts: Any, reduction: str) -> Any:
        """See `Local`."""
        kind = values.dtype
        if reduction == "sum":
            kind = np.dtype(_SUMS.get(kind.kind, np.float32 if kind.itemsize < 4 else kind))
        if not len(starts):
            return np.empty(0, kind)
        return _REDUCED[reduction].reduceat(values.astype(kind), starts)

    def part(self, run: Run, begin: int, end: int) -> Run:
        """See `Local`."""
        return Run(run.keys[begin:end], tuple(x[begin:end] for x in run.columns))

    def repeated(self, run: Run, times: int) -> Run:
        """See `Local`."""
        keys, *columns = (np.concatenate([x] * times) for x in run.arrays)
        return Run(keys, tuple(columns))
