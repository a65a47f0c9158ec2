"""Baselines that sort on the engine's device; their input and output are in device memory."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import numpy as np

from hsgen.core.errors import Unavailable
from hsgen.engines.engine import Engine
from hsgen.engines.pyopencl import Direct
from hsgen.operations.inputs import Keys
from hsgen.system import toolchain
from hsgen.tools.bench.baselines import build
from hsgen.tools.bench.baselines.baseline import Run, copied, timed


def _direct(name: str, engine: Engine) -> Direct:
    toolchain.pyopencl()
    if not isinstance(engine, Direct):
        raise Unavailable(f"baseline {name}: needs OpenCL through pyopencl; omit --api and --runtime")
    return engine


def pyopencl(engine: Engine, keys: Keys) -> Run:
    """Return a run of `pyopencl.algorithm.RadixSort`, from device array to device array.

    Raises:
        Unavailable: pyopencl's template engine (mako) is not installed, or the sort does not run through pyopencl.
    """
    direct = _direct("pyopencl", engine)
    context, queue = direct.context, direct.queue
    try:
        import pyopencl.algorithm as algorithm
        import pyopencl.array as array
        from mako import template  # noqa: F401  (pyopencl imports it only at the first sort)
    except ImportError as e:
        raise Unavailable(f"baseline pyopencl needs {e.name}; install it with pip install {e.name}") from None
    name = {4: "uint", 8: "ulong"}[keys.dtype.itemsize]
    sorter = algorithm.RadixSort(
        context, f"{name} *keys", key_expr="keys[i]", sort_arg_names=["keys"], key_dtype=keys.dtype
    )
    source = array.to_device(queue, keys)
    output: list[Any] = []

    def sort() -> None:
        output[:] = [sorter(source, key_bits=8 * keys.dtype.itemsize, queue=queue)[0][0]]
        queue.finish()

    return Run(
        name="pyopencl",
        prepare=lambda: None,
        sort=sort,
        result=lambda: output[0].get(queue),
        version=toolchain.pyopencl().VERSION_TEXT,
    )


def cub(engine: Engine, keys: Keys) -> Run:
    """Return a run of CUB's `DeviceRadixSort::SortKeys`, between device buffers, with preallocated temporary memory.

    Raises:
        Unavailable: the sort does not run on CUDA.
    """
    return _cub("cub", engine, keys)


def cub_fields(engine: Engine, keys: Keys) -> Run:
    """Return a run of CUB's `DeviceRadixSort::SortKeys` for keys that are structures, with a decomposer.

    Each structure has two members, the halves of a key.

    Raises:
        Unavailable: see `cub`.
    """
    return _cub("cub-fields", engine, keys)


def cub_merge(engine: Engine, keys: Keys) -> Run:
    """Return a run of CUB's `DeviceMergeSort::SortKeysCopy`, with a comparison function for structures.

    Each structure has two members, the halves of a key.

    Raises:
        Unavailable: see `cub`.
    """
    return _cub("cub-merge", engine, keys)


def _cub(name: str, engine: Engine, keys: Keys) -> Run:
    size, n = keys.dtype.itemsize, len(keys)

    def result() -> Keys:
        out = np.empty_like(keys)
        engine.read(1, out)
        return out

    sort, device = timed(lambda: engine.baseline(name, size, n))
    return Run(name=name, prepare=lambda: copied(engine, keys.nbytes), sort=sort, result=result, device=device)


def boost(engine: Engine, keys: Keys) -> Run:
    """Return a run of Boost.Compute's `sort`, in place in a device vector; the copy of the input is not timed.

    Raises:
        Unavailable: no C++ compiler is found, Boost.Compute or OpenCL's C headers are not installed, the sort does not
            run through OpenCL in this process, or Boost.Compute reports an error.
    """
    device = _direct("boost", engine).context.devices[0]
    library = build.load("boost")
    call = partial(build.call, "boost", library)

    def sort() -> float:
        seconds = ctypes.c_double()
        call("baseline_sort", ctypes.byref(seconds))
        return seconds.value

    def result() -> Keys:
        out = np.empty_like(keys)
        call("baseline_result", out.ctypes.data_as(ctypes.c_void_p))
        return out

    same = [d for d in device.platform.get_devices() if d.name == device.name]
    names = (device.platform.name.encode(), device.name.encode())
    call("baseline_open", *names, ctypes.c_int(same.index(device)))
    place = keys.ctypes.data_as(ctypes.c_void_p)
    call("baseline_keys", place, ctypes.c_size_t(len(keys)), ctypes.c_int(keys.dtype.itemsize))
    return Run(
        name="boost",
        prepare=lambda: call("baseline_prepare"),
        sort=sort,
        result=result,
        version=build.version(library).replace("_", "."),
        close=library.baseline_close,
    )
