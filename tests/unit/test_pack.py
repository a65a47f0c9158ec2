"""Packs without a device: parameters and plans of every target, the columns of a call, and what the oracle expects."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hsgen import operations
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, launches, numbers
from hsgen.core.keys import PLAIN, TYPES, Signature
from hsgen.emit.kernels import render
from hsgen.operations.gather import unit
from hsgen.operations.oracle import ordered
from hsgen.operations.pack import ROLES, SIGNATURE, number, packed
from hsgen.operations.records import field, layouts, size
from hsgen.targets import assembly, target

ONE = [("u32", "ascending")]


@pytest.mark.parametrize("name", target.names())
@pytest.mark.parametrize("key", ["u32", "u64"])
def test_every_target_packs(name: str, key: str) -> None:
    found = target.find(name)
    if "pack" not in found.implicit(key):
        pytest.skip(f"{name} sorts no such keys")
    for signature in (PLAIN, Signature(value="index"), Signature(value="v4", bit_range=True)):
        sort = found.sort("pack", key, signature)
        (kernel,) = sort.kernels
        assert sort.signature == SIGNATURE and sort.operation == "pack" and kernel.work_group <= found.device.work_group
        assert not kernel.arrays and sort.plan.scratch.bytes(sort.plan.max_n) == 0
        tile = assembly.block(sort)
        how = Options(columns=number(ONE))
        for n in (1, tile - 1, tile, tile + 1, 1 << 30):
            (launch,) = launches(sort.plan, n, in_place=False, how=how)
            assert (launch.groups - 1) * tile < n <= launch.groups * tile and launch.argument == how.columns
        assert not [*launches(sort.plan, 0, in_place=False, how=how)]


@pytest.mark.parametrize("key", ["u8", "u16"])
def test_narrow_keys_are_refused(key: str) -> None:
    with pytest.raises(Usage):
        target.find("generic").sort("pack", key, PLAIN)


def test_numbers_of_calls() -> None:
    assert number([("u8", "ascending")]) == 0b100000
    assert number([("f64", "descending"), ("i16", "ascending")]) == 0b100101_111011
    assert number([("u64", "ascending")] * 2, 96) == 3 << 24 | 0b100011_100011
    assert max(number([(name, "descending")] * 4) for name in TYPES if size(name) <= 4) < 1 << 24


@pytest.mark.parametrize(
    ("columns", "begin", "line"),
    [
        ([], 0, "0 columns: give 1 to 4"),
        (ONE * 5, 0, "5 columns: give 1 to 4"),
        ([("u64", "ascending")] * 3, 0, "columns of 24 bytes: give at most 16"),
        ([("u24", "ascending")], 0, "column u24 ascending: give one of u8"),
        ([("u32", "upwards")], 0, "column u32 upwards"),
        (ONE, 8, "begin_bit 8: give a multiple of 32 below 32"),
        (ONE, 32, "begin_bit 32: give a multiple of 32 below 32"),
        (ONE, -32, "begin_bit -32"),
    ],
)
def test_wrong_columns_are_refused(columns: list[tuple[str, str]], begin: int, line: str) -> None:
    with pytest.raises(Usage, match=re.escape(line)) as refused:
        number(columns, begin)
    assert "\n" not in str(refused.value)


def test_numbers_may_be_those_of_numpy_but_no_others() -> None:
    columns = [("u64", "ascending")] * 2
    for kind in (np.uint8, np.int16, np.uint64):
        assert type(number(columns, kind(96))) is int and number(columns, kind(96)) == number(columns, 96)
        found = layouts([("u8", "ascending")] * 4, [(kind(8), kind(7))] * 4)
        assert type(found) is int and found == layouts([("u8", "ascending")] * 4, [(8, 7)] * 4)
        assert unit(kind(48)) == "v16"
    for wrong in (True, 32.0, None, "32"):
        for name, call in (
            ("begin_bit", lambda x: number(columns, x)),
            ("stride", lambda x: layouts(columns[:1], [(x, 0)])),
            ("offset", lambda x: layouts(columns[:1], [(64, x)])),
            ("item_bytes", unit),
        ):
            with pytest.raises(TypeError, match=rf"^{name} is .*; give an integer from "):
                call(wrong)


def test_layouts_of_calls() -> None:
    columns = [("u8", "ascending"), ("f64", "descending"), ("u16", "ascending"), ("i32", "ascending")]
    found = layouts(columns, [(4, 3), (0, 0), (256, 254), (8, 4)])
    each = [found >> 15 * i & 0x7FFF for i in range(4)]
    assert each == [1 | 3 << 7, 0, 64 | 254 << 7, 2 | 4 << 7] and found < 1 << 60
    assert layouts(columns, [(0, 0)] * 4) == 0
    sort = target.find("generic").sort("pack", "u64", PLAIN)
    how = Options(columns=number(columns), layouts=found)
    low, high = numbers(sort, sort.plan.steps[0], how)
    assert (low, high) == (each[0] | each[1] << 15, each[2] | each[3] << 15) and how.number == how.columns


@pytest.mark.parametrize(
    ("column", "stride", "offset", "line"),
    [
        ("u32", 6, 0, "stride 6: give a multiple of 4 up to 256"),
        ("u32", 260, 0, "stride 260"),
        ("u32", -4, 0, "stride -4"),
        ("u64", 4, 0, "stride 4: u64 is not within a record"),
        ("u32", 8, 8, "offset 8: u32 is not within a record of 8 bytes"),
        ("u8", 8, 8, "offset 8"),
        ("u8", 8, -1, "offset -1"),
        ("u16", 0, 2, "offset 2: u16 is not within a record of 0 bytes"),
        ("u16", 8, 3, "offset 3: give a multiple of 2 for u16"),
        ("f32", 8, 2, "offset 2: give a multiple of 4 for f32"),
        ("f64", 16, 6, "offset 6: give a multiple of 4 for f64"),
    ],
)
def test_wrong_fields_are_refused(column: str, stride: int, offset: int, line: str) -> None:
    with pytest.raises(Usage, match=re.escape(line)):
        layouts([(column, "ascending")], [(stride, offset)])


def test_tables_beyond_the_indices_of_words_are_refused() -> None:
    sort = target.find("generic").sort("pack", "u64", PLAIN)
    how = Options(columns=number(ONE), layouts=layouts(ONE, [(256, 0)]))
    assert operations.settled(sort, (1 << 25) - 1, how, ROLES) == how
    with pytest.raises(Usage, match="column 1: a table of records has up to 8589934588 bytes"):
        operations.settled(sort, 1 << 25, how, ROLES)


def test_cases_have_arrays_and_fields() -> None:
    """Also fields of shared records, each at a byte of its own, whose values are those of the keys expected."""
    sort, rng = target.find("generic").sort("pack", "u64", PLAIN), np.random.default_rng(1)
    made = [
        operations.of(sort).call(sort, np.arange(9, dtype=np.uint64), Options(), in_place=False, count=None, rng=rng)
        for _ in range(300)
    ]
    strides = {call.how.layouts >> 15 * i & 127 for call in made for i in range(4)}
    offsets = {call.how.layouts >> 15 * i + 7 & 255 for call in made for i in range(4)}
    assert {0, 1, 64} < strides <= set(range(65)) and {x % 4 for x in offsets} == {0, 1, 2, 3} and max(offsets) > 200
    assert sum(bool(call.shared) for call in made) > 50
    for call in made:
        each = [getattr(call, {"source": "keys"}.get(role, role)) for role in ROLES]
        assert all(call.shared.get(role, role) in ROLES for role in ROLES)
        assert all(x is None or x.nbytes <= 9 * 256 for x in each)


def test_fields_of_records() -> None:
    records = np.zeros(3, [("day", "<u2"), ("tag", "u1"), ("more", "u1"), ("price", "<u4")])
    records["day"], records["tag"], records["price"] = [1, 2, 3], [4, 5, 6], [7, 8, 1 << 31]
    table = records.view(np.uint8).reshape(3, 8)
    assert [field(table, at, size).tolist() for at, size in ((0, 2), (2, 1), (4, 4))] == [
        [1, 2, 3],
        [4, 5, 6],
        [7, 8, 1 << 31],
    ]


def test_columns_without_buffers_are_refused() -> None:
    sort = target.find("generic").sort("pack", "u64", PLAIN)
    how = Options(columns=number(ONE * 3))
    with pytest.raises(Usage, match="column 3"):
        operations.settled(sort, 5, how, ("source", "other", "destination"))
    with pytest.raises(Usage, match="at least one"):
        operations.settled(sort, 5, Options(), ROLES)
    assert operations.settled(sort, 5, how, ROLES) == how
    assert operations.settled(sort, 0, Options(), ()) == Options()


def test_expected_keys() -> None:
    price, day = np.array([1.0, -1.0, -0.0], np.float32).view(np.uint32), np.array([3, 2, 1], np.uint16)
    by = [("f32", "descending"), ("u16", "ascending")]
    assert [hex(key) for key in packed([price, day], by, 0, 8)] == [
        "0x407fffff0003",
        "0xbf8000000002",
        "0x800000000001",
    ]
    assert [hex(key) for key in packed([price, day], by, 32, 4)] == ["0x407f", "0xbf80", "0x8000"]
    assert [hex(key) for key in packed([price, day], by, 0, 4)] == ["0xffff0003", "0x2", "0x1"]


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_keys_is_that_of_rows(seed: int) -> None:
    """Keys of two words sort rows as numpy sorts the columns."""
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.choice([*TYPES], 4)]
    while sum(size(name) for name in names) > 16:
        names.pop()
    by = [(name, ("ascending", "descending")[rng.integers(2)]) for name in names]
    columns = [rng.integers(0, 256, (200, size(name)), np.uint8) & 0x81 for name in names]  # some equal, some negative
    columns = [
        np.ascontiguousarray(c).view(f"u{size(name)}").reshape(200) for c, name in zip(columns, names, strict=True)
    ]
    ordered_by = [
        ordered(column, TYPES[name].kind, descending=order == "descending")
        for column, (name, order) in zip(columns, by, strict=True)
    ]
    words = [packed(columns, by, begin, 8) for begin in (0, 64)]
    assert np.array_equal(np.lexsort(words), np.lexsort(ordered_by[::-1]))


def test_kernels_index_with_names() -> None:
    """Dialects add the first element to an index, which binds closer than a shift."""
    text = render(target.find("generic").sort("pack", "u64", PLAIN), "vulkan").text
    assert "source_first" in text and not re.search(r"_first \+ [^\]]*>>", text)
