"""Baselines that sort keys with values, or argsort keys."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Unavailable
from hsgen.engines.engine import KEYS_OUT, VALUES_OUT, Engine
from hsgen.operations.inputs import Keys
from hsgen.tools.bench.baselines import build
from hsgen.tools.bench.baselines.baseline import Run, copied, timed

Words = NDArray[Any]


def numpy(engine: Engine, keys: Keys, values: Words | None) -> Run:
    """Return a run of numpy's stable argsort; with values, the run also gathers keys and values in its order.

    numpy's default argsort is not stable; `numpy_quick` uses it.
    """
    output: dict[str, Any] = {}

    def sort() -> None:
        order = output["order"] = np.argsort(keys, kind="stable")
        if values is not None:
            output["keys"], output["values"] = keys[order], values[order]

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=sort,
        result=lambda: output["keys"] if values is not None else keys[output["order"]],
        values=lambda: output["values"] if values is not None else _places(output["order"]),
        version=np.__version__,
    )


def numpy_quick(engine: Engine, keys: Keys, values: Words | None) -> Run:
    """Return a run of `numpy.argsort` with its default, unstable method, which is faster on a CPU with AVX-512.

    Raises:
        Unavailable: the keys have values.
    """
    if values is not None:
        raise Unavailable("baseline numpy-quick: finds orders only; give --value index, or take numpy")
    output: dict[str, Any] = {}

    def sort() -> None:
        output["order"] = np.argsort(keys)

    def stable() -> Words:
        """Return the order with the positions of equal keys ascending, as the expected result has them."""
        order = output["order"]
        by = np.lexsort((order, keys[order]))
        return _places(order[by])

    return Run(
        name="numpy-quick",
        prepare=lambda: None,
        sort=sort,
        result=lambda: keys[output["order"]],
        values=stable,
        version=np.__version__,
    )


def _places(order: NDArray[np.intp]) -> Words:
    return order.astype(np.uint32).reshape(-1, 1)


def lsd(engine: Engine, keys: Keys, values: Words | None) -> Run:
    """Return a run of the radix sort of `host.lsd` on 64-bit words.

    A word has a 32-bit key in its upper half, and a 32-bit value in its lower half.  Packing is not timed.

    Raises:
        Unavailable: no C compiler is found, or keys or values have another size.
    """
    if values is None or keys.dtype.itemsize != 4 or values.shape[1] != 1:
        raise Unavailable("baseline lsd: packs 32-bit keys with 32-bit values; give --key u32 --value v4, or omit it")
    library = build.load("lsd")
    library.baseline_sort.restype = ctypes.c_double
    packed = keys.astype(np.uint64) << np.uint64(32) | values[:, 0]
    work, spare = np.empty_like(packed), np.empty_like(packed)

    def sort() -> float:
        places = [a.ctypes.data_as(ctypes.c_void_p) for a in (work, spare)]
        return float(library.baseline_sort(*places, ctypes.c_size_t(len(work)), ctypes.c_int(0)))

    return Run(
        name="lsd",
        prepare=lambda: np.copyto(work, packed),
        sort=sort,
        result=lambda: (work >> np.uint64(32)).astype(np.uint32),
        values=lambda: work.astype(np.uint32).reshape(-1, 1),
        version=build.version(library),
    )


def cub(engine: Engine, keys: Keys, values: Words | None) -> Run:
    """Return a run of CUB's `DeviceRadixSort::SortPairs`, between device buffers, with preallocated temporary memory.

    Raises:
        Unavailable: the sort does not run on CUDA, or is an argsort.
    """
    return _cub("cub", engine, keys, values)


def cub_fields(engine: Engine, keys: Keys, values: Words | None) -> Run:
    """Return a run of CUB's `DeviceRadixSort::SortPairs` for keys that are structures, with a decomposer.

    Each structure has two members, the halves of a key.

    Raises:
        Unavailable: see `cub`.
    """
    return _cub("cub-fields", engine, keys, values)


def cub_merge(engine: Engine, keys: Keys, values: Words | None) -> Run:
    """Return a run of CUB's `DeviceMergeSort::SortPairsCopy`, with a comparison function for structures.

    Each structure has two members, the halves of a key.

    Raises:
        Unavailable: see `cub`.
    """
    return _cub("cub-merge", engine, keys, values)


def _cub(name: str, engine: Engine, keys: Keys, values: Words | None) -> Run:
    if values is None:
        raise Unavailable(f"baseline {name}: has no argsort; give values, or omit it")
    size, n = keys.dtype.itemsize, len(keys)
    shape = values.shape

    def read(slot: int, like: Any) -> Any:
        engine.read(slot, like)
        return like

    sort, device = timed(lambda: engine.baseline(name, size, n, 4 * shape[1]))
    return Run(
        name=name,
        prepare=lambda: copied(engine, keys.nbytes + values.nbytes),
        sort=sort,
        device=device,
        result=lambda: read(KEYS_OUT, np.empty_like(keys)),
        values=lambda: read(VALUES_OUT, np.empty(shape, np.uint32)),
    )
