"""Sorts of the Python API on host arrays, compared with numpy, for tests on devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from target_head import target_head

from hsgen.core.keys import TYPES, VALUES
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.opencl import Sorter
from hsgen.operations import oracle
from hsgen.system import toolchain

Keys = NDArray[Any]

CROSSOVER = 600
SMALL = target_head("small", "sorts of few keys that change their way early, for tests") + "".join(
    f"""
[bitonic.{key}]
subgroup = 1
height = 4
slabs = 16
clean_slabs = 16
local_scale = 1
flip_scale = 1
half_scale = 1
stream_group = 16

[radix.{key}.reduce_scan]
bits = 8
items = 4
work_group = 32
subgroup = 1
ranker = "bitmask"
groups = 4

[sort.{key}]
ranges = [
    {{ to = {CROSSOVER}, use = "bitonic" }},
    {{ use = "radix-reduce_scan" }},
]
"""
    for key in ("u32", "u64")
)
"""A target whose merge sorts have blocks of 64 keys, and whose radix sorts have tiles of 128."""

BEHIND = 37  # elements beyond n, which no sort may change
ELEMENTS = {"v4": np.dtype(np.float32), "v8": np.dtype(np.uint64), "v16": np.dtype(np.complex128)}


def bits_of(keys: Keys) -> Keys:
    """Return the bits of keys as unsigned numbers."""
    return keys.view(f"u{keys.dtype.itemsize}")


def order_of(keys: Keys, key: str, order: str, begin: int = 0, end: int | None = None) -> NDArray[np.intp]:
    """Return the stable permutation of keys by the bits from `begin` to `end` of their ordered bits."""
    by = oracle.ordered(bits_of(keys), TYPES[key].kind, descending=order == "descending")
    width = (8 * keys.dtype.itemsize if end is None else end) - begin
    mask = by.dtype.type((1 << width) - 1)
    return np.argsort((by >> by.dtype.type(begin)) & mask if width else np.zeros_like(by), kind="stable")


def random_keys(rng: np.random.Generator, n: int, key: str, distinct: int = 0) -> Keys:
    """Return n keys of a type with random bits, of few distinct values if `distinct` is not 0."""
    width = np.dtype(TYPES[key].numpy).itemsize
    pool = rng.integers(0, 2 if key == "bool" else 256, (distinct or n) * width, np.uint8).view(TYPES[key].numpy)
    return pool[rng.integers(0, distinct, n)] if distinct else pool


def random_values(rng: np.random.Generator, n: int, value: str) -> NDArray[Any] | None:
    """Return n values with distinct bits; None if a sort reads no values."""
    if value not in ELEMENTS:
        return None
    words = rng.integers(0, 1 << 24, (n, VALUES[value] // 4), np.uint32)
    words[:, -1] = np.arange(n)
    return words.view(ELEMENTS[value]).reshape(n)


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """The options of one call; `count` is the device-side count."""

    in_place: bool = False
    begin: int = 0
    end: int | None = None
    count: int | None = None
    discard: bool = False


def check(queue: Any, sorter: Sorter, keys: Keys, values: NDArray[Any] | None = None, how: How | None = None) -> None:
    """Sort on the device and compare keys, values, inputs that must stay, and the memory beyond them with numpy."""
    how, n, index = how or How(), len(keys), sorter.value.startswith("index")
    live = n if how.count is None else min(n, how.count)
    order = order_of(keys[:live], sorter.key, sorter.order, how.begin, how.end)
    source = _longer(queue, keys)
    given: dict[str, Any] = {}
    expected = [(source, keys)]
    if how.in_place and not how.discard:
        expected = [(source, np.concatenate([keys[order], keys[live:]]))]
    elif not how.discard:
        given["out"] = _longer(queue, np.zeros_like(keys))
        expected.append((given["out"], np.concatenate([keys[order], np.zeros_like(keys[live:])])))
    if values is not None:
        given["values"] = _longer(queue, values)
        after = np.concatenate([values[order], values[live:]])
        if not how.in_place:
            given["values_out"] = _longer(queue, np.zeros_like(values))
            after = np.concatenate([values[order], np.zeros_like(values[live:])])
            expected.append((given["values"], values))
        expected.append((given["values_out" if "values_out" in given else "values"], after))
    elif index:
        places = np.zeros(n, f"u{VALUES[sorter.value]}")
        given["values_out"] = _longer(queue, places)
        places[:live] = order
        expected.append((given["values_out"], places))
    if how.count is not None:
        given["count"] = _device(queue, np.array([how.count], np.uint32))
    event = sorter(queue, source, n=n, begin_bit=how.begin, end_bit=how.end, discard_keys=how.discard, **given)
    event.wait()
    for found, wanted in expected:
        got = found.get()
        assert got[n:].tobytes() == b"\x5a" * got[n:].nbytes, f"{n} {how}: memory beyond n was written"
        assert got[:n].tobytes() == wanted.tobytes(), f"{n} {how}: {wanted.dtype} differ"


def _device(queue: Any, host: NDArray[Any]) -> Any:
    import pyopencl.array as cl_array

    return cl_array.to_device(queue, host)


def _longer(queue: Any, host: NDArray[Any]) -> Any:
    """The array on the device, with some elements after it."""
    behind = np.full(BEHIND * host.dtype.itemsize, 0x5A, np.uint8).view(host.dtype)
    return _device(queue, np.concatenate([host, behind]))


class Sorters:
    """Sorters of one context, each created on first use."""

    def __init__(self, host: Any, small: str = "") -> None:
        self.context = context_for(host)  # kept: Intel's runtime frees a context that only a queue holds
        self._small = small
        self._made: dict[Any, Sorter] = {}

    def get(self, target: str, key: str, value: str = "none", order: str = "ascending", **more: bool) -> Sorter:
        """Return a sorter of a target; "small" is `SMALL`."""
        name = target, key, value, order, *sorted(more.items())
        if name not in self._made:
            path = self._small if target == "small" else target
            self._made[name] = Sorter(self.context, key, target=path, value=value, order=order, **more)
        return self._made[name]


@pytest.fixture(scope="module")
def made(embedded: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sorters]:
    small = tmp_path_factory.mktemp("targets") / "small.toml"
    small.write_text(SMALL, encoding="utf-8")
    yield Sorters(embedded, str(small))


@pytest.fixture(scope="module")
def queue(made: Sorters) -> Any:
    return toolchain.pyopencl().CommandQueue(made.context)
