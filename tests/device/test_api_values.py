"""The Python API with values and argsorts: stability, buffer offsets, misuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nightly import thinned
from sorters import SMALL, How, Sorters, bits_of, check, made, order_of, queue, random_keys, random_values

from hsgen.core.errors import Usage
from hsgen.core.keys import ORDERS, TYPES, Signature
from hsgen.engines.hosts import Host
from hsgen.opencl import Sorter
from hsgen.system import toolchain
from hsgen.targets import assembly, target

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
__all__ = ["made", "queue"]  # fixtures


@pytest.mark.parametrize(
    ("value", "key"),
    thinned([("none", "i32"), ("none", "f64"), ("v8", "f64"), ("v8", "i32"), ("index", "i32"), ("index", "f64")], 2, 1),
)
def test_counts_around_the_change_of_algorithm(queue: cl.CommandQueue, made: Sorters, key: str, value: str) -> None:
    """Merge sorts in blocks of 64 keys at most, then radix sorts."""
    sorter, rng = made.get("small", key, value, "descending"), np.random.default_rng(7)
    for n in (1, 2, 31, 32, 33, 63, 64, 65, 128, 255, 257, 599, 600, 601, 640, 1281, 5000):
        for distinct in (0, 5):
            keys, values = random_keys(rng, n, key, distinct), random_values(rng, n, value)
            for in_place in (False, True):
                check(queue, sorter, keys, values, How(in_place=in_place))


@pytest.mark.parametrize(("key", "value", "order"), [("i32", "index", "descending"), ("f64", "index", "ascending")])
def test_equal_keys_keep_their_order(queue: cl.CommandQueue, made: Sorters, key: str, value: str, order: str) -> None:
    """With merge sorts and with radix sorts, in both orders."""
    for name in ("cpu", "small"):
        for n in (50, 500, 3000):
            host = np.random.default_rng(n).integers(-2, 3, n).astype(TYPES[key].numpy)
            keys, places = array.to_device(queue, host), array.empty(queue, n, np.uint32)
            made.get(name, key, value, order)(queue, keys, values_out=places)
            by, found = keys.get(), places.get().astype(np.int64)
            assert (host[found] == by).all() and (np.diff(found)[by[1:] == by[:-1]] > 0).all()


@pytest.mark.parametrize("key", ["u32", "f32"])
def test_packed_words_are_sorted_by_their_upper_half(queue: cl.CommandQueue, made: Sorters, key: str) -> None:
    sorter, rng = made.get("small", key, "packed", "descending"), np.random.default_rng(8)
    assert sorter.dtype == np.uint64
    for n in (1, 64, 599, 601, 3000):
        upper, lower = random_keys(rng, n, key, 6), rng.integers(0, 1 << 32, n, np.uint32)
        words = array.to_device(queue, bits_of(upper).astype(np.uint64) << np.uint64(32) | lower)
        sorter(queue, words)
        order = order_of(upper, key, "descending")
        found = words.get()
        assert (found >> np.uint64(32) == bits_of(upper)[order]).all()
        assert (found.astype(np.uint32) == lower[order]).all()


@pytest.mark.parametrize("order", ORDERS)
def test_greatest_keys_lose_no_value(queue: cl.CommandQueue, made: Sorters, order: str) -> None:
    """Keys equal to the padding of a block beyond n, for every n up to one block plus one key of the target generic."""
    sorter = made.get("generic", "i32", "v4", order)
    block = assembly.block(target.find("generic").default("i32", Signature(value="v4", key_transform=True)))
    greatest = np.iinfo(np.int32).max if order == "ascending" else np.iinfo(np.int32).min
    keys = array.to_device(queue, np.full(block + 1, greatest, np.int32))
    values = array.to_device(queue, np.arange(1, block + 2, dtype=np.uint32))
    out, values_out = array.empty_like(keys), array.empty_like(values)
    for n in range(1, block + 2):
        values_out.fill(0)
        sorter(queue, keys, out, values=values, values_out=values_out, n=n)
        found = values_out.get()
        assert (found[:n] == np.arange(1, n + 1)).all() and not found[n:].any(), n
    assert (out.get() == greatest).all()


@pytest.mark.parametrize("target_name", ["cpu", "small"])
def test_discarded_keys_stay_unchanged(queue: cl.CommandQueue, made: Sorters, target_name: str) -> None:
    sorter, rng = made.get(target_name, "f64", "index", "descending"), np.random.default_rng(9)
    for n in (0, 1, 64, 600, 601, 3000, 70_000):
        check(queue, sorter, random_keys(rng, n, "f64", 50), None, How(discard=True))
    assert sorter.scratch_bytes(0, discard_keys=True) == 0
    assert sorter.scratch_bytes(3000, discard_keys=True) >= sorter.scratch_bytes(3000) + 8 * 3000


def test_buffers_and_views(queue: cl.CommandQueue, made: Sorters) -> None:
    """Parts of one buffer that do not overlap; keys and values may share a buffer."""
    sorter, rng = made.get("cpu", "i32", "v4", "descending"), np.random.default_rng(10)
    host, payload = rng.integers(-99, 99, 1000).astype(np.int32), np.arange(1000, dtype=np.int32)
    order = np.argsort(-host, kind="stable")
    both = array.to_device(queue, np.concatenate([np.resize(host, 1024), np.resize(payload, 1024)]))
    sorter(queue, both[:1024], values=both[1024:], n=1000)
    assert (both.get()[:1000] == host[order]).all() and (both.get()[1024:2024] == order).all()
    flags = cl.mem_flags.COPY_HOST_PTR
    keys, values = (cl.Buffer(queue.context, flags, hostbuf=x) for x in (host, payload))
    out = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 8192)
    sorter(queue, keys, out.get_sub_region(0, 4096), values=values, values_out=out.get_sub_region(4096, 4096)).wait()
    found = np.empty(2048, np.int32)
    cl.enqueue_copy(queue, found, out)
    assert (found[:1000] == host[order]).all() and (found[1024:2024] == order).all()


def test_the_same_memory_as_destination_is_in_place(queue: cl.CommandQueue, made: Sorters) -> None:
    sorter, host = made.get("cpu", "i32", "v4", "ascending"), np.random.default_rng(11).integers(0, 9, 500, np.int32)
    keys, values = array.to_device(queue, host), array.to_device(queue, np.arange(500, dtype=np.float32))
    sorter(queue, keys, out=keys, values=values, values_out=values.base_data)
    order = np.argsort(host, kind="stable")
    assert (keys.get() == host[order]).all() and (values.get() == order).all()


def test_a_target_without_such_a_sort_gives_way_to_the_generic_one(
    made: Sorters, monkeypatch: pytest.MonkeyPatch
) -> None:
    merging = target.parse("\n".join(x for x in SMALL.split("[radix.u32.")[:1]), "small", "small.toml")
    monkeypatch.setattr("hsgen.opencl.runner.hosts.target_for", lambda host, all_: merging)
    monkeypatch.setattr("hsgen.opencl.runner.Compiled", lambda context, sort, source: None)  # takes seconds
    assert Sorter(made.context, "f32").target == "small"
    assert Sorter(made.context, "u8").target == "generic"
    with pytest.raises(Usage, match="value packed: goes with keys of 32 bits, not with u64"):
        Sorter(made.context, "u64", value="packed")


def test_words_for_values_and_orders(made: Sorters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hsgen.opencl.runner.Compiled", lambda context, sort, source: None)
    for given, name in (
        (4, "v4"),
        (np.float64, "v8"),
        ("c16", "v16"),
        (None, "none"),
        ("v4", "v4"),
        ("index", "index"),
    ):
        assert Sorter(made.context, np.float32, target="cpu", value=given).value == name
    for value in (2, 3, np.float16, "voodoo", "v5", [1]):
        with pytest.raises(
            Usage,
            match=r"give none, v4, v8 or v16, their bytes \(4, 8, 16\), a type of that size, index, index64 or",
        ):
            Sorter(made.context, value=value)
    with pytest.raises(Usage, match="order up: unknown; give ascending or descending"):
        Sorter(made.context, order="up")


Misuse = tuple[str, type[Exception], str, Callable[[dict[str, Any]], dict[str, Any]]]

MISUSES: list[Misuse] = [
    ("v4", ValueError, "values is missing: this sorter takes 4 bytes a key", lambda m: {}),
    ("v4", ValueError, "one of out and values_out is given", lambda m: {"values": m["words"], "out": m["out"]}),
    ("v4", ValueError, "one of out and values_out is given", lambda m: {"values": m["words"], "values_out": m["more"]}),
    ("v4", ValueError, "values has elements of 8 bytes, this sort takes 4", lambda m: {"values": m["wide"]}),
    ("v4", ValueError, "values holds 50 values, 100 are to be sorted", lambda m: {"values": m["words"][:50]}),
    ("v4", ValueError, "keys and values overlap", lambda m: {"values": m["keys"].base_data}),
    ("v4", ValueError, "starts 4 bytes into its buffer", lambda m: {"values": m["words"][1:], "n": 50}),
    (
        "v4",
        TypeError,
        "values is a ndarray; give a pyopencl array or buffer",
        lambda m: {"values": np.zeros(100, "u4")},
    ),
    ("v4", ValueError, "make the sorter with value=", lambda m: {"values": m["words"], "discard_keys": True}),
    ("v4", ValueError, "make the sorter with bit_range=True", lambda m: {"values": m["words"], "begin_bit": 1}),
    ("v4", ValueError, "make the sorter with bit_range=True", lambda m: {"values": m["words"], "end_bit": 31}),
    (
        "v4",
        Usage,
        "end_bit 33: give 0 to 32",
        lambda m: {"values": m["words"], "end_bit": 33},
    ),
    ("v4", Usage, "begin_bit 9: give 0 to 8", lambda m: {"values": m["words"], "begin_bit": 9, "end_bit": 8}),
    ("v4", TypeError, "float", lambda m: {"values": m["words"], "begin_bit": 0.5}),
    ("v4", ValueError, "make the sorter with device_count=True", lambda m: {"values": m["words"], "count": m["more"]}),
    ("v4", Usage, "n -1: give 0 to ", lambda m: {"values": m["words"], "n": -1}),
    ("index", ValueError, "values_out is missing: an argsort writes 4 bytes a key", lambda m: {}),
    ("index", ValueError, "values is given, but this sorter makes values", lambda m: {"values": m["words"]}),
    ("index", ValueError, "values_out has elements of float32", lambda m: {"values_out": m["more"].view(np.float32)}),
    ("index", ValueError, "keys and values_out overlap", lambda m: {"values_out": m["keys"].base_data}),
    (
        "index",
        ValueError,
        "out and discard_keys are given",
        lambda m: {"values_out": m["more"], "out": m["out"], "discard_keys": True},
    ),
    ("none", ValueError, "values is given, but this sorter has none", lambda m: {"values": m["words"]}),
    ("none", ValueError, "values_out is given, but this sorter has none", lambda m: {"values_out": m["words"]}),
    ("none", ValueError, "out has elements of uint32, this sort takes int32", lambda m: {"out": m["more"]}),
    ("none", ValueError, "out holds 50 keys, 100 are to be sorted", lambda m: {"out": m["keys"][:50]}),
]


@pytest.mark.parametrize(("value", "kind", "message", "given"), MISUSES, ids=lambda x: x if isinstance(x, str) else "")
def test_misuse_is_refused_and_writes_nothing(
    queue: cl.CommandQueue,
    made: Sorters,
    value: str,
    kind: type[Exception],
    message: str,
    given: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    hosts = {
        "keys": np.arange(100, 0, -1, dtype=np.int32),
        "out": np.zeros(100, np.int32),
        "words": np.arange(100, dtype=np.uint32),
        "more": np.ones(100, np.uint32),
        "wide": np.zeros(100, np.uint64),
    }
    memory = {name: array.to_device(queue, host) for name, host in hosts.items()}
    with pytest.raises(kind, match=message) as raised:
        made.get("cpu", "i32", value)(queue, memory["keys"], **given(memory))
    assert "\n" not in str(raised.value)
    queue.finish()
    for name, host in hosts.items():
        assert (memory[name].get() == host).all(), name


def test_memory_of_another_context_is_refused(made: Sorters, pocl: Host, queue: cl.CommandQueue) -> None:
    context = cl.Context([pocl.handle])
    foreign = array.to_device(cl.CommandQueue(context), np.zeros(10, np.float32))
    with pytest.raises(ValueError, match="keys belongs to another context"):
        made.get("cpu", "f32", "none")(queue, foreign)
