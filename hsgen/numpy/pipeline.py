"""Sort chunks on an NVIDIA GPU, while later chunks arrive and earlier chunks leave through pinned memory.

    array -> pinned piece -> buffer of the GPU -> sort in place -> pinned piece -> array

A thread sends chunks to the GPU, and another thread brings chunks back.  Each thread has a stream, a ring of pinned
pieces, and helper threads that copy whole pieces.  A third stream sorts.  Events order the streams; the host waits only
for pieces.
"""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import Any

import numpy as np

from hsgen.core.plan import ROLES
from hsgen.cuda.driver import Device, bindings, done
from hsgen.cuda.prepared import SCRATCH

SLOTS = 4
"""The number of chunks on the GPU: one arrives, one is sorted, one leaves, and one waits between two of these steps."""
PIECE = 16 << 20
"""The greatest number of bytes of a pinned piece."""
HELPERS = min(12, max((os.cpu_count() or 1) // 2 - 1, 1))
"""The number of helper threads in each direction, which copy between pinned pieces and arrays."""
PIECES = HELPERS + 2
"""The number of pinned pieces in each direction: one for each helper, and two that are being transferred."""
_WAIT = 0.1  # seconds after which a waiting thread checks whether it must stop

Job = tuple[Sequence[Any], Any]
"""Arrays whose keys are sorted together, and the array for the result; flat arrays of unsigned numbers."""


@dataclass(slots=True, kw_only=True)
class Buffer:
    """Memory, and the event after which the memory may be used again."""

    address: int
    event: Any
    array: Any = None

    def wait(self) -> None:
        """Wait for the last transfer from or to the memory."""
        done(bindings().cuEventSynchronize(self.event), "a copy of keys")


class Ring:
    """The pinned pieces of one direction, used one after another, and the helpers that fill or empty them."""

    def __init__(self, pieces: Sequence[Buffer], helpers: ThreadPoolExecutor) -> None:
        self._pieces, self._helpers, self._number = pieces, helpers, 0

    def following(self) -> Buffer:
        """Return the next piece, after its previous transfer has ended."""
        piece = self._pieces[self._number % len(self._pieces)]
        self._number += 1
        piece.wait()
        return piece

    def start(self, copy: Callable[[], None]) -> Future[None]:
        """Start a copy in a helper."""
        return self._helpers.submit(copy)


class Pipeline:
    """Sorts of chunks of at most `length` keys; a context manager, which is called in its block to sort jobs.

    sorter: a sorter of `hsgen.cuda` for keys alone.
    """

    def __init__(self, gpu: Device, sorter: Any, length: int) -> None:
        self._gpu, self._sorter, self.length = gpu, sorter, length
        self.dtype = np.dtype(f"u{sorter.dtype.itemsize}")
        self._exit = ExitStack()

    def __enter__(self) -> Pipeline:
        """Allocate buffers, pinned pieces and streams."""
        with ExitStack() as stack:
            stack.enter_context(self._gpu.current())
            self._streams = [self._stream(stack) for _ in range(3)]
            size = self.length * self.dtype.itemsize
            self._slots = [self._slot(stack, size) for _ in range(SLOTS)]
            self._scratch = self._slot(stack, max(self._sorter.scratch_bytes(self.length), 1)).address
            self._sorted = [self._event(stack) for _ in range(SLOTS)]
            self._loaded = [self._event(stack) for _ in range(SLOTS)]
            piece = max(min(PIECE, size), self.dtype.itemsize)
            self._rings = [
                Ring([self._pinned(stack, piece) for _ in range(PIECES)], self._pool(stack)) for _ in range(2)
            ]
            self._exit = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        """Free the memory."""
        self._exit.close()

    def _stream(self, stack: ExitStack) -> Any:
        driver = bindings()
        stream = done(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING), "cuStreamCreate")
        stack.callback(driver.cuStreamDestroy, stream)
        return stream

    def _event(self, stack: ExitStack) -> Any:
        driver = bindings()
        event = done(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING), "cuEventCreate")
        stack.callback(driver.cuEventDestroy, event)
        return event

    def _slot(self, stack: ExitStack, size: int) -> Buffer:
        address = int(done(bindings().cuMemAlloc(size), f"{size} bytes of keys"))
        stack.callback(bindings().cuMemFree, address)
        return Buffer(address=address, event=self._event(stack))

    def _pinned(self, stack: ExitStack, size: int) -> Buffer:
        address = int(done(bindings().cuMemHostAlloc(size, 0), f"{size} bytes of pinned memory"))
        stack.callback(bindings().cuMemFreeHost, address)
        room: Any = (ctypes.c_uint8 * size).from_address(address)
        array = np.frombuffer(room, self.dtype, size // self.dtype.itemsize)
        return Buffer(address=address, event=self._event(stack), array=array)

    def _pool(self, stack: ExitStack) -> ThreadPoolExecutor:
        return stack.enter_context(ThreadPoolExecutor(HELPERS, initializer=self._gpu.enter))

    def sort(self, address: int, n: int, stream: int) -> None:
        """Enqueue an in-place sort of keys on the GPU.

        All sorts use the same scratch memory, because a new allocation would wait for the GPU.
        """
        bases = [address] * len(ROLES)
        bases[SCRATCH] = self._scratch
        self._sorter.prepared(n, self._sorter.options(), in_place=True).run(bases, stream)

    def __call__(self, jobs: Iterable[Job], report: Callable[[int], None]) -> None:
        """Sort jobs in order; `report` is called with the number of keys of each job that is done.

        When the call ends with an error or an interrupt, no thread writes to an array any more.
        """
        work = _Work(self, iter(jobs))
        threads = [Thread(target=work.guarded, args=(f,), name=f.__name__) for f in (work.load, work.store)]
        for thread in threads:
            thread.start()
        try:
            work.sort(report)
        finally:
            work.end()
            for thread in threads:
                thread.join()
            with self._gpu.current():
                for stream in self._streams:
                    bindings().cuStreamSynchronize(stream)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filling:
    """A piece that helpers fill with `count` keys of a job; the keys begin at index `at` of the job's chunk."""

    number: int
    to: Any
    at: int
    piece: Buffer
    count: int
    copies: Sequence[Future[None]]


class _Work:
    """The work of one call of a pipeline: a function for each of three threads, and the queues between the threads."""

    def __init__(self, pipeline: Pipeline, jobs: Iterator[Job]) -> None:
        self._p, self._jobs = pipeline, jobs
        self._free = Semaphore(SLOTS)
        self._stop = Event()
        self._messages: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._leaving: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()

    def guarded(self, function: Callable[[], None]) -> None:
        """Call a function with the GPU's context current; if it raises an error, send the error to the main thread."""
        try:
            with self._p._gpu.current():
                function()
        except BaseException as e:
            self._messages.put(("error", e))

    def end(self) -> None:
        """Make both threads end."""
        self._stop.set()
        self._leaving.put(None)

    def load(self) -> None:
        """Copy the keys of all jobs to the GPU."""
        driver, p, number = bindings(), self._p, 0
        filling: deque[_Filling] = deque()
        for sources, to in self._jobs:
            if not self._free.acquire(blocking=False):
                while filling:  # send all pieces first: a slot becomes free only after an earlier chunk is complete
                    self._send(filling)
                while not self._free.acquire(timeout=_WAIT):
                    if self._stop.is_set():
                        return
            done(driver.cuStreamWaitEvent(p._streams[0], p._slots[number % SLOTS].event, 0), "cuStreamWaitEvent")
            at = 0
            for piece, count, copies in self._filled(sources, p._rings[0], filling):
                filling.append(_Filling(number=number, to=to, at=at, piece=piece, count=count, copies=copies))
                at += count
            number += 1
            if self._stop.is_set():
                return
        while filling:
            self._send(filling)
        self._messages.put(("all", number))

    def _send(self, filling: deque[_Filling]) -> None:
        """Wait until the helpers have filled the oldest piece, then send it to the GPU."""
        driver, p, next = bindings(), self._p, filling.popleft()
        for copy in next.copies:
            copy.result()
        stream, slot, size = p._streams[0], p._slots[next.number % SLOTS], p.dtype.itemsize
        to = slot.address + next.at * size
        done(driver.cuMemcpyHtoDAsync(to, next.piece.address, next.count * size, stream), "a copy of keys")
        done(driver.cuEventRecord(next.piece.event, stream), "cuEventRecord")
        if next.at + next.count == len(next.to):
            done(driver.cuEventRecord(p._loaded[next.number % SLOTS], stream), "cuEventRecord")
            self._messages.put(("loaded", (next.number, next.to)))

    def _filled(
        self, sources: Sequence[Any], ring: Ring, filling: deque[_Filling]
    ) -> Iterator[tuple[Buffer, int, list[Future[None]]]]:
        """Yield pinned pieces that helpers fill with the keys of `sources`; each with its number of keys and its
        copies.
        """
        piece, count = None, 0
        copies: list[Future[None]] = []
        for x in sources:
            begin = 0
            while begin < len(x):
                if piece is None:
                    while len(filling) >= HELPERS:
                        self._send(filling)
                    piece, count, copies = ring.following(), 0, []
                part = x[begin : begin + len(piece.array) - count]
                copies.append(ring.start(partial(np.copyto, piece.array[count : count + len(part)], part)))
                count, begin = count + len(part), begin + len(part)
                if count == len(piece.array):
                    yield piece, count, copies
                    piece = None
        if piece is not None:
            yield piece, count, copies

    def sort(self, report: Callable[[int], None]) -> None:
        """Sort every chunk once it has arrived, until all chunks have left."""
        p, driver, stream = self._p, bindings(), self._p._streams[1]
        left, total = 0, -1
        with p._gpu.current():
            while left != total:
                kind, content = self._messages.get()
                if kind == "error":
                    raise content
                if kind == "all":
                    total = content
                elif kind == "left":
                    left += 1
                    report(content)
                else:
                    number, to = content
                    slot = p._slots[number % SLOTS]
                    done(driver.cuStreamWaitEvent(stream, p._loaded[number % SLOTS], 0), "cuStreamWaitEvent")
                    p.sort(slot.address, len(to), int(stream))
                    done(driver.cuEventRecord(p._sorted[number % SLOTS], stream), "cuEventRecord")
                    self._leaving.put((number, to))

    def store(self) -> None:
        """Copy sorted chunks to their arrays."""
        driver, stream, ring, p = bindings(), self._p._streams[2], self._p._rings[1], self._p
        flying: deque[tuple[Future[None], int]] = deque()  # copies; for a chunk's last piece its length, else 0

        def land() -> None:
            copy, length = flying.popleft()
            copy.result()
            if length:
                self._messages.put(("left", length))

        def copied(piece: Buffer, part: Any) -> None:
            piece.wait()
            if not self._stop.is_set():
                np.copyto(part, piece.array[: len(part)])

        try:
            while True:
                while flying and self._leaving.empty() and not self._stop.is_set():
                    land()
                job = self._leaving.get()
                if job is None or self._stop.is_set():
                    return
                number, to = job
                slot, at = p._slots[number % SLOTS], 0
                done(driver.cuStreamWaitEvent(stream, p._sorted[number % SLOTS], 0), "cuStreamWaitEvent")
                while at < len(to) and not self._stop.is_set():
                    while len(flying) >= PIECES:
                        land()
                    piece = ring.following()
                    part = to[at : at + len(piece.array)]
                    size, address = len(part) * p.dtype.itemsize, slot.address + at * p.dtype.itemsize
                    done(driver.cuMemcpyDtoHAsync(piece.address, address, size, stream), "a copy of keys")
                    done(driver.cuEventRecord(piece.event, stream), "cuEventRecord")
                    at += len(part)
                    flying.append((ring.start(partial(copied, piece, part)), len(to) if at == len(to) else 0))
                done(driver.cuEventRecord(slot.event, stream), "cuEventRecord")
                self._free.release()
        finally:
            wait([copy for copy, _ in flying])  # no helper writes to an array after the call
