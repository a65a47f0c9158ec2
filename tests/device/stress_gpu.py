"""Arrays and checks on the GPU for `stress.py`, through CuPy: no call waits for the GPU.

Every call has a slot of device memory with a field for each of its outputs: how many elements are wrong, and the least
index of these with what is there and what would be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

FIELDS = 8
"""The outputs of a call, at most."""
FIELD_WORDS = 3
"""64-bit words of a field: the number of wrong elements; index and found word; index and right word."""
UNTOUCHED = (0, (1 << 64) - 1, (1 << 64) - 1)
"""A field whose elements are all right."""

TEXT = r"""
typedef unsigned int u32;
typedef unsigned long long u64;

#define GRID(i, n) (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (u64)gridDim.x * blockDim.x)

struct Wrong {
    u64 count, index, found, right;
    __device__ Wrong() : count(0), index(0), found(0), right(0) {}
    __device__ void note(u64 i, u64 f, u64 r)
    {
        if (count++ == 0) index = i, found = f, right = r; /* indices ascend */
    }
    __device__ void store(u64 *field)
    {
        if (count == 0) return;
        atomicAdd(field, count);
        atomicMin(field + 1, index << 32 | (u32)found);
        atomicMin(field + 2, index << 32 | (u32)right);
    }
};

/* Whether found[i] = right[i + shift] + add * times[i + shift], cyclically; no times: once. */
template <typename T>
__device__ void same(const T *found, const T *right, const u32 *times, u64 n, u64 shift, u64 add, u64 *field)
{
    Wrong wrong;
    for GRID(i, n) {
        u64 j = i + shift < n ? i + shift : i + shift - n;
        T want = right[j] + (T)add * (times ? (T)times[j] : (T)1), is = found[i];
        if (is != want) wrong.note(i, is, want);
    }
    wrong.store(field);
}
extern "C" __global__ void same4(const u32 *f, const u32 *r, const u32 *t, u64 n, u64 s, u64 a, u64 *field)
{
    same<u32>(f, r, t, n, s, a, field);
}
extern "C" __global__ void same8(const u64 *f, const u64 *r, const u32 *t, u64 n, u64 s, u64 a, u64 *field)
{
    same<u64>(f, r, t, n, s, a, field);
}

/* Whether index - base is the stable order of numbers by[i + shift], within parts, and out[i] is bits[index + shift].
 * Neighbours in ascending order, index included, cannot be the same place: so the order is a permutation. */
template <typename V, typename B, typename K>
__device__ void order(const V *index, const B *by, const K *bits, const K *out, const u32 *part, u64 n, u64 shift,
                      u64 base, u64 *field)
{
    Wrong wrong;
    for GRID(i, n) {
        u64 j = (V)(index[i] - (V)base);
        bool good = j < n;
        u64 place = good ? (j + shift < n ? j + shift : j + shift - n) : 0;
        if (good && out) good = out[i] == bits[place];
        if (good && part) good = part[j] == part[i];
        if (good && i > 0 && (!part || part[i - 1] == part[i])) {
            u64 before = (V)(index[i - 1] - (V)base);
            if (before < n) {
                B b = by[before + shift < n ? before + shift : before + shift - n], own = by[place];
                good = b < own || (b == own && before < j);
            }
        }
        if (!good) wrong.note(i, j, out ? (u64)out[i] : 0);
    }
    wrong.store(field);
}
#define ORDER(name, V, B, K) \
    extern "C" __global__ void name(const V *index, const B *by, const K *bits, const K *out, const u32 *part, u64 n, \
                                    u64 shift, u64 base, u64 *field) \
    { \
        order<V, B, K>(index, by, bits, out, part, n, shift, base, field); \
    }
ORDER(order444, u32, u32, u32)
ORDER(order448, u32, u32, u64)
ORDER(order844, u64, u32, u32)
ORDER(order848, u64, u32, u64)

/* to[i] = from[i + shift] + add, cyclically. */
template <typename T> __device__ void turn(T *to, const T *from, u64 n, u64 shift, u64 add)
{
    for GRID(i, n) to[i] = from[i + shift < n ? i + shift : i + shift - n] + (T)add;
}
extern "C" __global__ void turn4(u32 *to, const u32 *from, u64 n, u64 shift, u64 add) { turn(to, from, n, shift, add); }
extern "C" __global__ void turn8(u64 *to, const u64 *from, u64 n, u64 shift, u64 add) { turn(to, from, n, shift, add); }

/* Fill words with those of a pattern, again and again. */
extern "C" __global__ void fill(u32 *to, u64 n, const u32 *pattern, u64 length)
{
    for GRID(i, n) to[i] = pattern[i % length];
}

__device__ void wait_cycles(long long cycles)
{
    long long begin = clock64();
    while (clock64() - begin < cycles) {}
}

/* What follows may begin, where it waits for this kernel itself. */
__device__ void let_next_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

extern "C" __global__ void spin(u64 cycles, int early)
{
    extern __shared__ u32 unused[];
    if (early) let_next_begin();
    wait_cycles((long long)(cycles * (1 + blockIdx.x % 7) / 7));
}

/* Lets what follows begin, and stores late: that must not read before. */
extern "C" __global__ void late_copy(u32 *to, const u32 *from, u64 n, u64 cycles)
{
    let_next_begin();
    wait_cycles((long long)cycles);
    for GRID(i, n) to[i] = from[i];
}

/* Lets what follows begin, and reads late: memory that is freed behind this launch must not be written before. */
extern "C" __global__ void late_same(const u32 *found, const u32 *right, u64 n, u64 cycles, u64 *field)
{
    let_next_begin();
    wait_cycles((long long)cycles);
    same<u32>(found, right, nullptr, n, 0, 0, field);
}
"""
"""The kernels; every one runs in any number of blocks."""
NAMES = ("same4", "same8", "order444", "order448", "order844", "order848", "turn4", "turn8", "fill",
         "spin", "late_copy", "late_same")  # fmt: skip
_THREADS = 256
_BLOCKS = 1056  # eight for each multiprocessor of an H100


@dataclass(frozen=True)
class Fault:
    """An output with wrong elements: its call and field, their number, and the first one."""

    slot: int
    field: int
    count: int
    index: int
    found: int
    right: int


def faults(words: Any) -> list[Fault]:
    """Return the outputs with wrong elements, given the words of all slots, shape (slots, `FIELDS`, `FIELD_WORDS`)."""
    found = []
    for slot, field in zip(*np.nonzero(words[:, :, 0]), strict=True):
        count, is_, right = (int(x) for x in words[slot, field])
        low = 0xFFFFFFFF
        found.append(Fault(int(slot), int(field), count, is_ >> 32, is_ & low, right & low))
    return found


class Gpu(Protocol):
    """What `stress.py` needs of an array library and a GPU.

    An array that a call of hsgen takes is *of the GPU*; others are those of `xp`, which may be the same.
    """

    xp: Any

    def turned(self, bits: Any, dtype: Any, shift: int = 0, add: int = 0) -> Any:
        """Return a new array of the GPU of a type: bits[i + shift] + add, cyclically."""

    def empty(self, n: int, dtype: Any, pattern: Any = None) -> Any:
        """Return a new array of the GPU, filled with words unless these are None."""

    def same(self, slot: int, field: int, found: Any, right: Any, *, times: Any, shift: int, add: int) -> None:
        """Compare the first elements of an array of the GPU with right + add * times, from `shift` on, cyclically."""

    def order(self, slot: int, field: int, index: Any, by: Any, bits: Any, out: Any, part: Any, *, shift: int,
              base: int) -> None:  # fmt: skip
        """Check that `index` - base is the stable order of `by`, see the kernel."""

    def seen(self, array: Any) -> Any:
        """Return an array of the GPU as one of `xp`."""

    def stream(self, number: int) -> Any:
        """Return a context in which calls run on a stream; 0 is the main one."""

    def handle(self, number: int) -> Any:
        """Return a stream for the argument of calls."""

    def wait(self) -> None:
        """Wait for all streams."""

    def faults(self) -> list[Fault]:
        """Wait, and return what the checks have found since the last time."""

    def delay(self, draw: Any, source: Any, slot: int, field: int) -> None:
        """Enqueue kernels that make the next call begin at another time, on the current stream and another."""

    def late(self, to: Any, source: Any, cycles: int) -> None:
        """Enqueue a kernel that copies an array late, and lets the next kernel begin before that."""

    def table(self, array: Any, width: int) -> Any:
        """Return a flat array of the GPU as one with rows."""

    def trim(self, most: int) -> None:
        """Free unused memory if there is more than a number of bytes."""

    @contextmanager
    def scratch(self, pattern: Callable[[], Any]) -> Iterator[None]:
        """Fill scratch memory of calls with words from `pattern`, unless these are None."""


class CupyGpu:
    """The GPU, through CuPy.  slots: the calls between two looks at what the checks have found."""

    def __init__(self, streams: int, slots: int) -> None:
        import cupy

        self.xp = self._cupy = cupy
        self._streams = [cupy.cuda.Stream.null, *(cupy.cuda.Stream(non_blocking=True) for _ in range(streams))]
        self._other = cupy.cuda.Stream(non_blocking=True)
        self._slots = cupy.empty((slots, FIELDS, FIELD_WORDS), np.uint64)
        self._clear()

    @cached_property
    def _kernels(self) -> dict[str, Any]:
        module = self._cupy.RawModule(code=TEXT, options=("-std=c++17",))
        return {name: module.get_function(name) for name in NAMES}

    @cached_property
    def _noise(self) -> tuple[Any, Any]:
        """Memory of the competing stream: 128 MiB twice."""
        return tuple(self._cupy.zeros(1 << 25, np.uint32) for _ in range(2))

    def _clear(self) -> None:
        self._slots[...] = self._cupy.asarray(np.array(UNTOUCHED, np.uint64))
        self.wait()

    def _run(self, name: str, items: int, *arguments: Any, blocks: int = _BLOCKS) -> None:
        """Launch a kernel for a number of items; ints are 64-bit numbers, None is a null pointer."""
        if items:
            given = tuple(np.uint64(x or 0) if x is None or isinstance(x, int) else x for x in arguments)
            self._kernels[name]((min(-(-items // _THREADS), blocks),), (_THREADS,), given)

    def _field(self, slot: int, field: int) -> int:
        return int(self._slots.data.ptr) + 8 * FIELD_WORDS * (slot * FIELDS + field)

    def turned(self, bits: Any, dtype: Any, shift: int = 0, add: int = 0) -> Any:
        """See `Gpu`."""
        if bits.dtype.itemsize < 4:
            assert (shift, add) == (0, 0)
            return self._cupy.array(bits, dtype)
        out = self._cupy.empty(len(bits), bits.dtype)
        self._run(f"turn{bits.dtype.itemsize}", len(bits), out, bits, len(bits), shift, add)
        return out.view(dtype)

    def empty(self, n: int, dtype: Any, pattern: Any = None) -> Any:
        """See `Gpu`."""
        out = self._cupy.empty(n, dtype)
        if pattern is not None:
            words = out.nbytes // 4
            self._run("fill", words, out, words, pattern, len(pattern))
        return out

    def same(
        self, slot: int, field: int, found: Any, right: Any, *, times: Any = None, shift: int = 0, add: int = 0
    ) -> None:
        """See `Gpu`."""
        assert found.nbytes >= right.nbytes, "an output is too short"
        assert found.dtype.itemsize == right.dtype.itemsize
        name = f"same{right.dtype.itemsize}"
        self._run(name, len(right), found, right, times, len(right), shift, add, self._field(slot, field))

    def order(
        self,
        slot: int,
        field: int,
        index: Any,
        by: Any,
        bits: Any = None,
        out: Any = None,
        part: Any = None,
        *,
        shift: int = 0,
        base: int = 0,
    ) -> None:
        """See `Gpu`."""
        n = len(by)
        assert len(index) >= n
        name = f"order{index.dtype.itemsize}{by.dtype.itemsize}{4 if bits is None else bits.dtype.itemsize}"
        self._run(name, n, index, by, bits, out, part, n, shift, base, self._field(slot, field))

    def seen(self, array: Any) -> Any:
        """See `Gpu`."""
        return array

    def stream(self, number: int) -> Any:
        """See `Gpu`."""
        return self._streams[number]

    def handle(self, number: int) -> Any:
        """See `Gpu`."""
        return self._streams[number]

    def wait(self) -> None:
        """See `Gpu`."""
        self._cupy.cuda.Device().synchronize()

    def faults(self) -> list[Fault]:
        """See `Gpu`."""
        self.wait()
        words = self._slots.get()
        found = faults(words)
        if found:
            self._clear()
        return found

    def late(self, to: Any, source: Any, cycles: int) -> None:
        """See `Gpu`."""
        words = to.nbytes // 4
        self._run("late_copy", words, to, source, words, cycles)

    def table(self, array: Any, width: int) -> Any:
        """See `Gpu`."""
        return array.reshape(-1, width)

    def trim(self, most: int) -> None:
        """See `Gpu`."""
        pool = self._cupy.get_default_memory_pool()
        if pool.total_bytes() > most:
            self.wait()
            pool.free_all_blocks()

    def delay(self, draw: Any, source: Any, slot: int, field: int) -> None:
        """See `Gpu`."""
        if draw.random() < 0.5:  # blocks of what follows begin at different times
            self._spin(draw)
        if draw.random() < 0.2:
            held = self.turned(source, np.uint32)
            words = min(len(held), 1 << 20)
            cycles = draw.randrange(1 << 17)
            self._run("late_same", words, held, source, words, cycles, self._field(slot, field))
        with self._other:
            if draw.random() < 0.5:
                self._spin(draw)
            if draw.random() < 0.3:
                size, (to, source) = draw.randrange(1, 1 << 27), self._noise
                to.data.copy_from_device_async(source.data, size, self._other)
            if draw.random() < 0.3:
                self._noise[1].data.memset_async(draw.randrange(256), draw.randrange(1, 1 << 27), self._other)

    def _spin(self, draw: Any) -> None:
        """Launch blocks that wait, a few or some on every multiprocessor, with little or much shared memory."""
        blocks, threads = draw.choice([1, 17, 66, 132, 264]), draw.choice([32, 128, 1024])
        cycles, early = draw.randrange(1 << draw.choice([10, 14, 17, 19])), draw.randrange(2)
        self._kernels["spin"](
            (blocks,), (threads,), (np.uint64(cycles), np.int32(early)), shared_mem=draw.choice([0, 16384, 49152])
        )

    @contextmanager
    def scratch(self, pattern: Callable[[], Any]) -> Iterator[None]:
        """See `Gpu`."""
        from hsgen.cuda.libraries import Cupy

        plain = Cupy.allocate

        def allocate(library: Any, size: int, device: int, stream: int, *, current: bool) -> Any:
            memory = plain(library, size, device, stream, current=current)
            words = pattern()
            if words is not None:
                if current:
                    self._run("fill", size // 4, memory.address, size // 4, words, len(words))
                else:
                    with self._cupy.cuda.ExternalStream(stream, device):
                        self._run("fill", size // 4, memory.address, size // 4, words, len(words))
            return memory

        Cupy.allocate = allocate  # type: ignore[method-assign]
        try:
            yield
        finally:
            Cupy.allocate = plain  # type: ignore[method-assign]


class PlainGpu:
    """The GPU with memory of its own for each array, and right results by numpy: no other kernel runs than those of
    hsgen, and no word is initialized that a call has not written.  So a sanitizer sees these alone."""

    xp = np

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def put(self, array: Any) -> Any:
        """Return a new array of the GPU with the elements of one of numpy."""
        import cupy

        return cupy.asarray(array)

    def blank(self, n: int, dtype: Any) -> Any:
        """Return a new array of the GPU that is not initialized."""
        import cupy

        return cupy.empty(n, dtype)

    def first(self, array: Any, n: int) -> Any:
        """Return the first elements of an array of the GPU."""
        return array.reshape(-1)[:n].get()

    def turned(self, bits: Any, dtype: Any, shift: int = 0, add: int = 0) -> Any:
        """See `Gpu`."""
        bits = np.roll(bits, -shift)
        return self.put((bits + bits.dtype.type(add) if add else bits).view(dtype))

    def empty(self, n: int, dtype: Any, pattern: Any = None) -> Any:
        """See `Gpu`; nothing fills the array."""
        return self.blank(n, dtype)

    def same(
        self, slot: int, field: int, found: Any, right: Any, *, times: Any = None, shift: int = 0, add: int = 0
    ) -> None:
        """See `Gpu`."""
        right = np.roll(right, -shift)
        if add:
            one = right.dtype.type(add)
            right = right + (one if times is None else np.roll(times, -shift).astype(right.dtype) * one)
        is_ = self.first(found, len(right)).view(right.dtype)
        self._note(slot, field, is_ != right, is_, right)

    def order(
        self,
        slot: int,
        field: int,
        index: Any,
        by: Any,
        bits: Any = None,
        out: Any = None,
        part: Any = None,
        *,
        shift: int = 0,
        base: int = 0,
    ) -> None:
        """See `Gpu`."""
        n = len(by)
        by = np.roll(by, -shift)
        found = self.first(index, n)
        places = (found - found.dtype.type(base)).astype(np.int64)
        right = np.argsort(by, kind="stable") if part is None else np.lexsort((by, part))
        self._note(slot, field, places != right, places, right)
        if out is not None:
            is_, keys = self.first(out, n).view(bits.dtype), np.roll(bits, -shift)[right]
            self._note(slot, field, is_ != keys, is_, keys)

    def _note(self, slot: int, field: int, wrong: Any, found: Any, right: Any) -> None:
        if len(places := np.flatnonzero(wrong)):
            at = int(places[0])
            self._found.append(Fault(slot, field, len(places), at, int(found[at]), int(right[at])))

    def seen(self, array: Any) -> Any:
        """See `Gpu`."""
        return array.get()

    def stream(self, number: int) -> Any:
        """See `Gpu`: there is the main one alone."""
        return nullcontext()

    def handle(self, number: int) -> Any:
        """See `Gpu`."""
        return None

    def wait(self) -> None:
        """See `Gpu`: results are read when they are compared."""

    def faults(self) -> list[Fault]:
        """See `Gpu`."""
        found, self._found = self._found, []
        return found

    def table(self, array: Any, width: int) -> Any:
        """See `Gpu`."""
        return array.reshape(-1, width)
