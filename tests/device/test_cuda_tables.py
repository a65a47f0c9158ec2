"""Tables, selections, gathers and groups of the Python API for CUDA, with a driver that has no GPU."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from fake_cuda import Array, Fake
from nightly import nightly
from random_columns import SHAPES, column, order_of

from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda import (
    ColumnSorter,
    Field,
    Gatherer,
    GroupBy,
    ReduceByKey,
    TopK,
    groups,
    libraries,
    run_length_encode,
    unique,
)
from hsgen.engines.hosts import Host

pytestmark = pytest.mark.device
RNG = np.random.default_rng(25)
COUNTS = (0, 1, 2, 33, 1000, 5000)
GUARD = 128  # elements


@pytest.fixture
def fake(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> Fake:
    return Fake(embedded).install(monkeypatch)


class Inside:
    """An array within a longer one, whose other elements must not change."""

    def __init__(self, fake: Fake, data: Any) -> None:
        self._n = len(data)
        self._before = np.full((len(data) + 2 * GUARD, *data.shape[1:]), 0xA5).astype(data.dtype)
        self._before[GUARD : GUARD + self._n] = data
        self._whole = Array(fake, self._before)
        self.part = self._whole.part(GUARD, GUARD + self._n)

    def get(self) -> Any:
        """Return the elements, after a check of the others."""
        found, end = self._whole.get(), GUARD + self._n
        assert found[:GUARD].tobytes() == self._before[:GUARD].tobytes(), "elements before an array changed"
        assert found[end:].tobytes() == self._before[end:].tobytes(), "elements behind an array changed"
        return found[GUARD:end]


PLACES = ("in place", "out of place", "index", "index and out")


def one_table(sorter: ColumnSorter, fake: Fake, n: int, sizes: list[int], place: str) -> None:
    """Sort a table of random columns, with values of these sizes."""
    columns = [column(RNG, name, n) for name, _ in sorter.by]
    values = [RNG.integers(0, 256, (n, size), np.uint8) for size in sizes]
    keys, moving = ([Inside(fake, x) for x in some] for some in (columns, values))
    order = Inside(fake, np.zeros(n, np.int32)) if "index" in place else None
    out = [Inside(fake, np.zeros_like(x)) for x in columns] if "out" in place else None
    moved = [Inside(fake, np.zeros_like(x)) for x in values] if place != "in place" else None
    before = fake.held
    sorter(
        [x.part for x in keys],
        out and [x.part for x in out],
        values=[x.part for x in moving],
        values_out=None if moved is None else [x.part for x in moved],
        index_out=order and order.part,
    )
    assert fake.held == before, "temporary memory is kept"
    right = order_of(columns, sorter.by)
    if order is not None:
        assert np.array_equal(order.get(), right)
    for found, x in zip(out or keys, columns, strict=True):
        assert found.get().tobytes() == (x if place == "index" else x[right]).tobytes()
    for found, x in zip(moved or moving, values, strict=True):
        assert np.array_equal(found.get(), x[right])
    if place != "in place":
        assert all(found.get().tobytes() == x.tobytes() for found, x in zip(keys, columns, strict=True))


def one_table_of_records(sorter: ColumnSorter, fake: Fake, n: int, words: int) -> None:
    """Sort records by fields at random offsets, which may overlap."""
    sizes = [KEYS[TYPES[name].key].bytes for name, _ in sorter.by]
    size = 4 * max(words, -(-max(sizes) // 4))
    records, places = np.zeros((n, size), np.uint8), [int(RNG.integers(0, size - x + 1)) for x in sizes]
    for (name, _), at, x in zip(sorter.by, places, sizes, strict=True):
        records[:, at : at + x] = column(RNG, name, n).view(np.uint8).reshape(n, x)
    cut = [records[:, at : at + x].copy().reshape(-1) for at, x in zip(places, sizes, strict=True)]
    columns = [x.view(TYPES[name].numpy) for x, (name, _) in zip(cut, sorter.by, strict=True)]
    mine = Inside(fake, records)
    sorter([Field(mine.part, at) for at in places], values=[mine.part])
    assert np.array_equal(mine.get(), records[order_of(columns, sorter.by)])


@pytest.mark.parametrize("by", [SHAPES[4], *(nightly(x) for x in SHAPES[:4] + SHAPES[5:])])
def test_tables_and_records(by: tuple[tuple[str, str], ...], fake: Fake) -> None:
    sorter = ColumnSorter(by, target="generic")
    for i, n in enumerate((0, 1, 2, 255, 256, 257, 1500)):
        for place in PLACES if n > 257 else (PLACES[i % len(PLACES)],):
            one_table(sorter, fake, n, [int(x) for x in RNG.integers(1, 65, i % 4)], place)
    for n, words in ((1, 1), (300, 4), (1000, 16), (999, 5)):
        one_table_of_records(sorter, fake, n, words)


def test_narrow_columns_and_values_of_any_size(fake: Fake) -> None:
    sorter = ColumnSorter(["u8", ("bf16", "descending"), "u64"], target="generic")
    for n in (1, 300, 1500):
        one_table(sorter, fake, n, [1, 2, 3, 4, 7, 8, 16, 24, 64], "in place")
        one_table(sorter, fake, n, [1, 2, 6], "index and out")


def test_what_a_table_refuses(fake: Fake) -> None:
    made = ColumnSorter(["u32", ("f32", "descending")], target="generic")
    a, b = Array(fake, np.zeros(10, np.uint32)), Array(fake, np.zeros(10, np.float32))
    order, elsewhere = Array(fake, np.zeros(10, np.uint32)), Array(fake, np.zeros(10, np.float32), device=1)
    fixed = Array(fake, np.zeros(10, np.uint32), readonly=True)
    for keys, more, line in (
        ([a], {}, "keys has 1 columns, this sorter has 2"),
        ([a, b.part(0, 9)], {}, "columns have 9 and 10 rows"),
        ([b, a], {}, r"keys 0 has shape \(10,\) of float32; give one dimension of uint32"),
        ([a, elsewhere], {}, "keys 1 is on GPU 1, this sort on GPU 0"),
        ([a, b], {"out": [a]}, "out has 1 arrays, keys 2; give one for each"),
        ([a, b], {"out": [order, b], "index_out": order}, "overlap"),
        ([a, b], {"index_out": a}, "keys 0 and index_out overlap|index_out and keys 0 overlap"),
        ([a, b], {"index_out": b}, "index_out has shape .* of float32; give one dimension of uint32"),
        ([a, b], {"index_out": order.part(0, 9)}, "index_out holds 9 indices, 10 are to be stored"),
        ([a, b], {"out": [fixed, b]}, "out 0 is read-only"),
        ([a, b], {"values": [fixed]}, "values 0 is read-only"),
        ([Field(a, 2), b], {}, "keys 0: offset 2: give 0 to 0; its keys have 4 bytes, its records 4"),
        ([a, b], {"stream": 5}, "the stream belongs to GPU 1"),
    ):
        with pytest.raises(ValueError, match=line):
            made(keys, **more)
    with pytest.raises(TypeError, match="keys 1 is a ndarray; give an array on a GPU"):
        made([a, np.zeros(10, np.float32)])
    with pytest.raises(Usage, match="by is empty"):
        ColumnSorter([], target="generic")
    with pytest.raises(Usage, match="order up: unknown"):
        ColumnSorter([("u32", "up")], target="generic")
    assert not fake.launched and "('u32', 'ascending')" in repr(made) and made.max_n == 2**30 - 1


def test_columns_of_two_words_take_two_sorts_on_the_stream_of_the_call(fake: Fake) -> None:
    """128-bit keys."""
    fake.runs = False
    n = 1000
    keys = [Array(fake, RNG.integers(0, 3, n, np.uint64)) for _ in range(2)]
    order = Array(fake, np.zeros(n, np.uint32))
    ColumnSorter(["u64", "u64"], target="generic")(keys, index_out=order, stream=6)
    streams = {x.stream for x in fake.launched}
    assert streams == {6} and fake.calls.count("allocate 6") == fake.calls.count("free 6") > 1


@pytest.mark.parametrize(("key", "order"), [("f32", "descending"), ("i16", "ascending"), ("bf16", "descending")])
def test_selections(key: str, order: str, fake: Fake) -> None:
    select = TopK(key, value="index", order=order, target="generic")
    for rows, length, k in ((1, 1, 1), (1, 5000, 7), (3, 700, 700), (2, 3000, 64)):
        data = column(RNG, key, rows * length)
        mine, out = Inside(fake, data), Inside(fake, np.zeros(rows * k, data.dtype))
        places = Inside(fake, np.zeros(rows * k, np.int32))
        select(mine.part, k, rows=rows, out=out.part, values_out=places.part)
        for row in range(rows):
            part = data[row * length :][:length]
            first = order_of([part], ((key, order),))[:k]
            if k > select.sorted_up_to:
                first = np.sort(first)
            assert np.array_equal(places.get()[row * k :][:k], first)
            assert out.get()[row * k :][:k].tobytes() == part[first].tobytes()
        assert mine.get().tobytes() == data.tobytes()


@pytest.mark.parametrize(("rows", "length", "k"), [(2, 3000, 64), (3, 700, 700)])
def test_selections_in_numeric_order(rows: int, length: int, k: int, fake: Fake) -> None:
    """NaNs with any sign are the greatest, zeros are equal, and equal keys keep their order."""
    select = TopK("f32", value="index64", numeric=True, target="generic")
    data = RNG.integers(-9, 9, rows * length).astype(np.float32)
    for special in (-0.0, np.nan, -np.nan, np.inf):
        data[RNG.integers(0, len(data), 9)] = special
    out, places = Inside(fake, np.zeros(rows * k, data.dtype)), Inside(fake, np.zeros(rows * k, np.int64))
    select(Inside(fake, data).part, k, rows=rows, out=out.part, values_out=places.part)
    for part, order in zip(data.reshape(rows, -1), places.get().reshape(rows, -1), strict=True):
        nan = np.isnan(part)
        first = np.lexsort((-np.where(nan, 0, part), ~nan))[:k]
        assert np.array_equal(order, first)
    assert np.array_equal(np.isnan(out.get()).sum(), np.isnan(data.reshape(rows, -1)).sum(1).clip(max=k).sum())


def test_what_a_selection_refuses(fake: Fake) -> None:
    select = TopK("u32", target="generic")
    keys, out = Array(fake, np.zeros(100, np.uint32)), Array(fake, np.zeros(10, np.uint32))
    with pytest.raises(ValueError, match="out holds 10 keys, 20 are to be selected"):
        select(keys, 10, rows=2, out=out)
    with pytest.raises(Usage, match="rows 3: 100 keys cannot be divided"):
        select(keys, 3, rows=3, out=out)
    with pytest.raises(Usage, match="k 101: give 1 to 100, the length of a row"):
        select(keys, 101, out=Array(fake, np.zeros(200, np.uint32)))
    with pytest.raises(ValueError, match="values_out is given, but this selection has none"):
        select(keys, 1, out=out, values_out=keys)
    with pytest.raises(TypeError, match="out is None"):
        select(keys, 1, out=None)
    assert not fake.launched


@pytest.mark.parametrize("size", [4, 8, 12, 16, 48, 256])
def test_gathers(size: int, fake: Fake) -> None:
    gather = Gatherer(target="generic")
    for n in COUNTS:
        table = RNG.integers(0, 256, (max(n // 2, 1), size), np.uint8)
        index = RNG.integers(0, len(table), n).astype(np.int32)
        index[::9] = len(table)  # beyond the table
        out = Inside(fake, np.full((n, size), 7, np.uint8))
        gather(Array(fake, index), Array(fake, table), out.part)
        valid = index < len(table)
        assert (out.get()[valid] == table[index[valid]]).all() and (out.get()[~valid] == 7).all()


def test_gathers_take_what_addresses_are_multiples_of(fake: Fake) -> None:
    """Items of 16 bytes at 4 bytes into memory are moved by words."""
    table, gather = RNG.integers(0, 1 << 32, 401, np.uint32), Gatherer(target="generic")
    index = RNG.integers(0, 100, 100, np.uint32)
    out = Array(fake, np.zeros(400, np.uint32))
    gather(Array(fake, index), Array(fake, table).part(1, 401), out, item_bytes=16)
    assert (out.get().reshape(-1, 4) == table[1:].reshape(-1, 4)[index]).all()
    bytes_ = Array(fake, np.zeros(400, np.uint8))
    with pytest.raises(ValueError, match="source starts at an address that is no multiple of 4"):
        gather(Array(fake, index), bytes_.part(1, 397), bytes_, item_bytes=4)
    with pytest.raises(Usage, match="item_bytes 3: give a multiple of 4"):
        gather(Array(fake, index), bytes_, bytes_, item_bytes=3)
    with pytest.raises(ValueError, match="out has items of 4 bytes, source of 1"):
        gather(Array(fake, index), bytes_, out)


def runs(keys: Any) -> Any:
    """Where runs of equal keys start."""
    return np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])


@pytest.mark.parametrize("reduction", ["sum", "min", "max"])
def test_reductions_and_groups(reduction: str, fake: Fake) -> None:
    of = {"sum": np.add, "min": np.minimum, "max": np.maximum}[reduction]
    reduce, group_by = ReduceByKey("u32", value="i32", target="generic"), GroupBy("u32", value="i32", target="generic")
    for n in COUNTS[1:]:
        keys, values = RNG.integers(0, 40, n, np.uint32), RNG.integers(-99, 99, n).astype(np.int32)
        order = np.argsort(keys, kind="stable")
        for make, k, v in ((reduce, keys, values), (group_by, keys[order], values[order])):
            mine, out, sums, counts, firsts = (
                Inside(fake, x) for x in (keys, keys * 0, values * 0, keys * 0, keys * 0)
            )
            number, held = Array(fake, np.zeros(1, np.uint32)), fake.held
            make(
                mine.part,
                out=out.part,
                groups=number,
                values=Array(fake, values),
                values_out=sums.part,
                reduction=reduction,
                counts=counts.part,
                first_indices=firsts.part,
            )
            assert fake.held == held + 1, "only the values are new"
            begins = runs(k)
            found = int(number.get()[0])
            assert found == len(begins) and (out.get()[:found] == k[begins]).all()
            assert (sums.get()[:found] == of.reduceat(v, begins)).all()
            assert (counts.get()[:found] == np.diff(begins, append=n)).all()
            assert (firsts.get()[:found] == begins).all() and (mine.get() == keys).all()


def test_no_keys_make_no_groups(fake: Fake) -> None:
    none, number = Array(fake, np.zeros(0, np.uint32)), Array(fake, np.full(1, 9, np.uint32))
    for make in (ReduceByKey("u32", target="generic"), GroupBy("u32", target="generic")):
        fake.write(number.address, np.full(1, 9, np.uint32))
        make(none, out=none, groups=number)
        assert number.get()[0] == 0


def test_a_count_on_the_device(fake: Fake) -> None:
    reduce = ReduceByKey("u32", device_count=True, target="generic")
    keys = np.repeat(np.arange(100, dtype=np.uint32), 7)
    mine, stored, number = Array(fake, keys), Array(fake, keys * 0), Array(fake, np.zeros(1, np.uint32))
    reduce(mine, out=stored, groups=number, count=Array(fake, np.array([70], np.uint32)))
    assert number.get()[0] == 10 and (stored.get()[:10] == np.arange(10)).all() and not stored.get()[10:].any()


def test_what_groups_refuse(fake: Fake) -> None:
    group_by = GroupBy("u32", value="f32", order="descending", target="generic")
    keys, number = Array(fake, np.zeros(10, np.uint32)), Array(fake, np.zeros(1, np.uint32))
    values, fixed = Array(fake, np.zeros(10, np.float32)), Array(fake, np.zeros(10, np.float32), readonly=True)
    good = {"out": Array(fake, np.zeros(10, np.uint32)), "groups": number, "values": values}
    for more, line in (
        ({"values_out": values}, "overlap"),
        ({"values_out": fixed}, "values_out is read-only"),
        ({}, "values_out is missing: this reduction has values of f32"),
        ({"values_out": fixed, "counts": number}, "counts holds 1"),
        ({"values": keys, "values_out": values}, "values has elements of uint32, this reduction takes float32"),
    ):
        with pytest.raises(ValueError, match=line):
            group_by(keys, **{**good, **more})
    with pytest.raises(Usage, match="reduction mean"):
        group_by(keys, **good, values_out=Array(fake, np.zeros(10, np.float32)), reduction="mean")
    assert "descending" in repr(group_by) and "group_by" in repr(group_by) and not fake.launched
    assert group_by.scratch_bytes(1 << 20) > 2 * 4 << 20


class Own(libraries.Library):
    """A library that makes arrays."""

    def __init__(self, fake: Fake) -> None:
        self._fake = fake

    def empty(self, like: Any, n: int, *, words: bool = False) -> Any:
        return Numbers(self._fake, np.zeros(n, np.uint32 if words else like.dtype))


class Numbers(Array):
    """An array of which elements can be read."""

    def __getitem__(self, what: Any) -> Any:
        return self.part(0, what.stop) if isinstance(what, slice) else self.get()[what]


@pytest.mark.parametrize("kind", [np.uint32, np.float32, np.int8])
def test_unique_keys_and_run_lengths(kind: Any, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_known", {Numbers: Own(fake)})
    monkeypatch.setattr(groups, "GroupBy", partial(GroupBy, target="generic"))
    monkeypatch.setattr(groups, "ReduceByKey", partial(ReduceByKey, target="generic"))
    data = RNG.integers(0, 50, 3000).astype(kind)
    keys = Numbers(fake, data)
    right, often = np.unique(data, return_counts=True)
    assert (unique(keys).get() == right).all()
    found, counts = unique(keys, return_counts=True, order="descending")
    assert (found.get() == right[::-1]).all() and (counts.get() == often[::-1]).all()
    begins = runs(data)
    found, counts = run_length_encode(keys)
    assert (found.get() == data[begins]).all() and (counts.get() == np.diff(begins, append=3000)).all()


def test_unique_needs_a_library_that_makes_arrays(fake: Fake) -> None:
    with pytest.raises(TypeError, match="keys is an Array; give an array of PyTorch or CuPy"):
        unique(Array(fake, np.zeros(9, np.uint32)))
