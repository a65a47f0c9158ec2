"""Access to NVIDIA's driver through cuda.bindings: list GPUs, retain their primary contexts, and raise the driver's
errors as exceptions with one-line messages.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hsgen.core.errors import Unavailable, Usage, Wrong
from hsgen.core.numbers import integer
from hsgen.engines.host import Host, numbered
from hsgen.system import extras

API, PLATFORM, VENDOR, WARP = "cuda", "NVIDIA CUDA", 0x10DE, 32
_EARLY = 90  # least compute capability with programmatic dependent launch: 9.0
_GRAPHS = 12030  # least driver version whose graphs can capture programmatic dependent launches: CUDA 12.3


def package(name: str) -> Any:
    """Import and return the module `name` of cuda.bindings, or with "" the package itself.

    No other function imports cuda.bindings.

    Raises:
        Unavailable: cuda.bindings is not installed.
    """
    try:
        return importlib.import_module(f"cuda.bindings.{name}".rstrip("."))
    except ImportError:
        raise Unavailable(f"cuda.bindings is not installed; {extras.command(API)}") from None


stand_in: Any = None
"""None, or an object that replaces the driver in this process: it has the same functions (`hsgen.cuda.offline`)."""


def bindings() -> Any:
    """Return the module with the driver's functions; the first call also calls cuInit.

    Raises:
        Unavailable: cuda.bindings or the driver is not installed, or the driver lists no GPU.
    """
    return stand_in or _bindings()


@cache
def _bindings() -> Any:
    functions = package("driver")
    try:
        code = functions.cuInit(0)[0]
    except RuntimeError as e:  # cuda.pathfinder finds no libcuda
        raise Unavailable(f"no NVIDIA driver: {str(e).splitlines()[0]}") from None
    if code != 0:
        raise Unavailable(f"no NVIDIA GPU: cuInit says {_name(code)}")
    return functions


def _name(code: Any) -> str:
    return str(getattr(code, "name", code))


def done(result: tuple[Any, ...], name: str = "the driver") -> Any:
    """Check the error code in `result`, and return the further results of the driver function `name`.

    No further result returns None, one returns the value, several return a tuple.

    Raises:
        Unavailable: there is too little memory.
        Wrong: the driver reports any other error.
    """
    code, *rest = result
    if code != 0:
        if _name(code) == "CUDA_ERROR_OUT_OF_MEMORY":
            raise Unavailable(f"{name}: the device is out of memory")
        raise Wrong(f"{name} says {_name(code)}")
    return rest[0] if len(rest) == 1 else tuple(rest) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A GPU.  number: its number in the driver.  context: the handle of its primary context.

    cores: the number of multiprocessors.  rows: the greatest y dimension of a grid.  early: whether launches use
    programmatic dependent launch: a kernel may start before earlier kernels end, and waits for them itself.
    """

    number: int
    context: int
    cores: int
    rows: int
    early: bool
    host: Host = field(compare=False)

    @property
    def arch(self) -> int:
        """The number of the GPU's architecture, such as 90 for sm_90."""
        return self.host.compute

    @contextmanager
    def current(self) -> Iterator[None]:
        """In the block, the primary context is current in this thread."""
        pushed = self.enter()
        try:
            yield
        finally:
            if pushed:
                self.leave()

    def enter(self) -> bool:
        """Make the primary context current, if it is not; return True if the caller must call `leave` afterwards."""
        driver = bindings()
        if int(driver.cuCtxGetCurrent()[1]) == self.context:
            return False
        done(driver.cuCtxPushCurrent(driver.CUcontext(self.context)), "cuCtxPushCurrent")
        return True

    def leave(self) -> None:
        """Make the context current that was current before `enter`."""
        bindings().cuCtxPopCurrent()


@cache
def _handle(number: int) -> Any:
    """Return the driver's handle of a GPU."""
    return done(bindings().cuDeviceGet(number), "cuDeviceGet")


def _fact(number: int, name: str) -> int:
    """Return the value of the attribute CU_DEVICE_ATTRIBUTE_<name> of a GPU."""
    driver = bindings()
    which = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(done(driver.cuDeviceGetAttribute(which, _handle(number)), "cuDeviceGetAttribute"))


def _host(number: int) -> Host:
    """Return a `Host`, which describes GPU `number`."""
    driver = bindings()
    version = int(done(driver.cuDriverGetVersion(), "cuDriverGetVersion"))
    name = bytes(done(driver.cuDeviceGetName(96, _handle(number)), "cuDeviceGetName")).split(b"\0")[0].decode()
    return Host(
        api=API,
        platform=PLATFORM,
        name=name,
        driver=f"CUDA {version // 1000}.{version % 1000 // 10}",
        version="",
        type="gpu",
        vendor=VENDOR,
        work_group=_fact(number, "MAX_THREADS_PER_BLOCK"),
        local_bytes=_fact(number, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        shuffle=True,
        ballot=True,
        handle=number,
        compute=10 * _fact(number, "COMPUTE_CAPABILITY_MAJOR") + _fact(number, "COMPUTE_CAPABILITY_MINOR"),
        widths=tuple(1 << i for i in range(WARP.bit_length())),
        more={"cores": _fact(number, "MULTIPROCESSOR_COUNT")},
    )


@cache
def hosts() -> list[Host]:
    """Return a `Host` for each GPU, in the driver's order, without creating contexts.

    Raises:
        Unavailable: cuda.bindings or the driver is not installed, or the driver lists no GPU.
    """
    return numbered([_host(i) for i in range(int(done(bindings().cuDeviceGetCount(), "cuDeviceGetCount")))])


@cache
def device(number: int) -> Device:
    """Return a GPU by its number; the process keeps the GPU's primary context until the process ends.

    Raises:
        Usage: there is no such GPU.
        Unavailable: the driver is missing.
    """
    every = hosts()
    if not 0 <= number < len(every):
        raise Usage(f"device {number}: there are {len(every)} GPUs; give a number below that")
    context = int(done(bindings().cuDevicePrimaryCtxRetain(_handle(number)), "cuDevicePrimaryCtxRetain"))
    cores, rows = _fact(number, "MULTIPROCESSOR_COUNT"), _fact(number, "MAX_GRID_DIM_Y")
    early = every[number].compute >= _EARLY and int(done(bindings().cuDriverGetVersion())) >= _GRAPHS
    return Device(number=number, context=context, cores=cores, rows=rows, early=early, host=every[number])


def chosen(number: int | None) -> Device:
    """Return a GPU by its number; None selects the GPU of the thread's current context.

    Without a current context, None selects the first GPU.

    Raises:
        TypeError: the number is not an integer.
        Usage, Unavailable: as `device`.
    """
    if number is not None:
        number = integer("device", number, 0, len(hosts()) - 1)
    else:
        driver = bindings()
        now = driver.cuCtxGetCurrent()[1]
        number = int(done(driver.cuCtxGetDevice())) if int(now) else 0
    return device(number)
