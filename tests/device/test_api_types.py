"""The Python API with every key type, bit for bit: both orders, all values, special floats."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from nightly import nightly
from sorters import ELEMENTS, How, Sorters, check, random_keys, random_values

from hsgen.core.keys import ORDERS, TYPES
from hsgen.engines.hosts import Host
from hsgen.system import toolchain

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")

CARRIED = ("none", *ELEMENTS, "index")
TYPED = [(k, v) if (j - 2 * i) % 5 == 2 else nightly(k, v) for i, k in enumerate(TYPES) for j, v in enumerate(CARRIED)]
"""Every type with one kind of values in turn, nightly with every one."""
ONE_WORK_GROUP = 65536  # the target cpu sorts these keys in one launch
COUNTS = (0, 1, 2, 31, 1000, ONE_WORK_GROUP, ONE_WORK_GROUP + 1)


@pytest.fixture(scope="module")
def made(embedded: Host) -> Iterator[Sorters]:
    yield Sorters(embedded)


@pytest.fixture(scope="module")
def queue(made: Sorters) -> cl.CommandQueue:
    return cl.CommandQueue(made.context)


@pytest.mark.parametrize(("key", "value"), TYPED)
def test_every_type_with_every_value(queue: cl.CommandQueue, made: Sorters, key: str, value: str) -> None:
    """In both orders, in and out of place; other tests cover plain unsigned keys."""
    rng = np.random.default_rng(5)
    for order in ORDERS if TYPES[key].kind else ("descending",):
        sorter = made.get("cpu", key, value, order)
        for turn, n in enumerate(COUNTS):
            keys, values = random_keys(rng, n, key, 9 * (turn % 2)), random_values(rng, n, value)
            for in_place in (False, True):
                check(queue, sorter, keys, values, How(in_place=in_place))


@pytest.mark.parametrize(
    ("key", "value"), [("u8", "v8"), ("u16", "index"), nightly("u32", "v4"), nightly("u64", "v16")]
)
def test_values_of_plain_keys(queue: cl.CommandQueue, made: Sorters, key: str, value: str) -> None:
    rng = np.random.default_rng(6)
    for n in COUNTS:
        for in_place in (False, True):
            check(
                queue,
                made.get("cpu", key, value),
                random_keys(rng, n, key),
                random_values(rng, n, value),
                How(in_place=in_place),
            )


def specials(key: str) -> np.ndarray:
    """Zeros, denormals, ordinary numbers, infinities and NaNs with payloads, of both signs; every bit pattern of
    16 bits."""
    bits = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}[key]
    unsigned = np.dtype(f"u{(1 + sum(bits)) // 8}")
    if unsigned == np.uint16:
        return np.random.default_rng(1).permutation(np.arange(1 << 16, dtype=unsigned)).view(TYPES[key].numpy)
    one, infinity = 1 << bits[1], ((1 << bits[0]) - 1) << bits[1]
    some = [
        0,
        1,
        2,
        one - 1,
        one,
        one + 1,
        infinity - 1,
        infinity,
        infinity + 1,
        infinity + one // 2,
        infinity + one - 1,
    ]
    some += [int(np.ones(1, key.replace("f", "float")).view(unsigned)[0]) + d for d in (-1, 0, 1)]
    sign = 1 << sum(bits)
    pool = np.array(some + [x | sign for x in some], unsigned)
    return np.random.default_rng(2).choice(pool, 3000).view(TYPES[key].numpy)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("key", ["f16", "bf16", "f32", "f64"])
def test_special_floats_bit_for_bit(queue: cl.CommandQueue, made: Sorters, key: str, order: str) -> None:
    """-NaN < -inf < .. < -0 < +0 < .. < inf < NaN (IEEE 754 totalOrder), and every NaN keeps its payload."""
    host = specials(key)
    check(queue, made.get("cpu", key, "index", order), host)
    keys = array.to_device(queue, host)
    made.get("cpu", key, "none", order)(queue, keys)
    found = keys.get() if order == "ascending" else keys.get()[::-1]
    found = (found.astype(np.uint32) << 16).view(np.float32) if key == "bf16" else found
    sign, nan = np.signbit(found), np.isnan(found)
    rank = np.where(nan, 2, np.where(found == 0, 0, 1)) * np.where(sign, -1, 1)
    assert (np.diff(rank) >= 0).all(), "numbers, zeros and NaNs are not where they belong"
    plain = found[~nan]
    assert (plain[:-1] <= plain[1:]).all()
    zeros = np.signbit(found[found == 0])
    assert (zeros == np.sort(zeros)[::-1]).all()


def test_floats_without_specials_are_as_numpy_has_them(queue: cl.CommandQueue, made: Sorters) -> None:
    host = np.random.default_rng(3).standard_normal(70_001).astype(np.float32)
    keys, places = array.to_device(queue, host), array.empty(queue, len(host), np.uint32)
    made.get("cpu", "f32", "index")(queue, keys, values_out=places)
    assert (keys.get() == np.sort(host, kind="stable")).all()
    assert (places.get() == np.argsort(host, kind="stable")).all()
