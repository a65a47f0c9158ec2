"""The supported array libraries: how each tells the address of an array and its stream, and allocates memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hsgen.core.errors import wrong_type
from hsgen.cuda.driver import bindings, done

HOST, NOWHERE = -1, -2
LEGACY = 1
"""The number that means the legacy default stream in ``__cuda_array_interface__`` and DLPack."""


class Facts(NamedTuple):
    """What a call must know about an array besides its address.  The facts of all arrays are the key by which a call
    finds the prepared launches of an earlier call.

    type: the library's type of elements.  contiguous: whether the array is in C order.  device: the number of the GPU;
    `HOST`; or `NOWHERE` for an array without elements, because its address may lie in no memory of a GPU.
    """

    type: Any
    shape: tuple[int, ...]
    contiguous: bool
    device: int
    readonly: bool = False


class Memory(NamedTuple):
    """Scratch memory: its address, and the object that owns it.  The memory is freed when this object is deleted, or by
    `Library.free`.
    """

    address: int
    owner: Any


class Library:
    """The base class, for libraries with ``__cuda_array_interface__``; scratch memory is from the driver's pool."""

    keeps = True
    """Whether a call must keep its arrays alive until the stream has executed the call."""

    def view(self, array: Any) -> tuple[int, Facts]:
        """Return the address and the `Facts` of an array."""
        face = array.__cuda_array_interface__
        (address, readonly), shape = face["data"], tuple(map(int, face["shape"]))
        dtype, strides = _types.get(face["typestr"]) or _type(face["typestr"]), face.get("strides")
        return address or 0, Facts(dtype, shape, strides is None or _dense(shape, strides, dtype.itemsize),
                                   NOWHERE if 0 in shape else _device_of(address), bool(readonly))  # fmt: skip

    def stream(self, array: Any, device: int) -> int:
        """Return the handle of the library's current stream, on which a call with this array runs by default."""
        handle = array.__cuda_array_interface__.get("stream")
        return 0 if handle in (None, LEGACY) else int(handle)

    def allocate(self, size: int, device: int, stream: int, *, current: bool) -> Memory:
        """Allocate scratch memory for work on a stream.

        current: whether `stream` is the library's current stream.
        """
        address = int(done(bindings().cuMemAllocAsync(size, stream), f"{size} bytes of scratch memory"))
        return Memory(address, address)

    def free(self, memory: Memory, stream: int) -> None:
        """Free scratch memory in stream order: after all work that is enqueued on the stream so far."""
        done(bindings().cuMemFreeAsync(memory.owner, stream), "cuMemFreeAsync")

    def empty(self, like: Any, n: int, *, words: bool = False) -> Any:
        """Return a new array of `n` elements on the GPU of `like`.

        words: whether elements are 32-bit integers; otherwise they have the element type of `like`.

        Raises:
            TypeError: the library cannot create arrays.
        """
        raise wrong_type(
            "keys", "an array of PyTorch or CuPy, which makes the result, or use GroupBy or ReduceByKey", like
        )

    def record(self, array: Any, device: int, stream: int) -> None:
        """Tell the library's allocator that `stream`, not the current stream, uses an array.

        Only PyTorch needs this: its allocator then does not reuse the array's memory before `stream` is done.
        """


class Exchanged(Library):
    """Libraries whose arrays are exchanged by DLPack, such as JAX."""

    def view(self, array: Any) -> tuple[int, Facts]:
        """See `Library`; by DLPack, the legacy default stream waits for the work that produces the array."""
        try:
            from cuda.core.utils import StridedMemoryView
        except ImportError:
            from cuda.core.experimental.utils import StridedMemoryView
        seen = StridedMemoryView.from_dlpack(array, stream_ptr=LEGACY)
        size, strides = np.dtype(seen.dtype).itemsize, seen.strides
        shape = tuple(map(int, seen.shape))
        dense = strides is None or _dense(shape, tuple(size * s for s in strides), size)
        where = NOWHERE if 0 in shape else seen.device_id if seen.is_device_accessible else HOST
        return seen.ptr, Facts(np.dtype(seen.dtype), shape, dense, where, bool(seen.readonly))

    def stream(self, array: Any, device: int) -> int:
        """See `Library`; the stream is the legacy default stream, for which `view` made the array ready."""
        return 0


class Torch(Library):
    """PyTorch, whose allocator may give freed memory to later work on the same stream at once."""

    keeps = False

    def __init__(self) -> None:
        self._torch: Any = sys.modules["torch"]
        raw = getattr(self._torch._C, "_cuda_getCurrentRawStream", None)
        self._current: Callable[[int], int] = raw or self._slow_current

    def _slow_current(self, device: int) -> int:
        return int(self._torch.cuda.current_stream(device).cuda_stream)

    def view(self, array: Any) -> tuple[int, Facts]:
        """See `Library`."""
        return array.data_ptr(), Facts(array.dtype, array.shape, array.is_contiguous(), array.get_device())

    def stream(self, array: Any, device: int) -> int:
        """See `Library`."""
        return self._current(device)

    def allocate(self, size: int, device: int, stream: int, *, current: bool) -> Memory:
        """See `Library`."""
        torch = self._torch
        if current:
            tensor = torch.empty(size, dtype=torch.uint8, device=device)
        else:
            with torch.cuda.stream(torch.cuda.ExternalStream(stream, device=device)):
                tensor = torch.empty(size, dtype=torch.uint8, device=device)
        return Memory(tensor.data_ptr(), tensor)

    def free(self, memory: Memory, stream: int) -> None:
        """See `Library`; dropping the tensor frees the memory."""

    def empty(self, like: Any, n: int, *, words: bool = False) -> Any:
        """See `Library`; 32-bit numbers are signed, because PyTorch has few operations on unsigned numbers."""
        return self._torch.empty(n, dtype=self._torch.int32 if words else like.dtype, device=like.device)

    def record(self, array: Any, device: int, stream: int) -> None:
        """See `Library`."""
        array.record_stream(self._torch.cuda.ExternalStream(stream, device=device))


class Cupy(Library):
    """CuPy, whose memory pool may give freed memory to later work on the same stream at once."""

    keeps = False

    def __init__(self) -> None:
        self._cupy: Any = sys.modules["cupy"]

    def view(self, array: Any) -> tuple[int, Facts]:
        """See `Library`."""
        memory = array.data
        return memory.ptr, Facts(array.dtype, array.shape, array.flags.c_contiguous, memory.device_id)

    def stream(self, array: Any, device: int) -> int:
        """See `Library`."""
        return int(self._cupy.cuda.get_current_stream().ptr)

    def allocate(self, size: int, device: int, stream: int, *, current: bool) -> Memory:
        """See `Library`."""
        cuda = self._cupy.cuda
        if current:
            memory = cuda.alloc(size)
        else:
            with cuda.ExternalStream(stream, device):
                memory = cuda.alloc(size)
        return Memory(memory.ptr, memory)

    def free(self, memory: Memory, stream: int) -> None:
        """See `Library`; dropping the object frees the memory."""

    def empty(self, like: Any, n: int, *, words: bool = False) -> Any:
        """See `Library`."""
        with like.device:
            return self._cupy.empty(n, np.uint32 if words else like.dtype)


_MADE: dict[str, Callable[[], Library]] = {"torch": Torch, "cupy": Cupy}
_known: dict[type, Library] = {}
_one: dict[str, Library] = {}


def library_of(array: Any, name: str | Callable[[int], str], number: int = 0) -> Library:
    """Return the library of an array.

    name: the array's name in messages, or a function that returns the name for `number`.

    Raises:
        TypeError: the argument is not an array that a GPU can access.
    """
    kind = type(array)
    if kind in _known:
        return _known[kind]
    roots = {c.__module__.partition(".")[0] for c in kind.__mro__}
    root = next((r for r in _MADE if r in roots and hasattr(array, "shape")), None)
    if root is not None:
        library = _one.setdefault(root, _MADE[root]())
    elif hasattr(array, "__cuda_array_interface__"):
        library = _one.setdefault("", Library())
    elif hasattr(array, "__dlpack__") and not isinstance(array, np.ndarray):
        library = _one.setdefault("dlpack", Exchanged())
    else:
        name = name if isinstance(name, str) else name(number)
        raise wrong_type(name, "an array on a GPU: of PyTorch, CuPy, Numba, or another with DLPack", array)
    _known[kind] = library
    return library


_types: dict[str, np.dtype[Any]] = {}


def _type(name: str) -> np.dtype[Any]:
    """Return the numpy type called `name`; a cache saves the time in which numpy creates a type."""
    return _types.setdefault(name, np.dtype(name))


def _dense(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    """Return True if elements are contiguous in C order."""
    step = size
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and stride != step:
            return 0 in shape
        step *= length
    return True


def _device_of(address: int) -> int:
    """Return the number of the GPU in whose memory an address lies, or `HOST`."""
    if not address:
        return HOST
    driver = bindings()
    which = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    code, number = driver.cuPointerGetAttribute(which, address)
    return int(number) if code == 0 else HOST


def named(type: Any) -> str:
    """Return the name of an element type, such as float32 or bfloat16."""
    return str(getattr(type, "name", None) or str(type).rpartition(".")[2])


def bytes_of(facts: Facts) -> int:
    """Return the size of an array in bytes."""
    return int(facts.type.itemsize) * prod(facts.shape)
