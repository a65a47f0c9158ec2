"""What a sort is compared with, on the same machine in the same run.

A peer is set up once for a count and a key type; it is then checked, and timed by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsgen import toolchain
from hsgen.backends.engine import Engine
from hsgen.backends.opencl import Direct
from hsgen.cases import Keys
from hsgen.errors import Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One way to sort: `prepare` is not timed, `sort` is and ends when the result is there; `result` fetches it."""

    name: str
    prepare: Callable[[], None]
    sort: Callable[[], None]
    result: Callable[[], Keys]


Peer = Callable[[Engine, Keys], Run]


def numpy(engine: Engine, keys: Keys) -> Run:
    """`numpy.sort`, in place on one host thread; the copy of the input is not timed."""
    work = np.empty_like(keys)
    return Run(name="numpy", prepare=lambda: np.copyto(work, keys), sort=lambda: work.sort(), result=lambda: work)


def pyopencl(engine: Engine, keys: Keys) -> Run:
    """`pyopencl.algorithm.RadixSort`, device array to device array.

    Raises:
        Unavailable: pyopencl's template engine (mako) is not installed, or the sort does not run through it.
    """
    toolchain.pyopencl()
    if not isinstance(engine, Direct):
        raise Unavailable("peer pyopencl: runs beside OpenCL in this process only; leave out --api and --runtime")
    context, queue = engine.context, engine.queue
    try:
        import pyopencl.algorithm as algorithm
        import pyopencl.array as array
        from mako import template  # noqa: F401  (pyopencl imports it late)
    except ImportError as e:
        raise Unavailable(f"peer pyopencl needs {e.name}; install it with pip install {e.name}") from None
    name = {4: "uint", 8: "ulong"}[keys.dtype.itemsize]
    sorter = algorithm.RadixSort(
        context, f"{name} *keys", key_expr="keys[i]", sort_arg_names=["keys"], key_dtype=keys.dtype
    )
    source = array.to_device(queue, keys)
    made: list[Any] = []

    def sort() -> None:
        made[:] = [sorter(source, key_bits=8 * keys.dtype.itemsize, queue=queue)[0][0]]
        queue.finish()

    return Run(name="pyopencl", prepare=lambda: None, sort=sort, result=lambda: made[0].get(queue))


def cub(engine: Engine, keys: Keys) -> Run:
    """CUB's `DeviceRadixSort::SortKeys`, from one device buffer into another, its memory allocated beforehand.

    Raises:
        Unavailable: the sort does not run on CUDA.
    """
    size, n = keys.dtype.itemsize, len(keys)

    def result() -> Keys:
        out = np.empty_like(keys)
        engine.read(1, out)
        return out

    return Run(name="cub", prepare=lambda: None, sort=lambda: engine.peer("cub", size, n), result=result)


PEERS: Mapping[str, Peer] = {"numpy": numpy, "pyopencl": pyopencl, "cub": cub}
