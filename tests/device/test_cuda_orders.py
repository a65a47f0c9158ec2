"""Sorts of rows with 64-bit indices whose last pass stores these, through the driver without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from every import LANES
from fake_cuda import Array, Fake

from hsgen.algorithms.radix import floats
from hsgen.core.keys import Signature
from hsgen.cuda import Sorter
from hsgen.cuda import order as orders
from hsgen.cuda.choices import EACH, WHOLE
from hsgen.cuda.order import Shape, order
from hsgen.engines.hosts import Host
from hsgen.targets.target import find

pytestmark = pytest.mark.device
RNG = np.random.default_rng(29)
PIECES = find(str(LANES / "pieces8.toml"))
KEYS = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}


@pytest.fixture
def fake(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> Fake:
    monkeypatch.setattr("hsgen.runners.arguments.hosts.target_for", lambda host, every: PIECES)
    monkeypatch.setattr(orders, "WIDE_UP_TO", 0)
    return Fake(embedded).install(monkeypatch)


def keys(kind: str, n: int, key: str) -> Any:
    """Normal floats; any bits; keys with one highest digit; few values; few highest bits, with zeros and NaNs."""
    size = np.dtype(KEYS[key]).itemsize
    bits = RNG.standard_normal(n).astype(f"f{size}").view(f"u{size}")
    if kind == "any":
        bits = RNG.integers(0, np.iinfo(bits.dtype).max, n, bits.dtype, endpoint=True)
    if kind == "one digit":
        bits = bits >> bits.dtype.type(9)
    if kind == "few":
        bits = bits[RNG.integers(0, 3, n)]
    if kind == "special":
        half = RNG.integers(0, np.iinfo(bits.dtype).max, n, bits.dtype) >> bits.dtype.type(4 * size)
        bits = bits.dtype.type(0x01010101 >> 8 * (4 - size // 2) << 4 * size) & bits | half
        infinity, sign = np.array([np.inf], f"f{size}").view(bits.dtype)[0], bits.dtype.type(1 << 8 * size - 1)
        for one in (bits.dtype.type(0), sign, infinity, infinity | bits.dtype.type(3), ~bits.dtype.type(0), ~sign):
            bits[RNG.integers(0, n, n // 9)] = one
    return bits.view(KEYS[key])


def turns(fake: Fake, begin: int) -> list[int]:
    """The numbers of the passes that may have stored all, as launches afterwards find them."""
    found = []
    for launched in fake.launched[begin:]:
        if launched.kernel == "hs_finish" and launched.pointers[-1]:
            word = np.empty(1, np.uint32)
            fake.read(launched.pointers[-1], word)
            found.append(int(word[0]))
    return found


@pytest.mark.parametrize("method", [WHOLE, EACH])
@pytest.mark.parametrize("key", KEYS)
def test_the_last_pass_stores_64_bit_indices(key: str, method: str, fake: Fake) -> None:
    """If no buckets follow, and then the launch afterwards does nothing."""
    rows, seen = (1 if method == WHOLE else 3), set()
    for n in (417, 451, 1200, 3001):
        for number, kind in enumerate(("normal", "special", "any", "one digit", "few")):
            descending, with_keys = number % 2 == 1, (n + number) % 3 > 0
            data = keys(kind, rows * n, key).reshape(rows, n)
            ranks = np.unique(data, return_inverse=True)[1].reshape(data.shape)
            expected = np.argsort(-ranks if descending else ranks, axis=1, kind="stable")
            made = order(Shape(number=0, key=key, rows=rows, length=n, descending=descending, keys=with_keys), method)
            assert made is not None
            mine, out, found = Array(fake, data), Array(fake, data * 0), Array(fake, np.zeros(data.shape, np.int64))
            begin, scratch = len(fake.launched), fake.allocate(made.scratch)
            made.run(mine.address, out.address if with_keys else 0, found.address, scratch, 0)
            assert [x.kernel for x in fake.launched[begin:]].count("hs_finish") == rows
            seen |= {0 < turn < 256 for turn in turns(fake, begin)}
            assert (found.get() == expected).all(), (n, kind)
            assert mine.get().tobytes() == data.tobytes()
            if with_keys:
                assert out.get().tobytes() == np.take_along_axis(data, expected, 1).tobytes(), (n, kind)
    assert seen == {False, True}


def test_of_which_sorts_the_last_pass_is_known() -> None:
    hopper = find("nvidia-hopper")
    sort = floats.widened(hopper.default("f32", Signature(value="index", key_transform=True)), raw=True)
    assert sort is not None and floats.turn(sort, 1 << 21) is None and floats.turn(sort, (1 << 21) + 1) is not None
    assert floats.turn(sort, 1 << 31) is None  # counted with 64-bit numbers
    for signature in (Signature(value="v4"), Signature(value="index", run_boundaries=True), Signature(value="index64")):
        assert floats.widened(hopper.default("u32", signature), raw=False) is None
    assert floats.widened(find("generic").default("u32", Signature(value="index")), raw=False) is None


@pytest.mark.parametrize(
    ("key", "n", "kernel"),
    [
        ("f32", (1 << 19) + 1, "grid"),
        ("f32", 1 << 20, "grid"),
        ("f32", 1 << 21, "grid"),
        ("f32", (1 << 21) + 1, "onesweep_radix_few_widened"),
        ("f64", 1 << 20, "grid"),
        ("i32", 1 << 21, "grid"),
        ("i32", 1 << 22, "onesweep_radix_few_widened"),
    ],
)
def test_launches_by_count(key: str, n: int, kernel: str, embedded: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(embedded).install(monkeypatch)
    fake.runs = False
    made = order(Shape(number=0, key=key, rows=1, length=n), WHOLE)
    assert made is not None
    made.run(*(fake.allocate(16) for _ in range(3)), fake.allocate(16), 0)
    launched = [x.kernel for x in fake.launched]
    assert kernel in launched and launched[-1] == "hs_finish"
    assert len(launched) == 2 or kernel != "grid"
    assert bool(fake.launched[-1].pointers[-1]) == (kernel != "grid")
    argsorts = Sorter(key, value="index", numeric=True).argsorts
    assert (argsorts.uneven(n, Sorter(key, value="index").options()) is None) == (key != "f32" or n > 1 << 21)
