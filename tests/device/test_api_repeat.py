"""Calls of a sorter that repeat: recognized only while nothing has changed, and right in any case."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from sorters import SMALL

from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.opencl import Sorter
from hsgen.opencl.repeat import Repeat

cl = pytest.importorskip("pyopencl", reason="pyopencl is not installed")
ca = pytest.importorskip("pyopencl.array", reason="pyopencl is not installed")
N = 3000


class Counted:
    """How many calls were recognized."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        run = Repeat.run

        def counting(this: Repeat, arrays: Any) -> Any:
            self.count += 1
            return run(this, arrays)

        monkeypatch.setattr(Repeat, "run", counting)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


@pytest.fixture(scope="module")
def made(embedded: Host, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[Any, Sorter]]:
    """A context, and sorters of keys, of pairs and by a bit range, for a small target."""
    context, path = context_for(embedded), tmp_path_factory.mktemp("repeat") / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    options: dict[Any, dict[str, Any]] = {"keys": {}, "pairs": {"value": "v4"}, "range": {"bit_range": True}}
    return context, {name: Sorter(context, "u32", target=path, **more) for name, more in options.items()}


def keys_of(queue: Any, seed: int, n: int = N) -> Any:
    return ca.to_device(queue, np.random.default_rng(seed).integers(0, 2**32, n, np.uint32))


def same(found: Any, keys: Any) -> bool:
    return np.array_equal(found.get(), np.sort(keys))


@pytest.mark.device
def test_repeated_calls_sort_what_the_arrays_hold(made: Any, counted: Counted) -> None:
    context, sorters = made
    queue = cl.CommandQueue(context)
    keys, out = keys_of(queue, 1), ca.zeros(queue, N, np.uint32)
    for seed in range(4):
        given = np.random.default_rng(seed).integers(0, 2**32, N, np.uint32)
        cl.enqueue_copy(queue, keys.base_data, given)
        event = sorters["keys"](queue, keys, out)
        assert out.events[-1] == event
        assert same(out, given) and np.array_equal(keys.get(), given)
    assert counted.count == 3


@pytest.mark.device
def test_pairs_in_place_repeat(made: Any, counted: Counted) -> None:
    context, sorters = made
    queue = cl.CommandQueue(context)
    keys, values = keys_of(queue, 1), ca.zeros(queue, N, np.uint32)
    for seed in range(3):
        given = np.random.default_rng(seed).integers(0, 50, N, np.uint32)
        cl.enqueue_copy(queue, keys.base_data, given)
        cl.enqueue_copy(queue, values.base_data, np.arange(N, dtype=np.uint32))
        sorters["pairs"](queue, keys, values=values)
        assert same(keys, given) and np.array_equal(values.get(), np.argsort(given, kind="stable"))
    assert counted.count == 2


@pytest.mark.device
def test_a_change_is_another_call(made: Any, counted: Counted) -> None:
    context, sorters = made
    sorter = sorters["range"]
    queue, other = cl.CommandQueue(context), cl.CommandQueue(context)
    keys, out = keys_of(queue, 1), ca.zeros(queue, N, np.uint32)
    host = keys.get()

    def call(on: Any = queue, to: Any = out, n: int | None = None, **more: Any) -> np.ndarray[Any, Any]:
        sorter(on, keys, to, n=n, **more)
        on.finish()
        found: np.ndarray[Any, Any] = to.get(queue=on)
        return found

    def by(begin: int, end: int) -> Any:
        return host[np.argsort(host >> np.uint32(begin) & np.uint32((1 << end - begin) - 1), kind="stable")]

    whole = np.sort(host)
    assert np.array_equal(call(), whole) and counted.count == 0
    assert np.array_equal(call(), whole) and counted.count == 1
    assert np.array_equal(call(begin_bit=8, end_bit=16), by(8, 16))
    assert np.array_equal(call(n=100)[:100], np.sort(host[:100]))
    assert np.array_equal(call(other), whole)
    assert np.array_equal(call(to=ca.zeros(queue, N, np.uint32)), whole)
    assert np.array_equal(call(wait_for=[cl.enqueue_marker(queue)]), whole)
    assert counted.count == 1
    assert np.array_equal(call(), whole) and counted.count == 2
    out.add_event(cl.enqueue_marker(queue))
    assert np.array_equal(call(), whole) and counted.count == 3
    out.add_event(cl.enqueue_marker(other))  # another queue uses it
    assert np.array_equal(call(), whole) and counted.count == 3
    out.base_data = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * N)
    assert np.array_equal(call(), whole) and counted.count == 3


@pytest.mark.device
def test_errors_are_found_after_a_repeated_call(made: Any) -> None:
    context, sorters = made
    queue = cl.CommandQueue(context)
    keys, out = keys_of(queue, 1), ca.zeros(queue, N, np.uint32)
    for _ in range(2):
        sorters["keys"](queue, keys, out)
    with pytest.raises(ValueError, match="out holds 10 keys"):
        sorters["keys"](queue, keys, ca.zeros(queue, 10, np.uint32))
    with pytest.raises(ValueError, match="begin_bit or end_bit is given"):
        sorters["keys"](queue, keys, out, begin_bit=1)
    with pytest.raises(TypeError):
        sorters["keys"](queue, keys.get(), out)


@pytest.mark.device
def test_arrays_are_not_kept(made: Any, counted: Counted) -> None:
    context, sorters = made
    queue = cl.CommandQueue(context)
    keys = keys_of(queue, 1)
    for _ in range(2):
        sorters["keys"](queue, keys)
    queue.finish()
    seen = weakref.ref(keys)
    del keys
    gc.collect()
    assert seen() is None and counted.count == 1
    later = keys_of(queue, 2)
    host = later.get()
    sorters["keys"](queue, later)
    assert same(later, host) and counted.count == 1


@pytest.mark.device
@pytest.mark.parametrize("what", ["out of order", "a part of a buffer", "buffers"])
def test_calls_that_cannot_be_recognized_are_checked_each_time(made: Any, counted: Counted, what: str) -> None:
    context, sorters = made
    mode = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE if what == "out of order" else 0
    queue = cl.CommandQueue(context, properties=mode)
    whole = keys_of(queue, 1, 2 * N)
    host = whole.get()
    keys: Any = whole
    if what == "a part of a buffer":
        keys = whole[1024:]
        host = host[1024:]
    for _ in range(3):
        given = keys.base_data if what == "buffers" else keys
        sorters["keys"](queue, given).wait()
    assert np.array_equal(keys.get(), np.sort(host)) and counted.count == 0
