"""Stand-ins for the sorts of hsgen.torch on tensors of the CPU, so that all else runs without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sort_stand_ins import Sorting, memory, ranks

from hsgen.core.keys import TYPES
from hsgen.cuda import driver
from hsgen.torch import enabling, grouping, repeats, rows, selecting, selections


def prepared(x: torch.Tensor, dim: int, *, descending: bool, keys: bool, method: str = "") -> Any:
    """Return the sort of a tensor, as `hsgen.torch.rows.prepared`."""
    key = rows.KEYS.get(x.dtype)
    if key is None or x.dim() == 0 or (length := x.shape[dim]) < 2 or not (count := x.numel()):
        return None
    return Sorting((count // length, length), key, descending=descending)


def _bits(x: torch.Tensor) -> Any:
    signed = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    return x.view(signed).numpy().view(f"u{x.element_size()}")


class _Selecting(Sorting):
    """A prepared selection in numeric order, as `hsgen.cuda.selections.Selection`."""

    def __init__(self, shape: tuple[int, int], key: str, *, k: int, largest: bool) -> None:
        super().__init__(shape, key, descending=largest)
        self._k = k

    def run(self, source: int, keys: int, indices: int, scratch: int, stream: int) -> None:
        """Select from the rows at the address `source`."""
        width = np.dtype(TYPES[self.key].numpy).itemsize
        sorted_, order = np.empty((self.rows, self.length), f"u{width}"), np.empty((self.rows, self.length), np.int64)
        super().run(source, sorted_.ctypes.data, order.ctypes.data, scratch, stream)
        memory(keys, self.rows * self._k, width)[:] = sorted_[:, : self._k].reshape(-1)
        memory(indices, self.rows * self._k, 8)[:] = order[:, : self._k].reshape(-1)


def selection(x: torch.Tensor, k: int, dim: int, *, largest: bool, sorted: bool) -> _Selecting:
    """Return the selection from a tensor, as `hsgen.torch.selections.prepared`."""
    length = x.shape[dim]
    return _Selecting((x.numel() // length, length), rows.KEYS[x.dtype], k=k, largest=largest)


class _Reduce:
    """Groups of equal keys, as `hsgen.cuda.GroupBy`, or runs."""

    def __init__(self, key: str, number: int) -> None:
        self.key = key

    def ordered(self, bits: Any) -> Any:
        return bits[np.argsort(ranks(bits, self.key), kind="stable")]

    def __call__(self, keys: Any, *, out: Any, groups: Any, counts: Any) -> None:
        assert keys.dim() == 1 and keys.dtype != torch.bool
        bits = self.ordered(_bits(keys))
        starts = np.flatnonzero(np.concatenate([[True], bits[1:] != bits[:-1]]))
        _bits(out)[: len(starts)] = bits[starts]
        groups[0] = len(starts)
        if counts is not None:
            counts.numpy()[: len(starts)] = np.diff(starts, append=len(bits))


class _Runs(_Reduce):
    def ordered(self, bits: Any) -> Any:
        return bits


class _Columns:
    """A sort of rows by columns, as `hsgen.cuda.ColumnSorter`."""

    def __init__(self, key: str, width: int, number: int) -> None:
        self.key = key

    def __call__(self, fields: Any, *, index_out: Any) -> None:
        size = np.dtype(TYPES[self.key].numpy).itemsize
        columns = []
        for field in fields:
            octets = np.ascontiguousarray(field.records.numpy()[:, field.offset : field.offset + size])
            columns.append(ranks(octets.view(f"u{size}").reshape(-1), self.key))
        index_out.numpy()[:] = np.lexsort(columns[::-1])


def install(patch: Any) -> None:
    """Let `hsgen.torch.enable` replace PyTorch's kernels for tensors of the CPU, with these sorts for all sizes.

    patch: a function that sets an attribute, as `pytest.MonkeyPatch.setattr`.
    """
    patch(enabling, "KEY", "CPU")
    patch(driver, "bindings", lambda: None)
    patch(rows, "prepared", prepared)
    patch(rows, "_raw", lambda number: 0)
    patch(selections, "prepared", selection)
    patch(selecting, "_known", {})
    patch(repeats, "BEFORE", 0)
    patch(grouping, "_group_by", _Reduce)
    patch(grouping, "_reduction", _Runs)
    patch(grouping, "_columns", _Columns)
    patch(selecting, "selects", lambda *_: True)
    patch(grouping, "groups", lambda *_, **__: True)
    patch(grouping, "groups_rows", lambda *_: True)
