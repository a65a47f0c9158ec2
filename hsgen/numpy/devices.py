"""The devices that sort numpy arrays.  The module chooses a device, and copies arrays to the device and back."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any

from hsgen import cuda, opencl
from hsgen.core.errors import Unavailable, wrong_type
from hsgen.core.numbers import integer
from hsgen.cuda import background, driver, streams
from hsgen.engines import hosts, selection
from hsgen.engines.builds import context_for
from hsgen.engines.hosts import Host
from hsgen.system import extras, toolchain

_OPTION = "device="  # precedes the name of a device in messages


class OpenClDevice:
    """A device that pyopencl drives."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._context = context_for(host)  # kept, because Intel's runtime frees a context to which only a queue refers
        self._queue = toolchain.pyopencl().CommandQueue(self._context)
        self._lock = RLock()

    def room(self, most: int | None = None) -> tuple[int, int]:
        """Return how many bytes of device memory a sort may use, and the greatest size of a buffer in bytes.

        most: the number of bytes that a sort may use; None for half of the device's memory.
        """
        device = self._context.devices[0]
        memory = int(device.global_mem_size) // 2  # if the device is a CPU, the host needs memory too
        return (memory if most is None else _bytes(most)), int(device.max_mem_alloc_size)

    def build(self, kind: str, *arguments: Any, **named: Any) -> Any:
        """Return a new object of a class of `hsgen.opencl`, such as `Sorter`; kind: the name of the class."""
        return background.attribute(opencl, kind)(self._context, *arguments, **named)

    @contextmanager
    def arrays(self) -> Iterator[Callable[[Any], Any]]:
        """Yield a function that copies a contiguous array to the device; for None, the function returns None.

        The copies stay in device memory until the block ends.  During the block, this thread holds a lock, because only
        one thread at a time may use pyopencl's arrays.
        """
        to_device = importlib.import_module("pyopencl.array").to_device
        with self._lock:
            yield lambda a: None if a is None else to_device(self._queue, a)

    def call(self, sorter: Any, keys: Any, **named: Any) -> None:
        """Enqueue a call of a sorter with arrays on the device."""
        sorter(self._queue, keys, **named)

    def read(self, array: Any, to: Any) -> None:
        """Wait for all enqueued calls, then copy an array from the device to the contiguous numpy array `to`."""
        array.get(self._queue, ary=to)


class Block:
    """An array in the memory of an NVIDIA GPU."""

    def __init__(self, data: Any) -> None:
        size = max(data.nbytes, 1)
        self.address = int(driver.done(driver.bindings().cuMemAlloc(size), f"{size} bytes of keys or values"))
        self.shape, self.dtype, self.nbytes = data.shape, data.dtype, data.nbytes

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3}


class CudaDevice:
    """A GPU that NVIDIA's driver drives; calls run on its default stream."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.gpu = driver.device(host.handle)

    def room(self, most: int | None = None) -> tuple[int, int]:
        """See `OpenClDevice`; by default, a sort may use 15/16 of the memory that is free."""
        with self.gpu.current():
            free = int(driver.done(driver.bindings().cuMemGetInfo(), "cuMemGetInfo")[0])
        room = free - free // 16 if most is None else _bytes(most)
        return room, room

    def build(self, kind: str, *arguments: Any, **named: Any) -> Any:
        """See `OpenClDevice`; the class is one of `hsgen.cuda`."""
        return background.attribute(cuda, kind)(*arguments, device=self.gpu.number, **named)

    @contextmanager
    def arrays(self) -> Iterator[Callable[[Any], Any]]:
        """See `OpenClDevice`; memory is freed at the end of the block."""
        blocks: list[Block] = []

        def copied(a: Any) -> Block | None:
            if a is None:
                return None
            blocks.append(block := Block(a))
            if a.nbytes:
                driver.done(driver.bindings().cuMemcpyHtoD(block.address, a.ctypes.data, a.nbytes), "cuMemcpyHtoD")
            return block

        with self.gpu.current():
            try:
                yield copied
            finally:
                for block in blocks:
                    driver.bindings().cuMemFree(block.address)
                streams.KEPT.sweep()

    def call(self, sorter: Any, keys: Any, **named: Any) -> None:
        """See `OpenClDevice`."""
        sorter(keys, **named)

    def read(self, array: Any, to: Any) -> None:
        """See `OpenClDevice`."""
        driver.done(driver.bindings().cuMemcpyDtoH(to.ctypes.data, array.address, array.nbytes), "cuMemcpyDtoH")


def _bytes(memory: Any) -> int:
    """Return the argument `memory` of a call as an integer."""
    return integer("memory", memory, 1, 1 << 62)


def _gpus() -> list[Host]:
    """Return the GPUs of NVIDIA's driver; empty without the driver or cuda.bindings."""
    with suppress(Unavailable):
        return driver.hosts()
    return []


Device = CudaDevice | OpenClDevice

_KINDS: tuple[tuple[Callable[[], list[Host]], type[Device]], ...] = (
    (_gpus, CudaDevice),
    (hosts.hosts, OpenClDevice),
)
"""Pairs: a function that lists devices, and the class that drives these devices.  The preferred pair comes first."""

_made: dict[str, Device] = {}
_lock = RLock()


def chosen(name: str | None = None) -> tuple[Host, type[Device]]:
    """Return the `Host` of a device, and the class that drives the device.

    name: a part of the device's name, as in ``--device``.  None selects the first NVIDIA GPU through CUDA, or else the
    first device of `hsgen.engines.selection.candidates` through OpenCL.

    Raises:
        TypeError: the name is not a string.
        Usage: several devices have that name, or the name is empty.
        Unavailable: there is no such device.
    """
    if name is not None and not isinstance(name, str):
        raise wrong_type("device", "a part of its name, as `hsgen doctor` lists it", name)
    missing = Unavailable(
        f"no GPU and no OpenCL device; for NVIDIA GPUs: {extras.command('cuda')}; for this CPU: "
        f"{extras.command('cpu-device')}; `hsgen doctor` says more"
    )
    for listed, kind in _KINDS:
        if devices := listed():
            try:
                return (
                    selection.pick(None, devices) if name is None else selection.named(name, devices, _OPTION)
                ), kind
            except Unavailable as e:
                missing = e
    raise missing


def device_of(name: str | None = None) -> Device:
    """Return an object that drives the device that `chosen` selects; calls for the same device return the same object.

    Raises:
        TypeError, Usage, Unavailable: as `chosen`.
    """
    host, kind = chosen(name)
    if host.label not in _made:
        background.slow()
    with _lock:
        if host.label not in _made:
            _made[host.label] = kind(host)
        return _made[host.label]
