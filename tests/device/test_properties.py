"""Devices match numpy for random keys, counts, orders, bit ranges, values and offsets, drawn by hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import NIGHTLY, nightly
from sorters import CROSSOVER, How, Sorters, check, made, queue, random_keys, random_values

from hsgen.core.errors import Usage
from hsgen.core.keys import ORDERS, TYPES
from hsgen.system import toolchain

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
__all__ = ["made", "queue"]  # fixtures

FORMS = [
    ("small", "f32", "none"),
    ("small", "i32", "v4"),
    ("small", "f32", "index"),
    ("small", "f64", "v16"),
    ("small", "i64", "index64"),
    ("cpu", "f16", "v8"),
    ("cpu", "i8", "index"),
    ("cpu", "i16", "none"),
    ("cpu", "f64", "v4"),
]
"""Target, type and value of the sorters, all of which take a bit range and a device-side count."""

SLOW = [("small", "f32", "index"), ("cpu", "i16", "none"), ("cpu", "f64", "v4")]
"""The nightly ones: the fast run covers their targets, kinds of keys and values with others."""

EXAMPLES = settings(
    max_examples=60 if NIGHTLY else 30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def sorter_of(made: Sorters, signature: tuple[str, str, str], order: str) -> Any:
    return made.get(*signature, order, bit_range=True, device_count=True)


def hows(draw: st.DrawFn, n: int, bits: int, value: str) -> How:
    """Every way to call a sorter with n keys."""
    begin = draw(st.integers(0, bits))
    bit_range = draw(st.booleans())
    return How(
        in_place=draw(st.booleans()),
        begin=begin if bit_range else 0,
        end=draw(st.integers(begin, bits)) if bit_range else None,
        count=draw(st.none() | st.integers(0, 2 * n + 1) | st.just(2**32 - 1)),
        discard=value.startswith("index") and draw(st.booleans()),
    )


@pytest.mark.parametrize("signature", [nightly(f) if f in SLOW else f for f in FORMS], ids=lambda f: "-".join(f))
@EXAMPLES
@given(data=st.data())
def test_any_call_matches_numpy(
    queue: cl.CommandQueue, made: Sorters, signature: tuple[str, str, str], data: st.DataObject
) -> None:
    _, key, value = signature
    order = data.draw(st.sampled_from(ORDERS), "order")
    n = data.draw(st.integers(0, 140) | st.integers(CROSSOVER - 2, CROSSOVER + 2) | st.integers(0, 4000), "n")
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), "seed"))
    keys = random_keys(rng, n, key, data.draw(st.sampled_from([0, 1, 2, 9]), "distinct"))
    bits = 8 * keys.dtype.itemsize
    how = data.draw(st.composite(hows)(n, bits, value), "how")
    check(queue, sorter_of(made, signature, order), keys, random_values(rng, n, value), how)


@pytest.mark.parametrize("key", ["f32", "i64", "f16", "i8"])
@EXAMPLES
@given(data=st.data())
def test_few_drawn_keys_are_sorted_stably(queue: cl.CommandQueue, made: Sorters, key: str, data: st.DataObject) -> None:
    """Keys that hypothesis draws, and simplifies on failure: compared with numpy's own sorts of numbers."""
    signature = next(f for f in FORMS if f[1] == key and f[2] not in ("v4", "v16"))
    width = np.dtype(TYPES[key].numpy).itemsize * 8
    if TYPES[key].kind == 2:
        numbers: Any = st.floats(width=width, allow_nan=False).map(
            lambda x: x + 0.0
        )  # no -0, which numpy takes for equal to +0
    else:
        numbers = st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1)
    drawn = data.draw(st.lists(numbers, max_size=200), "keys")
    host = np.array(drawn, TYPES[key].numpy)
    keys, n = array.to_device(queue, host), len(host)
    more: dict[str, Any] = {}
    if signature[2] != "none":
        given_values = np.arange(n, dtype=np.uint64)
        more["values_out"] = array.zeros(queue, n, {"index": np.uint32}.get(signature[2], np.uint64))
        if signature[2] == "v8":
            more |= {"values": array.to_device(queue, given_values), "out": array.empty_like(keys)}
    sorter_of(made, signature, "ascending")(queue, keys, **more)
    assert np.array_equal(more.get("out", keys).get(), np.sort(host, kind="stable"))
    if "values_out" in more:
        assert np.array_equal(more["values_out"].get(), np.argsort(host, kind="stable"))


@pytest.mark.parametrize("signature", [nightly(SLOW[0]), ("small", "i32", "v4"), nightly(SLOW[2])])
def test_counts_on_the_device(queue: cl.CommandQueue, made: Sorters, signature: tuple[str, str, str]) -> None:
    """Zero, one, around the changes of algorithm, the capacity and beyond; from an array and from a buffer."""
    _, key, value = signature
    sorter, rng = sorter_of(made, signature, "descending"), np.random.default_rng(4)
    for n in (1, 64, CROSSOVER, 2000):
        keys, values = random_keys(rng, n, key, 20), random_values(rng, n, value)
        for count in {0, 1, 63, 64, 65, CROSSOVER, CROSSOVER + 1, n - 1, n, n + 1, 2**31, 2**32 - 1}:
            for in_place in (False, True):
                check(queue, sorter, keys, values, How(in_place=in_place, count=count))
    host = random_keys(rng, 3000, "i32")
    keys = array.to_device(queue, host)
    number = cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.array([1234, 9], np.uint32))
    values = array.zeros(queue, 3000, np.float32)
    sorter_of(made, ("small", "i32", "v4"), "ascending")(queue, keys, values=values, count=number)
    assert (keys.get() == np.concatenate([np.sort(host[:1234]), host[1234:]])).all()


@pytest.mark.parametrize("signature", [("small", "f32", "none"), ("cpu", "i8", "index"), ("cpu", "f16", "v8")])
def test_every_range_of_bits(queue: cl.CommandQueue, made: Sorters, signature: tuple[str, str, str]) -> None:
    """An empty one copies keys and values in order."""
    _, key, value = signature
    bits = np.dtype(TYPES[key].numpy).itemsize * 8
    rng = np.random.default_rng(5)
    keys, values = random_keys(rng, 300, key), random_values(rng, 300, value)
    for order in ORDERS:
        for begin in range(0, bits + 1, 1 if bits < 32 else 5):
            for end in range(begin, bits + 1, 1 if bits < 32 else 3):
                check(
                    queue,
                    sorter_of(made, signature, order),
                    keys,
                    values,
                    How(begin=begin, end=end, in_place=end % 2 > 0),
                )


def test_misused_counts_and_ranges_are_refused(queue: cl.CommandQueue, made: Sorters) -> None:
    sorter, host = sorter_of(made, ("small", "f32", "none"), "ascending"), np.arange(100, 0, -1, dtype=np.float32)
    keys, count = array.to_device(queue, host), array.zeros(queue, 1, np.uint32)
    for kind, message, given_ in (
        (
            ValueError,
            "count has elements of int64, this sort takes uint32 or",
            {"count": array.zeros(queue, 1, np.int64)},
        ),
        (ValueError, "count holds 0 counts, 1 is needed", {"count": array.zeros(queue, 0, np.uint32)}),
        (ValueError, "keys and count overlap", {"count": keys.base_data}),
        (TypeError, "count is an int; give a pyopencl array or buffer", {"count": 7}),
        (Usage, "begin_bit 8: give 0 to 7", {"begin_bit": 8, "end_bit": 7, "count": count}),
        (Usage, "begin_bit -1: give 0 to 32", {"begin_bit": -1}),
        (Usage, "end_bit 64: give 0 to 32", {"end_bit": 64}),
    ):
        with pytest.raises(kind, match=message):
            sorter(queue, keys, **given_)
    queue.finish()
    assert (keys.get() == host).all() and not count.get().any()
