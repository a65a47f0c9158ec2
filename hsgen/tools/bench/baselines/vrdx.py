"""The baseline vulkan_radix_sort, whose header the user provides (https://github.com/jaesung-cs/vulkan_radix_sort)."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.apis import APIS
from hsgen.core.errors import Unavailable
from hsgen.engines.engine import Engine
from hsgen.engines.harness import Native
from hsgen.operations.inputs import Keys
from hsgen.tools.bench.baselines import build
from hsgen.tools.bench.baselines.baseline import Run


def vrdx(engine: Engine, keys: Keys) -> Run:
    """Return a run of vulkan_radix_sort, which sorts keys in place, on a Vulkan device object of its own.

    The time includes recording the commands, as it does for hsgen's sorts.  Restoring the keys is not timed.

    Raises:
        Unavailable: keys have another size than 4 bytes, the sort does not run on Vulkan, the header is not provided or
            does not compile, or the device lacks a feature.
    """
    return _run(engine, keys, None)


def valued(engine: Engine, keys: Keys, values: NDArray[Any] | None) -> Run:
    """Return a run of vulkan_radix_sort, which sorts keys with values of 4 bytes.

    Raises:
        Unavailable: as for `vrdx`; or the sort is an argsort, or values have another size.
    """
    if values is None or values.shape[1] != 1:
        raise Unavailable("baseline vrdx: sorts values of 4 bytes; give --value v4, or omit it")
    return _run(engine, keys, np.ascontiguousarray(values))


def _run(engine: Engine, keys: Keys, values: NDArray[Any] | None) -> Run:
    if keys.dtype.itemsize != 4:
        raise Unavailable("baseline vrdx: sorts keys of 4 bytes; give --key u32, or omit it")
    if not isinstance(engine, Native) or not APIS[engine.api].spirv:  # `engine.index` must be of a Vulkan device
        raise Unavailable("baseline vrdx: runs on Vulkan only; add --api vulkan, or omit it")
    library, last = build.load("vrdx"), [0.0]
    call = partial(build.call, "vrdx", library)

    def sort() -> None:
        device = ctypes.c_double()
        call("baseline_sort", ctypes.byref(device))
        last[0] = device.value

    def result(number: int) -> Any:
        out = np.empty(len(keys), np.uint32)
        call("baseline_result", out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int(number))
        return out

    places = [None if a is None else a.ctypes.data_as(ctypes.c_void_p) for a in (keys, values)]
    call("baseline_open", ctypes.c_int(engine.index), *places, ctypes.c_size_t(len(keys)))
    return Run(
        name="vrdx",
        prepare=lambda: call("baseline_prepare"),
        sort=sort,
        result=lambda: result(0),
        values=None if values is None else lambda: result(1).reshape(-1, 1),
        device=lambda: last[0],
        version=build.version(library),
        close=library.baseline_close,
    )
