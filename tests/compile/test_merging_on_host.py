"""Merges whose tiles are loaded and stored by vectors: the CUDA text runs on fibers of the host.

- Arrays of all sizes around those of tiles, also empty ones, that begin at any distance from a multiple of 16 bytes.
- Work-groups that find the ends of their tiles by themselves, and those that read them.
- The greatest key of a type, which also fills tiles; equal keys, whose values identify their origin.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nightly import nightly_except
from on_host import GUARD, OnHost, compiled
from sorts import sort_by

from hsgen.algorithms.merge_path import Params
from hsgen.core.interpreter import Options, scratch_bytes
from hsgen.core.keys import KEYS, Signature
from hsgen.operations import oracle

SHAPE: dict[str, Any] = {"work_group": 64, "items": 3, "vectors": True, "alone": 500, "alone_items": 5, "subgroup": 32}
RANGES: dict[str, Any] = {**SHAPE, "alone": 0, "range_items": 4, "range_lanes": 64, "ranges": 2, "resident": 1}
"""Two work-groups merge ranges, of one to eight tiles each."""
CASES = {
    "u32": ("u32", Signature()),
    "u64": ("u64", Signature()),
    "v4": ("u32", Signature(value="v4", key_transform=True)),
    "v8": ("u64", Signature(value="v8", key_transform=True)),
    "v16": ("u32", Signature(value="v16")),
}


RANGED = {
    "u32": CASES["u32"],
    "u64": CASES["u64"],
    "typed": ("u32", Signature(key_transform=True)),
    "v4": CASES["v4"],
    "v8": CASES["v8"],
}


class Room:
    """A buffer that begins some keys after a multiple of 16 bytes, between guard bytes."""

    def __init__(self, size: int, ahead: int, given: Any = None) -> None:
        self._all = np.full(size + ahead + 2 * GUARD + 16, 0xC5, np.uint8)
        self._at = -self._all.ctypes.data % 16 + GUARD // 16 * 16 + ahead
        self._size = size
        if given is not None:
            self.array[:] = given.view(np.uint8).reshape(-1)

    @property
    def array(self) -> Any:
        return self._all[self._at : self._at + self._size]

    def intact(self) -> bool:
        return bool((self._all[: self._at] == 0xC5).all() and (self._all[self._at + self._size :] == 0xC5).all())


def merged(made: OnHost, a: Any, b: Any, how: Options, ahead: tuple[int, int, int], seed: int) -> bool:
    """Whether the merge of two arrays is numpy's stable sort of both, values included, and nothing else is written."""
    sort, n, size, value = made.sort, len(a) + len(b), a.itemsize, made.sort.signature.value_bytes
    keys = np.concatenate([a, b])
    order = np.argsort(oracle.ordered(keys, how.kind, descending=how.descending), kind="stable")
    values = np.random.default_rng(seed).integers(0, 256, n * value, np.uint8)
    rooms = {
        "source": Room(a.nbytes, ahead[0] * size, a),
        "other": Room(b.nbytes, ahead[1] * size, b),
        "destination": Room(n * size, ahead[2] * size),
        "values": Room(len(a) * value, 0, values[: len(a) * value]),
        "other_values": Room(len(b) * value, 0, values[len(a) * value :]),
        "values_out": Room(n * value, 0),
        "scratch": Room(scratch_bytes(sort, n, how), 0),
    }
    made._launch({role: room.array for role, room in rooms.items()}, n, how, in_place=False, seed=seed)
    assert all(room.intact() for room in rooms.values())
    right = np.array_equal(rooms["destination"].array.view(keys.dtype), keys[order])
    if value:
        right = right and np.array_equal(rooms["values_out"].array.reshape(n, value), values.reshape(n, value)[order])
    return right


@pytest.mark.parametrize("name", nightly_except(CASES, ("u32", "v4")))
def test_tiles_by_vectors(name: str, tmp_path: Path) -> None:
    key, signature = CASES[name]
    p = Params(key=KEYS[key], signature=signature, **SHAPE)
    every(p, (1, 2, 7, 191, 192, 193, 383, 384, 385, 499, 500, 501, 576, 800), tmp_path)


@pytest.mark.parametrize("name", nightly_except(RANGED, ("u32", "v4")))
def test_ranges_of_tiles(name: str, tmp_path: Path) -> None:
    key, signature = RANGED[name]
    p = Params(key=KEYS[key], signature=signature, **{**RANGES, "ranged": 4000})
    every(p, (1, 2, 5, 255, 256, 257, 511, 512, 513, 768, 1024, 1030, 2048, 2817, 4000, 4001), tmp_path)


def test_tiles_then_ranges_then_two_launches(tmp_path: Path) -> None:
    p = Params(key=KEYS["u32"], **{**RANGES, "alone": 500, "ranged": 900})
    every(p, (499, 500, 501, 899, 900, 901), tmp_path)


def every(p: Params, counts: tuple[int, ...], folder: Path) -> None:
    """Merge arrays of all sizes of some counts in all, with keys of some kinds, at every distance from a vector."""
    signature = p.signature
    made, rng = compiled(sort_by("merge_path", p, signature), folder), np.random.default_rng(3)
    top, number = int(np.iinfo(f"u{p.key.bytes}").max), 0
    for n in counts:
        for na in {0, 1, n // 3, n // 2, n - 1, n}:
            number += 1
            least = (0, top - 5, top - 2 * n, top)[number % 4]
            keys = rng.integers(least, top, n, f"u{p.key.bytes}", endpoint=True)
            how = Options(first_count=na)
            if signature.key_transform:
                how = Options(first_count=na, kind=number % 3, descending=number % 2 == 1)
            halves = [
                x[np.argsort(oracle.ordered(x, how.kind, descending=how.descending), kind="stable")]
                for x in (keys[:na], keys[na:])
            ]
            ahead = (number % 4, number // 4 % 4, number // 3 % 4)
            assert merged(made, halves[0], halves[1], how, ahead, number), (n, na, how, ahead)


@pytest.mark.parametrize("shape", [SHAPE, {**RANGES, "ranged": 900}])
def test_keys_out_of_order_stay_within_bounds(shape: dict[str, Any], tmp_path: Path) -> None:
    """The result is undefined, but nothing else is read or written."""
    p = Params(key=KEYS["u32"], signature=Signature(value="v4"), **shape)
    made, rng = compiled(sort_by("merge_path", p, p.signature), tmp_path), np.random.default_rng(5)
    for n in (500, 800):
        keys = rng.integers(0, 1 << 32, n, np.uint32)
        merged(made, keys[: n // 2], keys[n // 2 :], Options(first_count=n // 2), (1, 2, 3), n)
