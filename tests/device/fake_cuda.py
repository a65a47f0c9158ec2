"""A driver of CUDA without a GPU: it records every launch, and runs the same kernel of the same sort through OpenCL.

Kernels take the same arguments in both languages.  Device memory is made of OpenCL buffers at made-up addresses;
arrays have ``__cuda_array_interface__``.  So everything but NVRTC and the GPU itself runs: `Fake.install` replaces the
functions of cuda.bindings and the compilation.  Kernels are compiled without optimization, which takes a fifth of the
time: their code says nothing about a GPU in any case.
"""

from __future__ import annotations

import ctypes
import math
import threading
from bisect import bisect_right
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from hsgen.core.sort import Sort
from hsgen.cuda import columns as columns_module
from hsgen.cuda import digest as digest_module
from hsgen.cuda import (
    driver,
    finish,
    groups,
    kernels,
    libraries,
    merges,
    order,
    packing,
    prepared,
    segmented_sorter,
    selected,
    selections,
    splitters,
    streams,
)
from hsgen.emit.kernels import render
from hsgen.engines.builds import build, options
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.numpy import devices, pipeline
from hsgen.opencl.columns import OPENCL
from hsgen.operations import oracle
from hsgen.system import toolchain

USERS = (
    columns_module,
    digest_module,
    driver,
    finish,
    kernels,
    libraries,
    merges,
    packing,
    pipeline,
    prepared,
    segmented_sorter,
    selected,
    splitters,
    streams,
)
"""The modules that call the driver."""
FACTS = {
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
    "MULTIPROCESSOR_COUNT": 132,
    "MAX_GRID_DIM_Y": 65535,
}
FIRST, APART = 1 << 40, 1 << 33  # addresses
ALIGNED = 128  # bytes, of parts of OpenCL buffers
CONTEXT = 0x1000  # plus the number of the GPU
NOT_READY = 600


class Code(int):
    """A code with a name, as cuda.bindings has them."""

    @property
    def name(self) -> str:
        return {0: "CUDA_SUCCESS", 1: "CUDA_ERROR_INVALID_VALUE", 2: "CUDA_ERROR_OUT_OF_MEMORY"}.get(self, "CUDA_ERROR")


class Results:
    """The enumeration of codes."""

    CUDA_ERROR_NOT_READY = NOT_READY

    def __call__(self, code: int) -> Code:
        return Code(code)


class Named:
    """An enumeration of which every member is its own name."""

    def __getattr__(self, name: str) -> str:
        return name


@dataclass
class Launched:
    """A recorded launch."""

    kernel: str
    grid: tuple[int, int]
    threads: int
    shared: int
    stream: int
    pointers: list[int]
    scalars: list[int]
    cooperative: bool


@dataclass
class Fake:
    """The driver: GPUs of one kind, with the memory of one OpenCL device."""

    host: Host
    devices: int = 2
    launched: list[Launched] = field(default_factory=list)
    compiled: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    pending: set[int] = field(default_factory=set)  # streams that have not passed
    capturing: set[int] = field(default_factory=set)
    runs: bool = True  # whether launches are run
    version: int = 13000  # of the driver

    CUdevice_attribute = CUfunction_attribute = CUpointer_attribute = CUstreamCaptureMode = CUevent_flags = Named()
    CUlaunchAttributeID = CUstream_flags = Named()
    CUresult = Results()
    CUcontext = CUfunction = CUkernel = CUstream = staticmethod(int)
    CUlaunchConfig = SimpleNamespace

    @staticmethod
    def CUlaunchAttribute() -> Any:
        return SimpleNamespace(id="", value=SimpleNamespace())

    def __post_init__(self) -> None:
        self._cl = toolchain.pyopencl()
        self.context = context_for(self.host)
        self.queue = self._cl.CommandQueue(self.context)
        self._memory: dict[int, Any] = {}
        self._owner: dict[int, int] = {}
        self._next = FIRST
        self._sorts: list[Any] = []
        self._handles: list[tuple[Any, str]] = []
        self._programs: dict[Any, dict[str, Any]] = {}
        self._local = threading.local()
        self._events: dict[int, int] = {}
        self._host: dict[int, Any] = {}
        self._streams = 100
        self._blocks: tuple[int, ...] = ()  # of the last launch of a kernel that is no part of a sort

    @property
    def _current(self) -> list[int]:
        """The contexts of this thread."""
        return self._local.__dict__.setdefault("contexts", [])

    # memory
    def allocate(self, size: int, device: int = 0) -> int:
        """Return the address of new memory."""
        at, self._next = self._next, self._next + APART
        self._memory[at] = self._cl.Buffer(self.context, self._cl.mem_flags.READ_WRITE, max(size, 16))
        self._owner[at] = device
        return at

    def place(self, address: int) -> tuple[int, int]:
        """Return the start of the memory that an address lies in, and its offset there."""
        starts = sorted(self._memory)
        i = bisect_right(starts, address) - 1
        assert i >= 0, f"no memory at {address:#x}"
        start = starts[i]
        assert address - start <= self._memory[start].size, f"{address:#x} is beyond its memory"
        return start, address - start

    def part(self, address: int) -> Any:
        """Return an OpenCL buffer that begins at an address; for the end of memory, of which nothing is read, any."""
        start, offset = self.place(address)
        whole = self._memory[start]
        return whole.get_sub_region(offset, whole.size - offset) if 0 < offset < whole.size else whole

    def read(self, address: int, array: Any) -> None:
        """Copy device memory to an array."""
        start, offset = self.place(address)
        self._cl.enqueue_copy(self.queue, array, self._memory[start], src_offset=offset, is_blocking=True)

    def write(self, address: int, array: Any) -> None:
        """Copy an array to device memory."""
        start, offset = self.place(address)
        self._cl.enqueue_copy(self.queue, self._memory[start], array, dst_offset=offset, is_blocking=True)

    @property
    def held(self) -> int:
        """The allocations that are not freed, pinned memory included."""
        return len(self._memory) + len(self._host)

    # the functions of cuda.bindings
    def cuDeviceGetCount(self) -> Any:
        return Code(0), self.devices

    def cuDeviceGet(self, number: int) -> Any:
        return Code(0), number

    def cuDeviceGetAttribute(self, which: str, device: int) -> Any:
        return Code(0), FACTS[which.removeprefix("CU_DEVICE_ATTRIBUTE_")]

    def cuDriverGetVersion(self) -> Any:
        return Code(0), self.version

    def cuDeviceGetName(self, size: int, device: int) -> Any:
        return Code(0), f"Fake {device}".encode().ljust(size, b"\0")

    def cuDevicePrimaryCtxRetain(self, device: int) -> Any:
        return Code(0), CONTEXT + device

    def cuCtxGetCurrent(self) -> Any:
        return Code(0), self._current[-1] if self._current else 0

    def cuCtxGetDevice(self) -> Any:
        return (Code(0), self._current[-1] - CONTEXT) if self._current else (Code(1), 0)

    def cuCtxPushCurrent(self, context: int) -> Any:
        self._current.append(context)
        return (Code(0),)

    def cuCtxPopCurrent(self) -> Any:
        return Code(0), self._current.pop()

    def cuLibraryLoadData(self, code: bytes, *more: Any) -> Any:
        if b"\n" in code:
            text = code.decode()
            self._handles.append((text, next(name for name in self._single if f" {name}(" in text)))
            return Code(0), len(self._handles)
        number, name = code.decode().split()
        self._handles.append((self._sorts[int(number)], name))
        return Code(0), len(self._handles)

    def cuLibraryGetKernel(self, library: int, name: bytes) -> Any:
        owner, first = self._handles[library - 1]
        if first == name.decode():
            return Code(0), library
        assert isinstance(owner, str) and f" {name.decode()}(" in owner  # another kernel of the same text
        self._handles.append((owner, name.decode()))
        return Code(0), len(self._handles)

    def cuKernelGetFunction(self, kernel: int) -> Any:
        return Code(0), kernel

    def cuKernelSetAttribute(self, which: str, value: int, kernel: int, device: int) -> Any:
        return (Code(0 if value <= FACTS["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"] else 1),)

    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> Any:
        return Code(0), mode

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, kernel: int, threads: int, shared: int) -> Any:
        return Code(0), 1

    def cuStreamSynchronize(self, stream: int) -> Any:
        self.pending.discard(int(stream))
        return (Code(0),)

    def cuStreamCreate(self, flags: Any) -> Any:
        self._streams += 2  # even numbers are of GPU 0
        return Code(0), self._streams

    def cuStreamDestroy(self, stream: int) -> Any:
        return (Code(0),)

    def cuEventSynchronize(self, event: int) -> Any:
        return (Code(0),)

    def cuStreamGetCtx(self, stream: int) -> Any:
        return Code(0), CONTEXT + stream % 2

    def cuStreamIsCapturing(self, stream: int) -> Any:
        return Code(0), int(stream in self.capturing)

    def cuEventCreate(self, flags: Any) -> Any:
        self._events[len(self._events) + 1] = 0
        return Code(0), len(self._events)

    def cuEventRecord(self, event: int, stream: int) -> Any:
        self._events[event] = stream
        self.calls.append(f"record {stream}")
        return (Code(0),)

    def cuEventQuery(self, event: int) -> Any:
        return (Code(NOT_READY if self._events[event] in self.pending else 0),)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> Any:
        self.calls.append(f"wait {stream} for {self._events[event]}")
        return (Code(0),)

    def cuEventDestroy(self, event: int) -> Any:
        return (Code(0),)

    def cuMemAlloc(self, size: int) -> Any:
        return Code(0), self.allocate(size)

    def cuMemGetInfo(self) -> Any:
        return Code(0), 1 << 30, 1 << 31

    def cuMemFree(self, address: int) -> Any:
        del self._memory[address], self._owner[address]
        return (Code(0),)

    def cuMemcpyHtoD(self, to: int, source: int, size: int) -> Any:
        self.write(to, np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(source)))
        return (Code(0),)

    def cuMemsetD8Async(self, to: int, value: int, size: int, stream: int) -> Any:
        self.write(to, np.full(size, value, np.uint8))
        return (Code(0),)

    def cuMemAllocAsync(self, size: int, stream: int) -> Any:
        self.calls.append(f"allocate {stream}")
        return Code(0), self.allocate(size)

    def cuMemFreeAsync(self, address: int, stream: int) -> Any:
        self.calls.append(f"free {stream}")
        del self._memory[address], self._owner[address]
        return (Code(0),)

    def cuMemcpyDtoDAsync(self, to: int, source: int, size: int, stream: int) -> Any:
        words = np.empty(size, np.uint8)
        self.read(source, words)
        self.write(to, words)
        return (Code(0),)

    def cuMemcpyHtoDAsync(self, to: int, source: int, size: int, stream: int) -> Any:
        return self.cuMemcpyHtoD(to, source, size)

    def cuMemcpyDtoHAsync(self, to: int, source: int, size: int, stream: int) -> Any:
        return self.cuMemcpyDtoH(to, source, size)

    def cuMemHostAlloc(self, size: int, flags: int) -> Any:
        room = np.empty(size, np.uint8)
        self._host[room.ctypes.data] = room
        return Code(0), room.ctypes.data

    def cuMemFreeHost(self, address: int) -> Any:
        del self._host[address]
        return (Code(0),)

    def cuMemcpyDtoH(self, to: int, source: int, size: int) -> Any:
        self.read(source, np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(to)))
        return (Code(0),)

    def cuPointerGetAttribute(self, which: str, address: int) -> Any:
        start, offset = self.place(address)
        return Code(offset == self._memory[start].size), self._owner[start]  # no memory begins at its end

    def cuLaunchKernel(self, kernel: int, *where: int) -> Any:
        *_, at, extra = where
        assert extra == 0
        return self._launch(kernel, where[:8], at, cooperative=False)

    def cuLaunchKernelEx(self, config: Any, kernel: int, at: int, extra: int) -> Any:
        (attribute,) = config.attrs
        assert (config.numAttrs, attribute.value.programmaticStreamSerializationAllowed, extra) == (1, 1, 0)
        blocks = (config.gridDimX, config.gridDimY, config.gridDimZ)
        threads = (config.blockDimX, config.blockDimY, config.blockDimZ)
        where = (*blocks, *threads, config.sharedMemBytes, config.hStream)
        return self._launch(kernel, where, at, cooperative=False)

    def cuLaunchCooperativeKernel(self, kernel: int, *where: int) -> Any:
        return self._launch(kernel, where[:8], where[-1], cooperative=True)

    def _launch(self, handle: int, where: tuple[int, ...], at: int, *, cooperative: bool) -> Any:
        owner, name = self._handles[handle - 1]
        if isinstance(owner, str):
            self._blocks = where[:3]
            self._single[name](self, owner, at)
            return (Code(0),)
        sort: Sort = owner.sort
        kernel = sort.kernel(name)
        wide, high, deep, threads, _, _, shared, stream = where
        assert (deep, threads, shared) == (1, kernel.work_group, kernel.local_bytes(sort.key))
        scalars = 2 + 2 * sort.signature.numbers
        slots = (ctypes.c_void_p * (len(kernel.buffers) + scalars)).from_address(at)
        found = [ctypes.c_int64.from_address(s).value for s in slots]  # type: ignore[arg-type]
        pointers, numbers = found[: len(kernel.buffers)], found[len(kernel.buffers) :]
        launched = Launched(name, (wide, high), threads, shared, stream, pointers, numbers, cooperative)
        self.launched.append(launched)
        if self.runs:
            self._run(owner, kernel, launched)
        return (Code(0),)

    @staticmethod
    def _defined(text: str) -> dict[str, str]:
        """The definitions of a text."""
        return dict(line.split(" ", 2)[1:] for line in text.splitlines() if line.startswith("#define"))

    @staticmethod
    def _numbers(at: int, count: int) -> list[int]:
        """The arguments of a launch."""
        slots = (ctypes.c_void_p * count).from_address(at)
        return [ctypes.c_int64.from_address(s).value for s in slots]  # type: ignore[arg-type]

    def _finish(self, text: str, at: int) -> None:
        """Do what templates/apis/cuda/python/finish.cu does."""
        defined = self._defined(text)
        floats, size = defined["HS_KEYS"] == "1", 8 if "long" in defined["HS_INDEX"] else 4
        found = self._numbers(at, 8 if floats else 6)
        (index, to), (turn, n, length, in_row) = found[:2], found[-4:]
        self.launched.append(Launched("hs_finish", (0, 0), 256, 0, 0, found[:-3], found[-3:], False))
        if not self.runs:
            return
        if turn:
            word = np.empty(1, np.uint32)
            self.read(turn, word)
            if 0 < word[0] < 256:
                return
        order = np.empty(n, f"u{size}")
        self.read(index, order)
        begin = np.arange(n) // length * length
        if floats:
            width = {"short": 2, "int": 4, "long": 8}[defined["HS_BITS"].split()[-1]]
            keys, source = np.empty(n, f"u{width}"), np.empty(n, f"u{width}")
            self.read(found[2], keys)
            self.read(found[3], source)
            magnitude = keys & np.dtype(f"u{width}").type(int(defined["HS_MAGNITUDE"].removesuffix("ull"), 16))
            special = (magnitude == 0) | (magnitude > int(defined["HS_INFINITY"].removesuffix("ull"), 16))
            places = order.astype(np.int64) + (begin if in_row else 0)
            keys[special] = source[places[special]]
            self.write(found[2], keys)
        if to:
            self.write(to, order.astype(np.int64) - (0 if in_row else begin))

    def _rows(self, text: str, at: int) -> None:
        """Do what templates/apis/cuda/python/rows.cu does."""
        size = {"char": 1, "short": 2, "int": 4, "long": 8}[self._defined(text)["HS_UNIT"].split()[-1]]
        source, pitch, to, to_pitch, index, units, n = self._numbers(at, 7)
        assert source % size == to % size == 0
        self.launched.append(Launched("hs_rows", (0, 0), 256, 0, 0, [source, to, index], [units, n], False))
        order = np.arange(n, dtype=np.uint32)
        if index:
            self.read(index, order)
        where = np.arange(units)
        before, after = ((n - 1) * p + units for p in (pitch, to_pitch))
        given, stored = np.empty(before, f"u{size}"), np.empty(after, f"u{size}")
        self.read(source, given)
        self.read(to, stored)
        stored[np.arange(n)[:, None] * to_pitch + where] = given[order.astype(np.int64)[:, None] * pitch + where]
        self.write(to, stored)

    def _pack(self, text: str, at: int) -> None:
        """Run the packing of columns through OpenCL."""
        assert text.startswith(packing.CUDA.head)
        key = id(packing), text
        if key not in self._programs:
            own = OPENCL.head + text.removeprefix(packing.CUDA.head)
            option = options(self.context, "", lanes=False, optimized=False)
            self._programs[key] = build(self.context, own, "fake", ["hs_pack"], option)
        kernel, columns = self._programs[key]["hs_pack"], text.count(", hs_u64 pitch")
        words, n, *places = self._numbers(at, 2 + 3 * columns)
        self.launched.append(Launched("hs_pack", (0, 0), 256, 0, 0, [words, *places[::3]], [n], False))
        held: list[Any] = [self.part(words), np.uint32(n)]
        for column, begin, pitch in zip(*[iter(places)] * 3, strict=True):
            start, offset = self.place(column)  # parts of buffers must be aligned, columns need not be
            held += [self._memory[start], np.uint64(begin + offset), np.uint64(pitch)]
        kernel.set_args(*held)
        self._cl.enqueue_nd_range_kernel(self.queue, kernel, (-(-n // 256) * 256,), None)
        self.queue.finish()
        while held:
            held.pop()

    def _words(self, address: int, count: int, type: Any = np.uint32) -> Any:
        """Return numbers in the memory; None for no address."""
        if not address:
            return None
        words = np.empty(count, type)
        self.read(address, words)
        return words.astype(np.int64)

    def _bounds(self, text: str, at: int) -> None:
        """Do what templates/apis/cuda/python/bounds.cu does."""
        numbers = self._numbers(at, 8)
        rows, length, turn = numbers[5:]
        self.launched.append(Launched("hs_bounds", (0, 0), 256, 0, 0, numbers[:5], numbers[5:], False))
        starts, lengths, count = (self._words(x, n) for x, n in zip(numbers, (rows, rows, 1), strict=False))
        first = np.minimum(0 if starts is None else starts, length) + np.zeros(rows, np.int64)
        most = np.where(np.arange(rows) < (rows if count is None else count), length - first, 0)
        self.write(numbers[3], np.minimum(most, length if lengths is None else lengths).astype(np.uint32))
        self.write(numbers[4], (np.arange(rows) % turn * length + first).astype(np.uint32))

    def _masked(self, text: str, at: int) -> None:
        """Do what templates/apis/cuda/python/masked.cu does."""
        bits, fill = self._keys_of(text)
        source, to, starts, lengths, n, length = self._numbers(at, 6)
        where = [source, to, starts, lengths]
        self.launched.append(Launched("hs_masked", (0, 0), 256, 0, 0, where, [n, length], False))
        keys, rows = np.empty(n, bits), n // length
        self.read(source, keys)
        first, counts = self._words(starts, rows), self._words(lengths, rows)
        places = np.arange(n).reshape(rows, length) + (0 if first is None else first[:, None])
        within = np.arange(length) < counts[:, None]
        self.write(to, np.where(within, keys[np.where(within, places, 0)], fill))

    def _selected(self, text: str, at: int) -> None:
        """Do what templates/apis/cuda/python/selected.cu does."""
        (bits, fill), defined = self._keys_of(text), self._defined(text)
        numbers = self._numbers(at, 17)
        indices, order, to, keys_from, keys_to, source, *_ = numbers
        *_, table, _, entries, size, n, k, stride, length = numbers
        self.launched.append(Launched("hs_selected", (0, 0), 256, 0, 0, numbers[:12], numbers[12:], False))
        rows = n // k
        starts, lengths, takes = (self._words(x, rows) for x in numbers[6:9])
        numbered, keys = np.empty((rows, stride), np.int64), np.empty((rows, stride), bits)
        self.read(indices, numbered)
        self.read(keys_from, keys)
        keys = keys[:, :k].copy()
        if order:
            ranks = np.empty((rows, k), np.int64)
            self.read(order, ranks)
            numbered = np.take_along_axis(numbered, ranks, 1)
        numbered = numbered[:, :k].copy()
        beyond = numbered.astype(np.uint64) >= (np.full(rows, length) if lengths is None else lengths)[:, None]
        if takes is not None:
            beyond |= np.arange(k) >= takes[:, None]
        first = (np.arange(rows) * length + (0 if starts is None else starts))[:, None]
        if defined["HS_FLOATS"] == "1":
            before = np.empty(rows * length, bits)
            self.read(source, before)
            magnitude = keys & bits.type(int(defined["HS_MAGNITUDE"].removesuffix("ull"), 16))
            special = (magnitude == 0) | (magnitude > int(defined["HS_INFINITY"].removesuffix("ull"), 16))
            keys = np.where(special, before[np.where(beyond, 0, first + numbered)], keys)
        keys[beyond], numbered[beyond] = fill, -1
        assert to or (keys_from == keys_to and stride == k)
        self.write(keys_to, keys)
        if to:
            self.write(to, numbered)
        if entries:
            entry = np.dtype(f"u{8 if 'long' in defined['HS_ENTRY'] else 4}")
            every = np.empty(size, entry)
            self.read(table, every)
            begin = self._words(numbers[10], rows, np.int64)
            place = (first if begin is None else begin[:, None]) + numbered
            beyond |= (place < 0) | (place >= size)
            self.write(entries, np.where(beyond, entry.type(~entry.type(0)), every[np.where(beyond, 0, place)]))

    def _count_keys(self, text: str, at: int) -> None:
        """Do what templates/apis/cuda/python/splitters.cu does, for two probes of a given start."""
        defined, numbers = self._defined("\n".join(text.splitlines()[:3])), self._numbers(at, 11)
        address, n, rows, ranks, former, starts, _, _, to, shift, width = numbers
        assert rows and (ranks, former, shift, width) == (1, 0, 0, 0)
        boundaries = self._blocks[1]
        self.launched.append(Launched("hs_count_keys", (0, 0), 128, 0, 0, [address, starts, to], [n], False))
        sizes = {"char": 1, "short": 2, "int": 4, "long": 8}
        keys, probes = np.empty(n, f"u{sizes[defined['HS_BITS'].split()[1]]}"), np.empty(boundaries, np.uint64)
        self.read(address, keys)
        self.read(starts, probes)
        by = oracle.ordered(keys, int(defined["HS_KIND"]), descending=defined["HS_DESCENDING"] == "1").astype(np.uint64)
        self.write(to, np.stack([np.searchsorted(by, probes, side) for side in ("left", "right")], 1).astype(np.int64))

    def _keys_of(self, text: str) -> tuple[Any, Any]:
        """Return the type of keys in a text, and the last key in order."""
        defined, sizes = self._defined(text), {"char": 1, "short": 2, "int": 4, "long": 8}
        bits = np.dtype(f"u{sizes[defined['HS_BITS'].split()[-1]]}")
        return bits, bits.type(int(defined["HS_FILL"].removesuffix("ull"), 16))

    _single: ClassVar[dict[str, Any]] = {
        "hs_count_keys": _count_keys,
        "hs_finish": _finish,
        "hs_rows": _rows,
        "hs_pack": _pack,
        "hs_bounds": _bounds,
        "hs_masked": _masked,
        "hs_selected": _selected,
    }
    """The kernels that are no part of a sort."""

    def _run(self, owner: Any, kernel: Any, launched: Launched) -> None:
        """Run the kernel of that name through OpenCL."""
        sort = owner.sort
        programs = self._programs.setdefault(id(owner), {})
        if kernel.name not in programs:
            source = render(sort, "opencl")
            option = options(self.context, source.option, lanes=sort.lanes > 1, optimized=False)
            text = owner._rewrite(source.prelude).replace("static __device__ __forceinline__", "")
            programs |= build(self.context, text + source.parts[kernel.name], "fake", [kernel.name], option)
        made = programs[kernel.name]
        wide = [np.int64 if kernel.index64 else np.int32] + [np.int32] * (len(launched.scalars) - 1)
        copies = {p: self._copy(p) for p in launched.pointers if self._between(p)}
        memory = {p: copies[p][0] if p in copies else self.part(p) for p in dict.fromkeys(launched.pointers)}
        numbers = [
            t(x & 0xFFFFFFFF if t is np.int64 and x < 0 else x) for t, x in zip(wide, launched.scalars, strict=True)
        ]
        made.set_args(*(memory[p] for p in launched.pointers), *numbers)
        size = (launched.grid[0] * launched.threads, launched.grid[1])
        self._cl.enqueue_nd_range_kernel(self.queue, made, size, (launched.threads, 1))
        self.queue.finish()
        for pointer, (buffer, before) in copies.items():
            after = np.empty_like(before)
            self._cl.enqueue_copy(self.queue, after, buffer, is_blocking=True)
            if len(where := np.flatnonzero(after != before)):
                self.write(pointer + int(where[0]), after[where[0] : where[-1] + 1].copy())
        while memory:
            memory.popitem()

    def _between(self, address: int) -> bool:
        """Whether no part of an OpenCL buffer may begin at an address."""
        start, offset = self.place(address)
        return offset % ALIGNED != 0 and offset < self._memory[start].size

    def _copy(self, address: int) -> tuple[Any, Any]:
        """Return a buffer with what begins at an address where OpenCL lets no part of a buffer begin, and its bytes."""
        start, offset = self.place(address)
        before = np.empty(self._memory[start].size - offset, np.uint8)
        self.read(address, before)
        flags = self._cl.mem_flags.READ_WRITE | self._cl.mem_flags.COPY_HOST_PTR
        return self._cl.Buffer(self.context, flags, hostbuf=before), before

    def install(self, patch: pytest.MonkeyPatch) -> Fake:
        """Let hsgen.cuda use this driver until the test ends."""

        def compiled(mine: Any, names: list[str]) -> list[bytes]:
            if mine not in self._sorts:
                self._sorts.append(mine)
            self.compiled.extend(names)
            return [f"{self._sorts.index(mine)} {name}".encode() for name in names]

        for known in (
            driver.device,
            driver.hosts,
            driver._handle,
            groups._group_by,
            groups._reduce,
        ):
            known.cache_clear()
        for module in USERS:
            patch.setattr(module, "bindings", lambda: self)
        patch.setattr(kernels.Kernels, "_compiled", compiled)
        patch.setattr(kernels.compiler, "cubin", lambda text, arch, path: text.encode())
        patch.setattr(kernels, "_single", {})
        for module, name in ((order, "_orders"), (order, "_runners")):
            patch.setattr(module, name, {})
        for name in ("_selections", "_selectors"):
            patch.setattr(selections, name, {})
        patch.setattr(devices, "_made", {})
        return self


class Array:
    """A contiguous array in the fake's memory, or, with strides, one that is not."""

    def __init__(self, fake: Fake, data: Any, *, device: int = 0, readonly: bool = False, stream: int = 0) -> None:
        self.fake, self.shape, self.dtype = fake, data.shape, data.dtype
        self.address = fake.allocate(data.nbytes, device) if data.size else 0
        self._face: dict[str, Any] = {"version": 3, "stream": stream or None, "strides": None}
        self._readonly = readonly
        if data.size:
            fake.write(self.address, np.ascontiguousarray(data))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = (self.address, self._readonly)
        return {**self._face, "shape": self.shape, "typestr": self.dtype.str, "data": data}

    def strided(self) -> Array:
        """Return every other element."""
        self._face["strides"] = (2 * self.dtype.itemsize,)
        self.shape = (self.shape[0] // 2,)
        return self

    def part(self, begin: int, end: int) -> Array:
        """Return the elements or items of a range, in the same memory."""
        made = object.__new__(type(self))
        made.__dict__ |= self.__dict__
        made.address = self.address + begin * self.dtype.itemsize * math.prod(self.shape[1:])
        made.shape = (end - begin, *self.shape[1:])
        return made

    def get(self) -> Any:
        """Return its elements."""
        elements = np.empty(self.shape, self.dtype)
        if elements.size:
            self.fake.read(self.address, elements)
        return elements
