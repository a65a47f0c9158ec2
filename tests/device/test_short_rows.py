"""Rows of equal length that a work-group holds, in one launch: the kernels of hsgen.cuda through OpenCL, on the CPU.

The driver has no GPU (`fake_cuda`).  Lengths are those at which another kernel sorts, and one less and one more; arrays
lie between guard words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_cuda import Array, Fake
from nightly import nightly
from sorters import order_of, random_keys

from hsgen.algorithms.segmented import short_rows
from hsgen.core.keys import TYPES, Signature
from hsgen.cuda import SegmentedSorter
from hsgen.cuda.choices import EACH, LIBRARY, ROWS, SEGMENTS, WHOLE, choice
from hsgen.cuda.order import Shape, order
from hsgen.engines.hosts import Host
from hsgen.targets.target import find, names

pytestmark = pytest.mark.device
GUARD = 1024  # bytes; OpenCL aligns parts of a buffer
FILL = 0xA5


@pytest.fixture
def fake(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> Fake:
    return Fake(embedded).install(monkeypatch)


class Guarded:
    """An array between guard bytes."""

    def __init__(self, fake: Fake, data: Any) -> None:
        self._size, self._type = data.nbytes, data.dtype
        edge = np.full(GUARD, FILL, np.uint8)
        self._whole = Array(fake, np.concatenate([edge, data.view(np.uint8), edge]))
        self.array = self._whole.part(GUARD, GUARD + data.nbytes)
        self.array.shape, self.array.dtype = data.shape, data.dtype

    def get(self) -> Any:
        """Return the elements; the guards must be as they were."""
        found = self._whole.get()
        assert (found[:GUARD] == FILL).all() and (found[GUARD + self._size :] == FILL).all()
        return found[GUARD : GUARD + self._size].view(self._type)


def lengths_of(sorter: SegmentedSorter) -> list[int]:
    made = short_rows.specialize(sorter._sort, sorter._gpu.host.local_bytes)
    assert made is not None
    tiles = [kernel.data.shape.tile for kernel in made.kernels]  # type: ignore[attr-defined]
    return sorted({1, 2, 31, 100, 777, *(t + d for t in tiles for d in (-1, 0, 1))})


WAYS = [
    nightly("nvidia-hopper", "f32", "index64", "ascending"),  # kernels compile for a minute
    nightly("nvidia-hopper", "u32", None, "ascending"),
    nightly("nvidia-hopper", "u64", 8, "descending"),
    nightly("nvidia-hopper", "i16", 16, "descending"),
    nightly("nvidia-hopper", "f64", "index", "ascending"),
    ("nvidia-sm35", "u8", 4, "descending"),
    ("generic", "u64", 16, "ascending"),
    nightly("generic", "bf16", "index", "descending"),
    nightly("generic", "f16", None, "descending"),
]


@pytest.mark.parametrize(("name", "key", "value", "way"), WAYS)
def test_rows_are_one_launch(name: str, key: str, value: Any, way: str, fake: Fake) -> None:
    """Stable, with types, orders and values, in place and into other arrays."""
    sorter, rng = SegmentedSorter(key, value=value, order=way, target=name), np.random.default_rng(11)
    lengths = lengths_of(sorter)
    for number, length in enumerate(lengths):
        rows = 3 if length > 1000 else 37
        keys = random_keys(rng, rows * length, key, distinct=9 if number % 2 else 1 << 20)
        parts = [order_of(row, key, way) + i * length for i, row in enumerate(keys.reshape(rows, length))]
        expected, bits = np.concatenate(parts), keys.view(f"u{keys.dtype.itemsize}")
        for here in (False, True):
            mine = Guarded(fake, bits.view(sorter.dtype))
            out = mine if here else Guarded(fake, np.zeros_like(bits).view(sorter.dtype))
            more, moved = values_of(fake, value, rows * length, here=here)
            fake.launched.clear()
            fake.runs = length < lengths[-1]  # longer rows are those of test_segments
            sorter(mine.array, segments=rows, out=None if here else out.array, **more)
            kernels = [x.kernel for x in fake.launched]
            assert (len(kernels) == 1 and kernels[0].startswith("row")) is fake.runs, (length, kernels)
            if not fake.runs:
                continue
            assert (out.get().view(bits.dtype) == bits[expected]).all(), (length, here)
            assert here or (mine.get().view(bits.dtype) == bits).all()
            if moved is not None:
                found = moved.get().view(np.uint32).reshape(len(expected), -1)[:, 0]
                assert (found == expected).all(), (length, here)
    fake.launched.clear()
    sorter(Guarded(fake, np.zeros(0, sorter.dtype)).array, segments=5, **values_of(fake, value, 0, here=True)[0])
    assert not fake.launched


def values_of(fake: Fake, value: Any, n: int, *, here: bool) -> tuple[dict[str, Any], Guarded | None]:
    """The arguments of values, whose first word is the index of their key, and the array that holds the result."""
    if value is None:
        return {}, None
    if isinstance(value, str):
        moved = Guarded(fake, np.zeros(n, np.uint32 if value == "index" else np.uint64))
        return {"values_out": moved.array}, moved
    data = np.zeros((n, value // 4), np.uint32)
    data[:, 0] = np.arange(n)
    kind = np.dtype(f"V{value}") if value > 8 else np.dtype(f"u{value}")
    given = Guarded(fake, data.reshape(-1).view(kind))
    moved = given if here else Guarded(fake, np.zeros_like(data).reshape(-1).view(kind))
    return {"values": given.array, **({} if here else {"values_out": moved.array})}, moved


LENGTHS = (2, 300, 512, 513, 1024, 2049, 4096, 4097, 8193, 16385, 20480, 32768, 32769)


@pytest.mark.parametrize(
    ("key", "descending", "lengths"),
    [
        ("f32", True, (2, 300, 512, 32769)),
        *(nightly(key, descending, LENGTHS) for key in ("f32", "u8", "f64") for descending in (False, True)),
    ],
)
def test_orders_of_short_rows(key: str, descending: bool, lengths: tuple[int, ...], fake: Fake) -> None:
    """One launch without scratch memory: indices in rows, keys with their own bits, no launch afterwards."""
    rng = np.random.default_rng(3)
    for length in lengths:
        data = random_keys(rng, 3 * length, key, distinct=50).reshape(3, length)
        if key != "u8":
            data[:, ::7], data[:, 1::11], data[:, 1::5] = 0.0, -0.0, np.nan
            data[:, 3::13] = -data[:, 1:2]  # NaN with another sign
        ranks = np.unique(data, return_inverse=True)[1].reshape(data.shape).astype(np.int64)
        expected = np.argsort(-ranks if descending else ranks, axis=1, kind="stable")
        for with_keys, with_indices in ((True, True), (True, False), (False, True)):
            mine, out = Guarded(fake, data.ravel()), Guarded(fake, np.zeros_like(data.ravel()))
            found = Guarded(fake, np.zeros(data.size, np.int64))
            shape = Shape(
                number=0, key=key, rows=3, length=length, descending=descending, keys=with_keys, indices=with_indices
            )
            made = order(shape, ROWS)
            longest = short_rows.LONGEST if key != "f64" else 18432 if with_indices else 24576
            assert made is not None and made.method == (ROWS if length <= longest else SEGMENTS)
            scratch = fake.allocate(made.scratch)
            fake.launched.clear()
            to = out.array.address if with_keys else 0, found.array.address if with_indices else 0
            if length > longest:
                assert made.scratch > 0
                continue
            made.run(mine.array.address, *to, scratch, 0)
            assert len(fake.launched) == 1 and made.scratch == 0
            if with_indices:
                assert (found.get().reshape(data.shape) == expected).all(), length
            sorted_keys = np.take_along_axis(data, expected, 1)
            if with_keys and with_indices:
                assert out.get().tobytes() == sorted_keys.tobytes(), length
            elif with_keys:
                assert np.array_equal(out.get().reshape(data.shape), sorted_keys, equal_nan=key != "u8"), length
            else:
                assert not out.get().any()
            assert mine.get().tobytes() == data.tobytes()


def test_every_target_with_a_segmented_sort_has_rows_or_sequential_lanes() -> None:
    for name in names():
        found = find(name)
        if "cuda" not in found.apis:
            continue
        for key in ("u32", "u64", "u8"):
            for value in ("none", "v4", "v8", "v16", "index", "index64"):
                sort = found.sort("segmented_sort", key, Signature(value=value, key_transform=True))
                made = short_rows.specialize(sort, found.device.local_bytes)
                assert made is not None, (name, key, value)
                tiles = [kernel.data.shape.tile for kernel in made.kernels]  # type: ignore[attr-defined]
                assert tiles == sorted(set(tiles)) and 512 <= tiles[-1] <= short_rows.LONGEST, (name, key, value)
                for kernel in made.kernels:
                    assert kernel.local_bytes(made.key) <= found.device.local_bytes, (name, kernel.name)
                    assert kernel.work_group <= short_rows.LANES, (name, kernel.name)
                for length in (0, 1, *tiles, tiles[-1] + 1):
                    plan = short_rows.plan(made, 1 << 10, length)
                    assert (plan is not None) is (0 < length <= tiles[-1]), length
                few = short_rows.FEW
                assert short_rows.plan(made, 1 << 18, few) and not short_rows.plan(made, 1 << 18, few - 1)


@pytest.mark.parametrize(
    ("rows", "length", "method"),
    [
        (1, 1 << 12, WHOLE),
        (2, 4096, ROWS),
        (1 << 16, 512, ROWS),
        (4096, 4097, ROWS),
        (15, 16384, ROWS),
        (2, 16385, EACH),
        (15, 32768, ROWS),
        (15, 32769, SEGMENTS),
        (2, 1 << 18, EACH),
        (3, (1 << 15) + 1, SEGMENTS),
        (3, 1 << 16, SEGMENTS),
        (4, 1 << 18, SEGMENTS),
        (64, 1 << 18, SEGMENTS),
        (2, 1 << 20, SEGMENTS),
        (8, 1 << 22, SEGMENTS),
        (2, 1 << 24, EACH),
        (1 << 19, 4096, LIBRARY),
        (128, 1 << 23, LIBRARY),
    ],
)
def test_the_rules_follow_the_measurements(rows: int, length: int, method: str) -> None:
    assert choice("f32", rows, length) == method


@pytest.mark.parametrize("key", TYPES)
@pytest.mark.parametrize("rows", [2, 3, 4, 5])
def test_pytorch_sorts_no_rows_of_floats_that_are_sorted_together(key: str, rows: int) -> None:
    for length in range(4097, (1 << 18) + 2, 997):
        method = choice(key, rows, length)
        assert method in (ROWS, EACH, SEGMENTS) or (TYPES[key].kind != 2 and method == LIBRARY), length
    wide = choice(key, rows, 1 << 18)
    known = key in ("bool", "u8", "i8", "i16", "i32", "i64")
    assert (wide == LIBRARY) is (known and rows in (3, 4)), wide


def test_rows_that_a_gpu_cannot_hold_get_another_method() -> None:
    assert choice("f32", 2, 8192, without=ROWS) == EACH
    assert choice("f32", 3, 8192, without=ROWS) == SEGMENTS


def test_tiles_shrink_to_the_local_memory() -> None:
    """Each tile is larger than the last; the largest has fewer keys per lane if local memory asks for it."""
    sort = find("nvidia-hopper").sort("segmented_sort", "u64", Signature(value="index64", key_transform=True))
    tiles = {}
    for local_bytes in (1 << 10, 49152, 101376, 232448, 1 << 20):
        short = short_rows.specialize(sort, local_bytes)
        tiles[local_bytes] = short and [kernel.data.shape.tile for kernel in short.kernels]  # type: ignore[attr-defined]
    assert tiles == {
        1 << 10: None,
        49152: [512, 1024, 2048, 3072],
        101376: [512, 1024, 2048, 4096, 8192],
        232448: [512, 1024, 2048, 4096, 8192, 16384, 18432],
        1 << 20: [512, 1024, 2048, 4096, 8192, 16384, 32768],
    }
