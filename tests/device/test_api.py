"""The Python API: arrays and buffers, in place and into another, events, queues of both kinds, errors."""

from __future__ import annotations

import numpy as np
import pytest
from target_head import target_head

from hsgen.core.errors import Usage
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.opencl import Sorter
from hsgen.system import toolchain
from hsgen.targets import target

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")


@pytest.fixture(scope="module")
def sorter(queue: cl.CommandQueue) -> Sorter:
    return Sorter(queue.context, "u32")


def random(n: int, dtype: type = np.uint32) -> np.ndarray:
    return np.random.default_rng(n).integers(0, np.iinfo(dtype).max, n, dtype)


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 100_003])
def test_arrays_in_place_and_into_another(queue: cl.CommandQueue, sorter: Sorter, n: int) -> None:
    host = random(n)
    keys, out = array.to_device(queue, host), array.empty(queue, n, np.uint32)
    event = sorter(queue, keys, out=out)
    event.wait()
    assert (out.get() == np.sort(host)).all() and (keys.get() == host).all()
    sorter(queue, keys)
    assert (keys.get() == np.sort(host)).all()


def test_the_matching_target_is_taken(sorter: Sorter) -> None:
    greatest = target.find("cpu").default("u32").plan.max_n
    assert (sorter.target, sorter.dtype, sorter.max_n) == ("cpu", np.uint32, greatest)
    assert greatest >= 1 << 29


def test_numpy_types_name_keys(queue: cl.CommandQueue) -> None:
    sorter = Sorter(queue.context, np.uint64, target="intel-gen8")
    host = random(5000, np.uint64)
    keys = array.to_device(queue, host)
    sorter(queue, keys)
    assert (keys.get() == np.sort(host)).all()


SCRATCHED = target_head("scratched", "sorts that need scratch memory, for tests", storage8=False, storage16=False)
SCRATCHED += """
[radix.u32.reduce_scan]
bits = 8
items = 4
work_group = 64
subgroup = 1
ranker = "bitmask"
groups = 16
"""


@pytest.fixture(scope="module")
def scratched(queue: cl.CommandQueue, tmp_path_factory: pytest.TempPathFactory) -> Sorter:
    """A sorter that needs scratch memory."""
    path = tmp_path_factory.mktemp("targets") / "scratched.toml"
    path.write_text(SCRATCHED, encoding="utf-8")
    return Sorter(queue.context, "u32", target=str(path))


def test_scratch_is_kept_and_grows(queue: cl.CommandQueue, scratched: Sorter) -> None:
    """For counts in any order; the same array as keys and out is sorted in place."""
    assert 0 == scratched.scratch_bytes(0) < scratched.scratch_bytes(10_000) < scratched.scratch_bytes(100_000)
    for n in (10_000, 100_000, 300, 20_000, 300_000, 0, 10_001):
        host = random(n)
        keys, out = array.to_device(queue, host), array.empty(queue, n, np.uint32)
        scratched(queue, keys, out=out)
        assert (out.get() == np.sort(host)).all() and (keys.get() == host).all()
        scratched(queue, keys, out=keys)
        assert (keys.get() == np.sort(host)).all()


def test_sorts_that_share_scratch_wait_for_each_other(queue: cl.CommandQueue, scratched: Sorter) -> None:
    """On in-order and out-of-order queues without events between them."""
    disorder = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    queues = [queue, cl.CommandQueue(queue.context), cl.CommandQueue(queue.context, properties=disorder)]
    hosts = [random(50_000 + i) for i in range(24)]
    keys = [array.to_device(queue, host) for host in hosts]
    events = [scratched(queues[i % 3], x) for i, x in enumerate(keys)]
    cl.wait_for_events(events)
    for x, host in zip(keys, hosts, strict=True):
        assert (x.get() == np.sort(host)).all()


def test_a_prefix_is_sorted_and_the_rest_left_alone(queue: cl.CommandQueue, sorter: Sorter) -> None:
    host = random(20_000)
    keys = array.to_device(queue, host)
    sorter(queue, keys, n=9_999)
    assert (keys.get() == np.concatenate([np.sort(host[:9_999]), host[9_999:]])).all()


def test_buffers(queue: cl.CommandQueue, sorter: Sorter) -> None:
    host = random(3000)
    buffer = cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=host)
    sorter(queue, buffer).wait()
    out = np.empty_like(host)
    cl.enqueue_copy(queue, out, buffer)
    assert (out == np.sort(host)).all()


def test_views_of_arrays(queue: cl.CommandQueue, sorter: Sorter) -> None:
    host = random(4096)
    keys = array.to_device(queue, host)
    sorter(queue, keys[1024:3000])
    assert (keys.get() == np.concatenate([host[:1024], np.sort(host[1024:3000]), host[3000:]])).all()


def test_an_out_of_order_queue_is_ordered_by_events(queue: cl.CommandQueue, sorter: Sorter) -> None:
    mode = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    loose = cl.CommandQueue(queue.context, properties=mode)
    host = random(200_000)
    for _ in range(5):
        keys = array.to_device(queue, host)
        queue.finish()
        event = sorter(loose, keys)
        event.wait()
        assert (keys.get(queue) == np.sort(host)).all()


def test_it_waits_for_events(queue: cl.CommandQueue, sorter: Sorter) -> None:
    gate = cl.UserEvent(queue.context)
    keys = array.to_device(queue, random(100))
    event = sorter(queue, keys, wait_for=[gate])
    assert event.command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    event.wait()


def test_misuse_is_refused(queue: cl.CommandQueue, sorter: Sorter) -> None:
    keys = array.to_device(queue, random(100))
    with pytest.raises(ValueError, match="elements of float32, this sort takes uint32"):
        sorter(queue, keys.astype(np.float32))
    with pytest.raises(ValueError, match="out holds 50 keys, 100 are to be sorted"):
        sorter(queue, keys, out=array.empty(queue, 50, np.uint32))
    with pytest.raises(ValueError, match="keys holds 100 keys, 101 are to be sorted"):
        sorter(queue, keys, n=101)
    with pytest.raises(ValueError, match="strided"):
        sorter(queue, keys[::2])
    with pytest.raises(ValueError, match="starts 4 bytes into its buffer"):
        sorter(queue, keys[1:])
    with pytest.raises(Usage, match="n -1: give 0 to "):
        sorter(queue, keys, n=-1)
    with pytest.raises(Usage, match="unknown"):
        Sorter(queue.context, "u32", target="voodoo")
    for key in ("f99", None, ">u4", np.complex64):
        with pytest.raises(Usage, match=r"key type .*: "):
            Sorter(queue.context, key)
    with pytest.raises(TypeError, match="keys is a ndarray; give a pyopencl array or buffer"):
        sorter(queue, random(10))
    with pytest.raises(TypeError, match="float"):
        sorter(queue, keys, n=3.5)
    long = array.to_device(queue, random(4096))
    with pytest.raises(ValueError, match="keys and out overlap"):
        sorter(queue, long[:2048], out=long[1024:3072])
    sorter(queue, long[:1024], out=long[1024:2048]).wait()
    assert (long.get()[1024:2048] == np.sort(random(4096)[:1024])).all()


def test_a_queue_of_another_context_is_refused(sorter: Sorter, pocl: Host, queue: cl.CommandQueue) -> None:
    context = context_for(pocl)
    other = cl.CommandQueue(context)
    with pytest.raises(ValueError, match="the queue belongs to another context"):
        sorter(other, array.to_device(other, random(10)))
