"""Stand-ins for the sorts of hsgen.torch on tensors of the CPU, so that all else runs without a GPU."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from hsgen.core.keys import TYPES
from hsgen.cuda import driver
from hsgen.torch import enabling, grouping, rows, selecting

_FRACTIONS = {"f16": (10, 16), "bf16": (7, 16), "f32": (23, 32), "f64": (52, 64)}


def ranks(bits: Any, key: str) -> Any:
    """Return unsigned numbers in the numeric order of keys, which are given by their bits."""
    kind, word = TYPES[key].kind, bits.dtype.type
    width = bits.dtype.itemsize * 8
    sign = word(1 << (width - 1))
    if kind == 1:
        return bits ^ sign
    if kind == 2:
        fraction, _ = _FRACTIONS[key]
        magnitude = bits & word((1 << (width - 1)) - 1)
        infinity = word((1 << (width - 1)) - 1 >> fraction << fraction)
        bits = np.where(magnitude == 0, word(0), np.where(magnitude > infinity, infinity | word(1), bits))
        return np.where(bits & sign, ~bits, bits ^ sign)
    return bits


def _memory(address: int, count: int, width: int) -> Any:
    """Return an array of unsigned numbers at an address."""
    room = (ctypes.c_uint8 * (count * width)).from_address(address)
    return np.frombuffer(room, f"u{width}")


class Sorting:
    """The prepared sort of rows, as `hsgen.cuda.order.Order`; `calls` counts the calls."""

    scratch, method = 16, "stand-in"
    calls = 0

    def __init__(self, shape: tuple[int, int], key: str, *, descending: bool) -> None:
        self.rows, self.length, self.key, self.descending = *shape, key, descending
        self.shape = SimpleNamespace(number=0)

    def run(self, source: int, keys: int, indices: int, scratch: int, stream: int) -> None:
        """Sort the rows at the address `source`."""
        Sorting.calls += 1
        n, width = self.rows * self.length, np.dtype(TYPES[self.key].numpy).itemsize
        bits = _memory(source, n, width).reshape(self.rows, self.length)
        by = ranks(bits, self.key)
        order = np.argsort(~by if self.descending else by, axis=1, kind="stable")
        if keys:
            _memory(keys, n, width)[:] = np.take_along_axis(bits, order, 1).reshape(-1)
        _memory(indices, n, 8)[:] = order.reshape(-1)


def prepared(x: torch.Tensor, dim: int, *, descending: bool, keys: bool, method: str = "") -> Any:
    """Return the sort of a tensor, as `hsgen.torch.rows.prepared`."""
    key = rows.KEYS.get(x.dtype)
    if key is None or x.dim() == 0 or (length := x.shape[dim]) < 2 or not (count := x.numel()):
        return None
    return Sorting((count // length, length), key, descending=descending)


def _bits(x: torch.Tensor) -> Any:
    signed = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    return x.view(signed).numpy().view(f"u{x.element_size()}")


class _Select:
    """A selection of the first keys of rows, as `hsgen.cuda.TopK`."""

    sorted_up_to, max_n = 4096, 1 << 30

    def __init__(self, key: str, order: str, number: int) -> None:
        self.key, self.descending = key, order == "descending"

    def __call__(self, keys: Any, k: int, *, rows: int, out: Any, values_out: Any) -> None:
        bits = _bits(keys).reshape(rows, -1)
        by = ranks(bits, self.key)
        order = np.argsort(~by if self.descending else by, axis=1, kind="stable")[:, :k]
        _bits(out)[:] = np.take_along_axis(bits, order, 1).reshape(-1)
        values_out.numpy()[:] = order.reshape(-1)


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
    patch(selecting, "_selection", _Select)
    patch(grouping, "_group_by", _Reduce)
    patch(grouping, "_reduction", _Runs)
    patch(grouping, "_columns", _Columns)
    patch(selecting, "selects", lambda *_: True)
    patch(grouping, "groups", lambda *_, **__: True)
    patch(grouping, "groups_rows", lambda *_: True)
