"""Sort the chunks of a long array on an NVIDIA GPU, while later chunks arrive and earlier chunks leave through pinned
memory.

    array -> pinned pieces -> slot on the GPU -> sort in place -> pinned pieces -> array

Each direction has *helpers*: threads that copy between an array and their own *pinned pieces* of host memory, and
enqueue the transfers between pinned pieces and the GPU.  A *slot* is GPU memory for a chunk, with its own stream: first
the transfers to the slot run there, then the sort, then the transfers back.  All sorts use the same scratch memory, so
each waits for the sort before it.  GPU memory beyond the slots keeps sorted chunks between the phases of
`hsgen.numpy.large`, so these chunks need not leave the GPU.
"""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from threading import Condition, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Unavailable
from hsgen.core.plan import ROLES
from hsgen.cuda.driver import Device, bindings, done
from hsgen.cuda.prepared import SCRATCH
from hsgen.cuda.splitters import SplitterCounts
from hsgen.numpy.copies import PIECES, Lane, Stop, copier, transfers
from hsgen.numpy.large import AHEAD, Job

SLOTS = 4
"""The number of slots: one chunk arrives, one is sorted, one leaves, and one waits between two of these steps."""
SPAN = 16 << 20
"""The greatest number of bytes that a helper copies in one task."""
PIECE = 4 << 20
"""The greatest size of a pinned piece in bytes."""
COUNTS = 1 << 20
"""How many bytes of GPU memory are left free for the search for splitters (`Pipeline.counts`)."""
HELPERS = min(12, max((os.cpu_count() or 1) // 2 - 1, 1))
"""The number of helpers in each direction."""
_COPY = "a copy of keys"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Keys in GPU memory: their address, their number, and the size of a key in bytes; slices like an array."""

    address: int
    count: int
    size: int

    def __len__(self) -> int:
        """The number of keys."""
        return self.count

    def __getitem__(self, span: slice) -> Kept:
        """Return the keys from index `span.start` up to `span.stop`."""
        begin, end, _ = span.indices(self.count)
        return Kept(address=self.address + begin * self.size, count=max(end - begin, 0), size=self.size)


@dataclass(slots=True, kw_only=True)
class Piece:
    """A pinned piece: its address, an array of its memory, and the event that ends its last transfer."""

    address: int
    event: Any
    array: Any

    def wait(self) -> None:
        """Wait for the end of the last transfer from or to the piece."""
        done(bindings().cuEventSynchronize(self.event), _COPY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """GPU memory for a chunk, and the stream on which the transfers of the chunk and its sort run."""

    address: int
    stream: Any


class Helpers:
    """The helpers of one direction: a pool of threads, and two pinned pieces (a *lane*) for each.

    If `copies.transfers` has C functions, these copy contiguous arrays.  Python copies all other arrays.
    """

    def __init__(self, pool: ThreadPoolExecutor, pieces: Sequence[Sequence[Piece]]) -> None:
        self.pool, self._copy, self._transfers = pool, copier(), transfers(bindings())
        self._lanes: SimpleQueue[Sequence[Piece]] = SimpleQueue()
        for lane in pieces:
            self._lanes.put(lane)

    @contextmanager
    def _lane(self) -> Iterator[Sequence[Piece]]:
        """Yield a lane that no other thread uses during the block."""
        lane = self._lanes.get()
        try:
            yield lane
        finally:
            self._lanes.put(lane)

    def fill(self, stop: Stop, part: Any, address: int, stream: Any) -> None:
        """Copy the array `part` to an address of the GPU; return when all transfers are enqueued on `stream`."""
        with self._lane() as lane:
            if self._transfers is not None and part.flags.c_contiguous:
                _checked(self._transfers.fill(_words(lane), stop, part, address, int(stream)))
            else:
                self._fill(lane, stop, part, address, stream)

    def _fill(self, lane: Sequence[Piece], stop: Stop, part: Any, address: int, stream: Any) -> None:
        """Copy as `fill` does, in Python."""
        driver, size, length = bindings(), part.dtype.itemsize, len(lane[0].array)
        for i, begin in enumerate(range(0, len(part), length)):
            piece, x = lane[i % len(lane)], part[begin : begin + length]
            piece.wait()
            if stop.is_set():
                return
            self._copy(piece.array[: len(x)], x)
            to = address + begin * size
            done(driver.cuMemcpyHtoDAsync(to, piece.address, len(x) * size, stream), _COPY)
            done(driver.cuEventRecord(piece.event, stream), "cuEventRecord")

    def empty(self, stop: Stop, part: Any, address: int, stream: Any) -> None:
        """Copy keys from an address of the GPU to the array `part`, after the work that is enqueued on `stream`."""
        with self._lane() as lane:
            if self._transfers is not None and part.flags.c_contiguous:
                _checked(self._transfers.empty(_words(lane), stop, part, address, int(stream)))
            else:
                self._empty(lane, stop, part, address, stream)

    def _empty(self, lane: Sequence[Piece], stop: Stop, part: Any, address: int, stream: Any) -> None:
        """Copy as `empty` does, in Python."""
        driver, size, length = bindings(), part.dtype.itemsize, len(lane[0].array)
        flying: deque[tuple[Piece, Any]] = deque()

        def land() -> None:
            piece, x = flying.popleft()
            piece.wait()
            if not stop.is_set():
                self._copy(x, piece.array[: len(x)])

        for i, begin in enumerate(range(0, len(part), length)):
            if stop.is_set():
                break
            if len(flying) == len(lane):
                land()
            piece, x = lane[i % len(lane)], part[begin : begin + length]
            source = address + begin * size
            done(driver.cuMemcpyDtoHAsync(piece.address, source, len(x) * size, stream), _COPY)
            done(driver.cuEventRecord(piece.event, stream), "cuEventRecord")
            flying.append((piece, x))
        while flying:
            land()


def _words(pieces: Sequence[Piece]) -> Lane:
    """Return the C structure `Lane` for a helper's pinned pieces."""
    return Lane.of([(x.address, int(x.event)) for x in pieces], pieces[0].array.nbytes)


def _checked(code: int) -> None:
    """Raise an error if `code`, the result of a copy by C, is an error of the driver."""
    done((bindings().CUresult(code),), _COPY)


class Pipeline:
    """Sorts chunks of at most `length` keys on a GPU; in a `with` block, it serves as the `Run` and the `Keeper` of
    `hsgen.numpy.large`.

    sorter: a `hsgen.cuda.Sorter` without values.  key, descending: the key type and the order.  room: the number of
    keys that may stay in GPU memory between jobs.
    """

    def __init__(self, gpu: Device, sorter: Any, length: int, key: str, *, descending: bool, room: int = 0) -> None:
        self._gpu, self._sorter, self.length, self.room = gpu, sorter, length, room
        self.dtype = np.dtype(f"u{sorter.dtype.itemsize}")
        self._counter = SplitterCounts(gpu, key, descending=descending) if room else None
        self._exit = ExitStack()

    def __enter__(self) -> Pipeline:
        """Allocate GPU memory, pinned pieces and streams, and start the helpers."""
        with ExitStack() as stack:
            stack.enter_context(self._gpu.current())
            size = self.length * self.dtype.itemsize
            self.slots = [Slot(address=self._memory(stack, size), stream=self._stream(stack)) for _ in range(SLOTS)]
            self._scratch = self._memory(stack, max(self._sorter.scratch_bytes(self.length), 1))
            self._sorted = self._event(stack)
            self._kept = self._room_of(stack)
            piece = max(min(PIECE, size), self.dtype.itemsize)
            self.load, self.store = (self._helpers(stack, piece) for _ in range(2))
            self._exit = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        """End the helpers; free memory, pinned pieces and streams."""
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

    def _memory(self, stack: ExitStack, size: int) -> int:
        address = int(done(bindings().cuMemAlloc(size), f"{size} bytes of keys"))
        stack.callback(bindings().cuMemFree, address)
        return address

    def _room_of(self, stack: ExitStack) -> int:
        """Allocate memory for the keys that stay, and return its address; if that fails, set `room` to 0."""
        try:
            return self._memory(stack, self.room * self.dtype.itemsize) if self.room else 0
        except Unavailable:  # another program may have allocated memory meanwhile
            self.room = 0
            return 0

    def _pinned(self, stack: ExitStack, size: int) -> Piece:
        address = int(done(bindings().cuMemHostAlloc(size, 0), f"{size} bytes of pinned memory"))
        stack.callback(bindings().cuMemFreeHost, address)
        room: Any = (ctypes.c_uint8 * size).from_address(address)
        array = np.frombuffer(room, self.dtype, size // self.dtype.itemsize)
        return Piece(address=address, event=self._event(stack), array=array)

    def _helpers(self, stack: ExitStack, size: int) -> Helpers:
        lanes = [[self._pinned(stack, size) for _ in range(PIECES)] for _ in range(HELPERS)]
        pool = stack.enter_context(ThreadPoolExecutor(HELPERS, initializer=self._gpu.enter))
        return Helpers(pool, lanes)

    def sort(self, address: int, n: int, stream: Any) -> None:
        """Enqueue an in-place sort of `n` keys on `stream`; it runs after all earlier sorts, also on other streams.

        All sorts use the same scratch memory, because a new allocation would wait for the GPU.
        """
        driver = bindings()
        done(driver.cuStreamWaitEvent(stream, self._sorted, 0), "cuStreamWaitEvent")
        bases = [address] * len(ROLES)
        bases[SCRATCH] = self._scratch
        self._sorter.prepared(n, self._sorter.options(), in_place=True).run(bases, int(stream))
        done(driver.cuEventRecord(self._sorted, stream), "cuEventRecord")

    def kept(self, begin: int, end: int) -> Kept:
        """See `Keeper`."""
        return Kept(address=self._kept, count=self.room, size=self.dtype.itemsize)[begin:end]

    def counts(self, runs: Sequence[Kept], probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Keeper`."""
        assert self._counter is not None
        driver, stream, n = bindings(), self.slots[0].stream, len(probes)
        counts, probes = np.empty((len(runs), n, 2), np.int64), np.ascontiguousarray(probes)
        with ExitStack() as stack:
            stack.enter_context(self._gpu.current())
            at, following, to = (self._memory(stack, x) for x in (probes.nbytes, probes.nbytes, counts.nbytes))
            done(driver.cuMemcpyHtoD(at, probes.ctypes.data, probes.nbytes), "cuMemcpyHtoD")
            for i, run in enumerate(runs):
                # `count_keys` runs a round of a search for splitters; with a digit of 0 bits, it only counts the keys
                # below the probes at address `at`
                numbers = (run.address, len(run), at, 1, 0, at, following, at, to + i * counts[0].nbytes, 0, 0)
                self._counter.count_keys(numbers, n, 0, int(stream))
            done(driver.cuStreamSynchronize(stream), "a count of keys")
            done(driver.cuMemcpyDtoH(counts.ctypes.data, to, counts.nbytes), "cuMemcpyDtoH")
        return counts[:, :, 0]

    def fetch(self, run: Kept, to: Any) -> None:
        """See `Keeper`."""
        with self._gpu.current():
            done(bindings().cuMemcpyDtoH(to.ctypes.data, run.address, to.nbytes), "cuMemcpyDtoH")

    def __call__(self, jobs: Iterable[Job], report: Callable[[int], None]) -> None:
        """Do all jobs; after each job, call `report` with its number of keys.

        When the call ends, even by an error or an interrupt, no helper writes to an array any more.
        """
        work = _Work(self)
        with self._gpu.current():
            try:
                work.run(jobs, report)
            finally:
                work.end()
                for slot in self.slots:
                    bindings().cuStreamSynchronize(slot.stream)


class _Work:
    """The state of one call of a `Pipeline`, which does a list of jobs.

    The calling thread gives tasks to helpers, and enqueues sorts.  When all copies of a job have ended, a helper sends
    this thread a message.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._p = pipeline
        self._stop = Stop()
        self._lock, self._idle, self._active = Lock(), Condition(), 0
        self._messages: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._moves: list[Future[None]] = []
        self._loads: deque[list[Future[None]]] = deque(maxlen=AHEAD)

    def run(self, jobs: Iterable[Job], report: Callable[[int], None]) -> None:
        """Do all jobs: load each to a free slot, sort it there, and store its result or leave it on the GPU."""
        free, coming, active = list(self._p.slots), iter(jobs), 0
        while True:
            while free and (job := next(coming, None)) is not None:
                active += 1
                self._load(job, free.pop(0))
            if not active:
                return
            kind, content = self._messages.get()
            if kind == "error":
                raise content
            job, slot, earlier = content
            if kind == "loaded":
                stays = isinstance(job.to, Kept)
                address = job.to.address if stays else slot.address
                self._p.sort(address, len(job.to), slot.stream)
                if not stays:
                    for loads in earlier:
                        wait(loads)  # the result may replace arrays that these earlier jobs read
                    self._store(job, slot)
                    continue
            active -= 1
            free.append(slot)
            report(len(job.to))

    def end(self) -> None:
        """Make all helpers end their tasks early, and wait for the end.  Tasks that have not begun will do nothing."""
        with self._idle:
            self._stop.set()
            self._idle.wait_for(lambda: not self._active)

    def _do(self, task: Callable[[], None]) -> None:
        """Run a task in a helper.  The helper counts the task, so that an interrupt of the main thread misses none."""
        with self._idle:
            if self._stop.is_set():
                return
            self._active += 1
        try:
            task()
        finally:
            with self._idle:
                self._active -= 1
                self._idle.notify_all()

    def _load(self, job: Job, slot: Slot) -> None:
        """Start tasks that copy a job's sources to the GPU, and tasks for its moves."""
        p, stop, at = self._p, self._stop, job.to.address if isinstance(job.to, Kept) else slot.address
        wait(self._moves)  # the job may read pieces that the job before it moves
        if len(self._loads) == AHEAD:
            wait(self._loads[0])  # the job may move pieces over keys that the job `AHEAD` jobs earlier reads
        tasks: list[Callable[[], None]] = []
        for source, to in job.moves:
            tasks += (partial(copier(), y, x) for x, y in zip(_spans(source), _spans(to), strict=True))
        moves = len(tasks)
        for x in job.sources:
            if isinstance(x, Kept):
                size = len(x) * x.size
                done(bindings().cuMemcpyDtoDAsync(at, x.address, size, slot.stream), "a copy of keys")
                at += size
                continue
            for part in _spans(x.view(p.dtype)):
                tasks.append(partial(p.load.fill, stop, part, at, slot.stream))
                at += part.nbytes
        started = self._start(p.load, tasks, ("loaded", (job, slot, list(self._loads))))
        self._moves = started[:moves]
        self._loads.append(started)

    def _store(self, job: Job, slot: Slot) -> None:
        """Start tasks that copy the sorted keys of a job from its slot to its array."""
        p, at = self._p, slot.address
        tasks: list[Callable[[], None]] = []
        for part in _spans(job.to.view(p.dtype)):
            tasks.append(partial(p.store.empty, self._stop, part, at, slot.stream))
            at += part.nbytes
        self._start(p.store, tasks, ("left", (job, slot, ())))

    def _start(
        self, helpers: Helpers, tasks: Sequence[Callable[[], None]], message: tuple[str, Any]
    ) -> list[Future[None]]:
        """Start tasks of helpers; send `message` to the calling thread after the last task, or an error at once."""
        left = len(tasks)
        if not tasks:
            self._messages.put(message)

        def ended(task: Future[None]) -> None:
            nonlocal left
            error = task.exception()
            with self._lock:  # tasks end one at a time, so that an error comes before the message of the last task
                left -= 1
                if error is not None:
                    self._messages.put(("error", error))
                elif left == 0:
                    self._messages.put(message)

        started = [helpers.pool.submit(self._do, task) for task in tasks]
        for task in started:
            task.add_done_callback(ended)
        return started


def _spans(x: Any) -> list[Any]:
    """Cut an array into consecutive parts of at most `SPAN` bytes; return the parts."""
    length = max(SPAN // x.dtype.itemsize, 1)
    return [x[begin : begin + length] for begin in range(0, len(x), length)]
