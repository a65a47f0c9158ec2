"""The first keys of rows as array libraries define them, through the driver without a GPU: kernels run on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from every import LANES
from fake_cuda import Array, Fake
from first_of_rows import First, drawn, first_of_rows, ranks_of
from nightly import nightly, thinned

from hsgen.cuda import selections
from hsgen.cuda.selected import fill
from hsgen.cuda.selections import Take, selection, selector, sorts_after
from hsgen.cuda.top_k_choices import ANY, LIBRARY, LONGEST, RULES, SELECT, SORT, choice
from hsgen.engines.hosts import Host
from hsgen.runners.row_numbers import NAMES
from hsgen.targets.target import find

pytestmark = pytest.mark.device
RNG = np.random.default_rng(49)
KEYS = {
    "f32": np.float32,
    "i32": np.int32,
    "f16": np.float16,
    "u8": np.uint8,
    "bool": np.bool_,
    "i64": np.int64,
    "f64": np.float64,
}
FLOATS = ("f16", "f32", "f64")
NONE: Mapping[str, Any] = {}
KINDS = {"table_starts": np.int64}


@pytest.fixture
def fake(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> Fake:
    monkeypatch.setattr(
        "hsgen.runners.arguments.hosts.target_for", lambda host, every: find(str(LANES / "lanes4.toml"))
    )
    return Fake(embedded).install(monkeypatch)


def rows_of(key: str, shape: tuple[int, int]) -> Any:
    """Rows with many equal keys; floats with zeros and NaNs of both signs, and infinities."""
    if key == "bool":
        return RNG.integers(0, 2, shape).astype(bool)
    rows = RNG.integers(0 if key == "u8" else -40, 40, shape).astype(KEYS[key])
    if key in FLOATS:
        for special in (0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf):
            rows[RNG.random(shape) < 0.06] = special
    return rows


def call(fake: Fake, ready: Any, rows: Any, numbers: Mapping[str, Any] = NONE) -> First:
    """The keys, the indices and the entries that a selection stores."""
    take = ready.take
    shape = (take.rows, take.k)
    source, keys = Array(fake, rows), Array(fake, np.zeros(shape, rows.dtype))
    indices = Array(fake, np.full(shape, 99, np.int64))
    arrays = {name: Array(fake, x.astype(KINDS.get(name, np.int32))) for name, x in numbers.items() if name != "table"}
    entries = None
    if "table" in numbers:
        pair = numbers["table"], np.zeros(shape, f"i{take.entry}")
        arrays["table"], arrays["entries"] = (Array(fake, x) for x in pair)
        entries = arrays["entries"]
    addresses = {name: x.address for name, x in arrays.items()}
    if entries is not None:
        addresses["size"] = numbers["table"].size
    scratch = fake.allocate(ready.scratch)
    ready.run(source.address, keys.address, indices.address, scratch, 0, addresses)
    assert source.get().tobytes() == rows.tobytes()
    return First(keys.get(), indices.get(), None if entries is None else entries.get())


def check(take: Take, ready: Any, rows: Any, result: First, numbers: Mapping[str, Any] = NONE) -> None:
    """Compare every bit; a result that need not be sorted may be in any order."""
    ranks = ranks_of(rows, largest=take.largest)
    expected = first_of_rows(take.key, rows, ranks, take.k, largest=take.largest, numbers=numbers)
    if not take.sorted:
        order = [np.argsort(x.indices, axis=1, kind="stable") for x in (result, expected)]
        result, expected = (
            First(*(x if x is None else np.take_along_axis(x, o, 1) for x in every))
            for every, o in zip((result, expected), order, strict=True)
        )
    assert (result.indices == expected.indices).all()
    assert result.keys.tobytes() == expected.keys.tobytes()
    assert expected.entries is None or (result.entries == expected.entries).all()


CASES = [
    (key, largest, ordered, method)
    for key in KEYS
    for largest in (True, False)
    for ordered in (True, False)
    for method in (SELECT, SORT)
]


@pytest.mark.parametrize(("key", "largest", "ordered", "method"), thinned(CASES, 27))
def test_keys_keep_their_bits_and_ties_their_order(
    key: str, largest: bool, ordered: bool, method: str, fake: Fake
) -> None:
    for count, length, k in ((3, 700, 9), (1, 50, 50), (5, 1, 1)):
        take = Take(number=0, key=key, rows=count, length=length, k=k, largest=largest, sorted=ordered)
        ready = selection(take, method)
        assert ready is not None and ready.steps == method
        rows = rows_of(key, (count, length))
        check(take, ready, rows, call(fake, ready, rows))


@pytest.mark.parametrize(("key", "largest"), [("f32", True), nightly("f32", False), nightly("f16", True)])
def test_lists_of_long_rows_are_in_numeric_order(key: str, largest: bool, fake: Fake) -> None:
    """`sample` and `collect` read raw keys: NaNs of both signs are equal there, too, and so are zeros."""
    take = Take(number=0, key=key, rows=2, length=40000, k=300, largest=largest)
    ready = selection(take, SELECT)
    rows = np.random.default_rng(7).normal(size=(2, 40000)).astype(KEYS[key])
    for special in (np.nan, -np.nan, np.inf, -np.inf):
        rows[RNG.random(rows.shape) < 0.002] = special
    rows[1] = np.where(RNG.random(40000) < 0.004, rows[1], np.where(rows[1] < 0, -0.0, 0.0))
    result = call(fake, ready, rows)
    assert {"sample", "collect"} <= {x.kernel for x in fake.launched}
    check(take, ready, rows, result)


@pytest.mark.parametrize("key", ["f32", nightly("i64")])
def test_a_sort_follows_a_selection_of_many_keys(key: str, fake: Fake) -> None:
    limit = selector(Take(number=0, key=key, rows=1, length=1, k=1)).sorted_up_to
    take = Take(number=0, key=key, rows=2, length=5 * limit, k=limit + 1)
    assert sorts_after(take)
    ready = selection(take)
    assert ready is not None and ready.steps == "select, sort"
    rows = rows_of(key, (take.rows, take.length))
    check(take, ready, rows, call(fake, ready, rows))
    launched = [x.kernel for x in fake.launched]
    assert launched[-1] == "hs_selected" and launched.count("hs_selected") == 1
    unsorted = selection(Take(number=0, key=key, rows=2, length=5 * limit, k=limit + 1, sorted=False))
    assert unsorted is not None and unsorted.steps == "select"


@pytest.mark.parametrize(
    ("key", "largest", "method"),
    [
        ("f32", True, SELECT),
        nightly("f32", True, SORT),
        nightly("f16", False, SELECT),
        nightly("f16", False, SORT),
        nightly("i32", False, SELECT),
        nightly("i32", False, SORT),
        nightly("bool", True, SELECT),
        nightly("bool", True, SORT),
    ],
)
def test_keys_beyond_a_length_do_not_count(key: str, largest: bool, method: str, fake: Fake) -> None:
    lengths = {"lengths": np.array([0, 1, 30, 299, 300, 7])}
    take = Take(number=0, key=key, rows=6, length=300, k=31, largest=largest, numbers=("lengths",))
    ready = selection(take, method)
    assert ready is not None
    rows = rows_of(key, (6, 300))
    check(take, ready, rows, call(fake, ready, rows, lengths), lengths)


@pytest.mark.parametrize(("key", "largest"), [nightly("f32", True), nightly("f32", False), nightly("i64", True)])
def test_a_sort_follows_a_selection_from_rows_of_lengths(key: str, largest: bool, fake: Fake) -> None:
    limit = selector(Take(number=0, key=key, rows=1, length=1, k=1)).sorted_up_to
    lengths = {"lengths": np.array([9, 5 * limit, 2 * limit, limit + 1])}
    take = Take(number=0, key=key, rows=4, length=5 * limit, k=limit + 7, largest=largest, numbers=("lengths",))
    ready = selection(take)
    assert ready is not None and ready.steps == "select, sort"
    rows = rows_of(key, (4, take.length))
    check(take, ready, rows, call(fake, ready, rows, lengths), lengths)


def test_rows_beyond_one_call_are_selected_in_turns(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selections, "LONGEST", 1000)
    lengths = np.array([300, 2, 100, 0, 300, 299, 50])
    starts = np.array([0, 200, 100, 0, 299, 1, 250])
    for numbers in (NONE, {"lengths": lengths}, {"starts": starts, "takes": lengths // 60}):
        take = Take(number=0, key="f32", rows=7, length=300, k=5, numbers=tuple(numbers))
        ready = selection(take)
        assert ready is not None
        rows, before = rows_of("f32", (7, 300)), len(fake.launched)
        check(take, ready, rows, call(fake, ready, rows, numbers), numbers)
        assert sum(not x.kernel.startswith("hs_") for x in fake.launched[before:]) == 3
        fake.launched.clear()
        monkeypatch.setattr(selections, "_selections", {})


NUMBERS = (("starts",), ("takes",), ("count",), ("table",), ("table", "table_starts"), NAMES)
"""The numbers of rows of a call."""


@pytest.mark.parametrize(
    ("key", "largest", "method", "names"),
    [
        ("f32", True, SELECT, NAMES),
        ("i32", False, SORT, NAMES),
        nightly("i32", True, SELECT, ("takes",)),
        *(
            nightly(key, key != "f16", m, names)
            for key in ("f16", "u8", "i64")
            for m in (SELECT, SORT)
            for names in NUMBERS
        ),
    ],
)
def test_every_number_of_rows_counts(key: str, largest: bool, method: str, names: tuple[str, ...], fake: Fake) -> None:
    for entry, ordered in ((4, True), (8, False)):
        take = Take(
            number=0, key=key, rows=9, length=300, k=31, largest=largest, numbers=names, entry=entry, sorted=ordered
        )
        ready = selection(take, method)
        assert ready is not None
        rows, numbers = rows_of(key, (9, 300)), drawn(RNG, names, 9, 300, 31)
        if "table" in numbers:
            numbers["table"] = numbers["table"].astype(f"i{entry}")
        check(take, ready, rows, call(fake, ready, rows, numbers), numbers)


@pytest.mark.parametrize(("key", "ordered"), [nightly("f32", True), nightly("i64", True), nightly("f32", False)])
def test_a_sort_follows_a_selection_of_many_keys_with_numbers_of_rows(key: str, ordered: bool, fake: Fake) -> None:
    limit = selector(Take(number=0, key=key, rows=1, length=1, k=1)).sorted_up_to
    for names in (("takes",), ("starts", "count"), NAMES):
        take = Take(number=0, key=key, rows=5, length=5 * limit, k=limit + 7, numbers=names, entry=8, sorted=ordered)
        ready = selection(take)
        assert ready is not None and (ready.steps == "select, sort") == (ordered or "takes" in names)
        rows, numbers = rows_of(key, (5, take.length)), drawn(RNG, names, 5, take.length, take.k)
        check(take, ready, rows, call(fake, ready, rows, numbers), numbers)


def test_selections_are_prepared_once(fake: Fake) -> None:
    take = Take(number=0, key="f32", rows=2, length=100, k=3)
    assert selection(take) is selection(take)
    assert selection(take, SORT) is not selection(take)


def test_rules_name_a_method_for_every_selection() -> None:
    assert RULES[-1].fits("f32", 1, 1, 1, sorts=False) and RULES[-1].rows == (1, ANY)
    assert choice("f32", 1, LONGEST + 1, 5, sorts=False) == LIBRARY
    assert choice("f32", 1, LONGEST, 5, sorts=False) == SELECT
    assert choice("f32", 1, 1 << 20, 1 << 19, sorts=True) == SORT
    assert choice("f32", 1, 1 << 20, 1 << 19, sorts=False) == SELECT
    assert choice("f32", 1, 1 << 20, 5000, sorts=True) == SELECT


@pytest.mark.parametrize(
    ("key", "most", "least"),
    [
        ("u8", 0, 255),
        ("bool", 0, 1),
        ("i16", 0x8000, 0x7FFF),
        ("f32", 0xFF800000, 0x7FC00000),
        ("bf16", 0xFF80, 0x7FC0),
        ("f64", 0xFFF << 52, 0x7FF8 << 48),
    ],
)
def test_the_last_key_in_order(key: str, most: int, least: int) -> None:
    assert (fill(key, largest=True), fill(key, largest=False)) == (most, least)
