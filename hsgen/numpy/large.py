"""Sorts of numpy arrays and memory maps that exceed the memory of a device, in two phases.

    array -> sort chunk by chunk -> sorted chunks -> sort part by part -> out

A chunk fits the device.  Exact splitters cut each sorted chunk into pieces, one for each part; the pieces of a part
together fit the device.  Every key is copied to the device twice, and back twice, except for the first chunks: as many
as the device has room for stay there after the first phase.

The other sorted chunks are stored in `out`, each at its place, if `out` is memory and not the array itself.  Before a
part is stored at the place of a chunk, the other pieces of the chunk move: to pieces of later chunks that earlier parts
have read, or else to new memory, at most half of the array.  Otherwise the chunks are stored in a temporary array.
"""

from __future__ import annotations

import contextlib
import os
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Unavailable
from hsgen.core.keys import TYPES
from hsgen.distributed import splitters
from hsgen.operations import oracle

SUFFIX = ".hsgen-chunks"
"""The end of the name of a temporary file, which is next to the file of the result's memory map."""

_PROBES = 4  # probes of a boundary in a round: rounds cost less than searches of many probes, which miss the caches

AHEAD = 3
"""When a job begins, the job so many places before it, and all earlier jobs, have read their arrays."""

Progress = Callable[[int, int], None]
"""A function that is called with the number of keys copied so far, and the total number of keys to copy."""

Sort = Callable[[Any], Any]
"""A function that returns the sorted keys of an array that fits the device."""


@dataclass(frozen=True, slots=True)
class Job:
    """Arrays whose keys are sorted together, and the array for the result.

    The result may replace arrays that earlier jobs read: it is stored after all of them have read.

    moves: pairs of arrays.  The first is copied to the second before the result is stored, and before the next job
    reads its arrays.  The second may be a part of an array that the job `AHEAD` places before, or an earlier job, read.
    """

    sources: Sequence[Any]
    to: Any
    moves: Sequence[tuple[Any, Any]] = ()


Run = Callable[[Iterable[Job], Callable[[int], None]], None]
"""A function that sorts jobs in order; after each job, it calls a function with the number of keys of the job."""


class Keeper(Protocol):
    """A device that keeps sorted chunks in its memory; see `hsgen.numpy.pipeline.Pipeline`."""

    room: int

    def kept(self, begin: int, end: int) -> Any:
        """Return memory of the device for keys; `begin` and `end` are between 0 and `room`."""

    def counts(self, runs: Sequence[Any], probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the number of keys of each sorted run below each probe, an ordered key."""

    def fetch(self, run: Any, to: Any) -> None:
        """Copy keys of the device to a contiguous array."""


def in_turn(sort: Sort) -> Run:
    """Return a function that sorts one job after another by `sort`."""

    def run(jobs: Iterable[Job], report: Callable[[int], None]) -> None:
        for job in jobs:
            keys = np.concatenate(job.sources) if len(job.sources) > 1 else np.ascontiguousarray(job.sources[0])
            for source, to in job.moves:
                np.copyto(to, source)
            job.to[...] = sort(keys)
            report(len(job.to))

    return run


def greatest_length(sorter: Any, room: int, allocation: int, chunks: int = 1) -> int:
    """Return the greatest number of keys of a chunk that a device sorts in `room` bytes.

    allocation: the size in bytes of the greatest buffer.  chunks: the number of chunks that are on the device at the
    same time.
    """
    size = sorter.dtype.itemsize

    def fits(n: int) -> bool:
        scratch = sorter.scratch_bytes(n)
        return bool(chunks * size * n + scratch <= room and max(size * n, scratch) <= allocation)

    low, high = 0, min(sorter.max_n, room // (chunks * size))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


class ChunkCounts:
    """Counts of keys in the sorted chunks of an array, as `hsgen.distributed.splitters.Counts` defines them.

    keys: the keys of all chunks, viewed as unsigned numbers.  bounds: the begin of each chunk, and the end of the last.
    kind: as in `hsgen.core.keys.Type`.  staying: the number of chunks on the device, the first ones.  on_device: a
    function that counts the keys of these chunks below probes.
    """

    def __init__(
        self,
        keys: Any,
        bounds: Sequence[int],
        kind: int,
        *,
        descending: bool,
        staying: int = 0,
        on_device: Callable[[NDArray[np.uint64]], NDArray[np.int64]] | None = None,
    ) -> None:
        self._keys, self._kind, self._descending = keys, kind, descending
        self._on_device, self._ends = on_device, np.array(bounds, np.int64)[staying:]
        # what earlier rounds have found: probes, and for each chunk its begin, the index after the keys below each
        # probe, and its end
        self._probes = np.empty(0, np.uint64)
        self._below = np.stack([self._ends[:-1], self._ends[1:]], axis=1)

    def ordered(self, at: Any) -> Any:
        """Return the ordered keys at indices."""
        keys = np.asarray(self._keys[at])
        return oracle.ordered(keys, self._kind, descending=self._descending).astype(np.uint64)

    def bounds(self) -> tuple[int, int]:
        """Return bounds of all ordered keys."""
        if self._on_device is not None:
            return 0, (1 << 8 * self._keys.dtype.itemsize) - 1
        return int(self.ordered(self._ends[:-1]).min()), int(self.ordered(self._ends[1:] - 1).max())

    def by_shard(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Counts`."""
        counts = self._on_host(probes)
        return counts if self._on_device is None else np.vstack([self._on_device(probes), counts])

    def _on_host(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return counts in the chunks of the host; one binary search in numpy handles all probes and chunks together.

        The search begins between the nearest probes of earlier rounds.
        """
        probes, turned = np.unique(probes, return_inverse=True)
        after = np.searchsorted(self._probes, probes)
        low, high = self._below[:, after].ravel(), self._below[:, after + 1].ravel()
        sought = np.broadcast_to(probes, (len(self._below), len(probes))).ravel()
        while (active := np.flatnonzero(low < high)).size:
            middle = (low[active] + high[active]) // 2
            below = self.ordered(middle) < sought[active]
            low[active] = np.where(below, middle + 1, low[active])
            high[active] = np.where(below, high[active], middle)
        places = low.reshape(len(self._below), len(probes))
        self._probes = np.insert(self._probes, after, probes)
        self._below = np.insert(self._below, after + 1, places, axis=1)
        counts: NDArray[np.int64] = places[:, turned.reshape(-1)] - self._ends[:-1, None]
        return counts

    def total(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Counts`."""
        sums: NDArray[np.int64] = self.by_shard(probes).sum(axis=0)
        return sums


def sort_large(
    a: Any,
    out: Any,
    run: Run,
    length: int,
    key: str,
    *,
    descending: bool,
    progress: Progress | None = None,
    keeper: Keeper | None = None,
) -> None:
    """Sort the flat array `a` into `out`, which may share memory with `a`; `run` sorts jobs of at most `length` keys.

    An interrupt in the first phase leaves `a` unchanged.  An interrupt in the second phase leaves `out` incomplete.  If
    `out` shares memory with `a`, the function then stores all keys in `out`, in another order.

    keeper: the device that may keep chunks, whose keys are the first `keeper.room` ones at most.

    Raises:
        Unavailable: the device sorts no key, or there is no room for the temporary file.
    """
    n = len(a)
    if length < 1:
        raise Unavailable("the device has too little memory for one key; give a greater memory=")
    bounds = [0, *(int(x) for x in np.cumsum(splitters.even(n, -(-n // length))))]
    staying = 0 if keeper is None else bisect_right(bounds, keeper.room) - 1
    with stored_chunks(a, out) as keys:
        add = _adding(progress, 2 * n)
        chunks = _chunks(keys, bounds, keeper, staying)
        run(_jobs(a, chunks, bounds, staying), add)
        try:
            counts = _counts(
                keys.view(f"u{keys.dtype.itemsize}"), bounds, TYPES[key].kind, descending, chunks[:staying], keeper
            )
            run(_parts(chunks, counts, bounds, out, moving=range(staying, len(chunks)) if keys is out else ()), add)
        except BaseException:
            _restore(a, out, keys, keeper, bounds[staying])
            raise


def _adding(progress: Progress | None, total: int) -> Callable[[int], None]:
    """Return a function that adds numbers of sorted keys, and reports their sum."""
    done = 0

    def add(number: int) -> None:
        nonlocal done
        done += number
        if progress:
            progress(done, total)

    return add


def _chunks(keys: Any, bounds: Sequence[int], keeper: Keeper | None, staying: int) -> list[Any]:
    """Return the places of the sorted chunks; the first `staying` ones are on the device."""
    chunks = [keys[begin:end] for begin, end in pairwise(bounds)]
    if keeper is not None:
        chunks[:staying] = [keeper.kept(begin, end) for begin, end in pairwise(bounds[: staying + 1])]
    return chunks


def _jobs(a: Any, chunks: Sequence[Any], bounds: Sequence[int], staying: int) -> list[Job]:
    """Return the jobs that sort chunks of `a`; those of chunks that stay on the device are last."""
    jobs = [Job([a[begin:end]], chunk) for (begin, end), chunk in zip(pairwise(bounds), chunks, strict=True)]
    return [*jobs[staying:], *jobs[:staying]]


def _counts(
    keys: Any, bounds: Sequence[int], kind: int, descending: bool, staying: Sequence[Any], keeper: Keeper | None
) -> ChunkCounts:
    """Return the counts of keys in sorted chunks; the chunks `staying` are on the device."""
    on_device = partial(keeper.counts, staying) if keeper is not None and staying else None
    return ChunkCounts(keys, bounds, kind, descending=descending, staying=len(staying), on_device=on_device)


def _restore(a: Any, out: Any, keys: Any, keeper: Keeper | None, staying: int) -> None:
    """Store all keys in `out`, if `out` shares memory with `a`; the device has the first `staying` keys."""
    if np.may_share_memory(a, out):
        if keeper is not None and staying:
            keeper.fetch(keeper.kept(0, staying), keys[:staying])
        out[...] = keys


def _parts(
    chunks: Sequence[Any], counts: ChunkCounts, bounds: Sequence[int], out: Any, moving: Container[int]
) -> Iterator[Job]:
    """Yield a job for each part of `out`: the pieces of sorted chunks whose keys belong there, and the part.

    moving: the chunks that are stored at their place in `out`.
    """
    sizes = [end - begin for begin, end in pairwise(bounds)]
    at = splitters.cuts(counts, sizes, sizes, *counts.bounds(), _PROBES * len(sizes), _PROBES)
    moved: dict[tuple[int, int], Any] = {}  # pieces apart from their chunks, by the numbers of chunk and part
    used = [0] * len(chunks)  # keys of each chunk that moved pieces have replaced

    def place(part: int, later: int, size: int) -> Any:
        """Return memory for a piece of a later part: in the chunk at its place, if earlier parts have read enough."""
        begin, read = used[later], int(at[later, max(part - AHEAD + 1, 0)])
        if begin + size > read:
            return np.empty(size, out.dtype)
        used[later] += size
        return chunks[later][begin : begin + size]

    for part, (begin, end) in enumerate(pairwise(bounds)):
        sources, moves = [], []
        for number, chunk in enumerate(chunks):
            piece = moved.pop((number, part), None)
            sources.append(chunk[int(at[number, part]) : int(at[number, part + 1])] if piece is None else piece)
        for later in range(part + 1, len(chunks) if part in moving else 0):
            piece = chunks[part][int(at[part, later]) : int(at[part, later + 1])]
            if len(piece):
                moved[part, later] = place(part, later, len(piece))
                moves.append((piece, moved[part, later]))
        yield Job(sources, out[begin:end], moves)


@contextmanager
def stored_chunks(a: Any, out: Any) -> Iterator[Any]:
    """Yield the array for sorted chunks: `out` itself if it is memory apart from `a`, or else a temporary array."""
    if np.may_share_memory(a, out) or isinstance(_base(out), np.memmap):
        with temporary(out, len(out)) as chunks:
            yield chunks
    else:
        yield out


@contextmanager
def temporary(out: Any, n: int) -> Iterator[Any]:
    """Yield a temporary array of `n` elements of the type of `out`.

    If `out` is a memory map, the array is a file next to the file of `out`; otherwise it is in memory.

    The disk space of both files is reserved in advance, so that a full disk causes an error instead of a crash.

    Raises:
        Unavailable: the disk is full, or the file exists.
    """
    file = getattr(_base(out), "filename", None)
    if file is None:
        yield np.empty(n, out.dtype)
        return
    path = Path(f"{file}{SUFFIX}")
    size = n * out.dtype.itemsize
    try:
        created = path.open("xb")
    except OSError as e:
        hint = "; remove the file of a sort that was killed" if isinstance(e, FileExistsError) else ""
        raise Unavailable(f"{path}: {e.strerror}{hint}") from None
    try:
        with created, Path(file).open("r+b") as opened:
            try:
                reserve(created.fileno(), size)
                reserve(opened.fileno(), os.fstat(opened.fileno()).st_size)
            except OSError as e:
                raise Unavailable(f"{path}: {e.strerror}; the sort needs {size} bytes there") from None
        yield np.memmap(path, out.dtype, "r+", shape=(n,))
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def _base(a: Any) -> Any:
    """Return the memory map to which an array's memory belongs, or the array itself."""
    while not isinstance(a, np.memmap) and isinstance(getattr(a, "base", None), np.ndarray):
        a = a.base
    return a


def reserve(descriptor: int, size: int) -> None:
    """Reserve disk space for the first `size` bytes of a file, if the system can; the contents do not change.

    Raises:
        OSError: the disk is full.
    """
    if size and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)


@contextmanager
def bar(shown: bool | Progress) -> Iterator[Progress | None]:
    """Yield the function to report progress; True shows a bar on the standard error output."""
    if not isinstance(shown, bool):
        yield shown
        return
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as shown_bar:
        task = shown_bar.add_task("sort")
        yield lambda done, total: shown_bar.update(task, completed=done, total=total)
