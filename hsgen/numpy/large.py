"""Sorts of numpy arrays and memory maps that exceed the memory of a device, in two phases.

    array -> sort chunk by chunk -> sorted chunks -> sort part by part -> out

The first phase sorts each *chunk* of the array by itself.  The second phase sorts `out` in *parts*, which are as long
as the chunks.  Exact splitters cut each sorted chunk into *pieces*: piece p has the keys that belong to part p.  A job
of the second phase copies piece p of every chunk to the device, sorts these keys, and stores part p.

Both phases copy every key to the device and back, with one exception.  As many of the first chunks as the device has
memory for stay there between the phases.

The other sorted chunks are stored in `out`, each where it lay in the array, if `out` is memory apart from the array.
Otherwise they are stored in a temporary array.  In `out`, part p replaces chunk p.  Later parts still need pieces of
chunk p; before part p is stored, these pieces move.  They move to memory of later chunks whose keys earlier parts have
read, or else to new memory.  The new memory is at most half as large as the array.
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
"""The suffix of the temporary file with sorted chunks.  The rest of the file's path is that of the memory map for the
result.
"""

_PROBES = 4  # probes per boundary in a round of the search; more rounds cost less than more probes, which miss caches

AHEAD = 3
"""When job i begins to read or to move keys, all jobs up to job i - `AHEAD` have read all their arrays."""

Progress = Callable[[int, int], None]
"""A function that is called with the work done so far and the total work.

For an array in chunks, these are numbers of keys; both phases count every key.  For several rows, they count rows.
"""

Sort = Callable[[Any], Any]
"""A function that returns the sorted keys of an array that is short enough for the device."""


@dataclass(frozen=True, slots=True)
class Job:
    """Arrays `sources` whose keys are sorted together, and the array `to` for the result.

    The result is stored only after all earlier jobs have read their sources, so it may replace these.

    moves: pairs of arrays.  The first is copied to the second before the result is stored, and before the next job
    reads its sources.  The second may overwrite keys that the job `AHEAD` jobs earlier, or one before that, has read.
    """

    sources: Sequence[Any]
    to: Any
    moves: Sequence[tuple[Any, Any]] = ()


Run = Callable[[Iterable[Job], Callable[[int], None]], None]
"""A function that sorts jobs in order; after each job, it calls a function with the number of keys of the job."""


class Keeper(Protocol):
    """A device that keeps sorted chunks of up to `room` keys in its memory between the phases; `Pipeline` implements
    this interface.
    """

    room: int

    def kept(self, begin: int, end: int) -> Any:
        """Return device memory for the keys from `begin` up to `end`, both between 0 and `room`."""

    def counts(self, runs: Sequence[Any], probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return how many keys of each sorted run are below each probe, shape (runs, probes).

        A probe is an *ordered key*: an unsigned number whose order is that of the sort.
        """

    def fetch(self, run: Any, to: Any) -> None:
        """Copy a run from the device to the contiguous array `to`."""


def in_turn(sort: Sort) -> Run:
    """Return a `Run`, a function that does jobs one after another by `sort`, without overlap."""

    def run(jobs: Iterable[Job], report: Callable[[int], None]) -> None:
        for job in jobs:
            keys = np.concatenate(job.sources) if len(job.sources) > 1 else np.ascontiguousarray(job.sources[0])
            for source, to in job.moves:
                np.copyto(to, source)
            job.to[...] = sort(keys)
            report(len(job.to))

    return run


def greatest_length(sorter: Any, room: int, allocation: int, chunks: int = 1) -> int:
    """Return the greatest length of a chunk, in keys, for which `sorter` needs at most `room` bytes of device memory.

    allocation: the greatest size of a buffer in bytes.  chunks: how many chunks are on the device at once.
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
    """Counts the keys of sorted chunks below probes, as `hsgen.distributed.splitters.Counts` defines.

    keys: the array of all chunks, viewed as unsigned numbers.  bounds: the index in `keys` at which each chunk begins,
    and the end of the last.  kind: whether keys are unsigned, signed or floats (`hsgen.core.keys.Type`).
    staying: the number of chunks, from the first on, whose keys are on the device.  on_device: a function that returns
    the counts in these chunks.
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
        # results of earlier rounds: the sorted probes; and for each chunk the index where it begins, the index after
        # its keys below each probe, and the index where it ends
        self._probes = np.empty(0, np.uint64)
        self._below = np.stack([self._ends[:-1], self._ends[1:]], axis=1)

    def ordered(self, at: Any) -> Any:
        """Return the keys at indices as ordered keys: unsigned numbers in the order of the sort."""
        keys = np.asarray(self._keys[at])
        return oracle.ordered(keys, self._kind, descending=self._descending).astype(np.uint64)

    def bounds(self) -> tuple[int, int]:
        """Return a lower and an upper bound of all ordered keys.  If chunks are on the device, the bounds are those of
        the key type, because no key is read.
        """
        if self._on_device is not None:
            return 0, (1 << 8 * self._keys.dtype.itemsize) - 1
        return int(self.ordered(self._ends[:-1]).min()), int(self.ordered(self._ends[1:] - 1).max())

    def by_shard(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Counts`."""
        counts = self._on_host(probes)
        return counts if self._on_device is None else np.vstack([self._on_device(probes), counts])

    def _on_host(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the counts in the chunks on the host, shape (chunks, probes).

        A vectorized binary search finds all probes in all chunks.  For each probe, it begins with the range between
        the nearest probes of earlier rounds.
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
    `out` shares memory with `a`, no key is lost: `out` then has all keys of `a`, partly sorted.

    keeper: a device that keeps the first chunks between the phases, at most `keeper.room` keys.

    Raises:
        Unavailable: the device sorts no key, or there is no disk space for the temporary file.
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
    """Return a function that adds a number of keys to the sum of its earlier calls, and reports sum and total."""
    done = 0

    def add(number: int) -> None:
        nonlocal done
        done += number
        if progress:
            progress(done, total)

    return add


def _chunks(keys: Any, bounds: Sequence[int], keeper: Keeper | None, staying: int) -> list[Any]:
    """Return where each sorted chunk is stored: the first `staying` in device memory, all others in `keys`."""
    chunks = [keys[begin:end] for begin, end in pairwise(bounds)]
    if keeper is not None:
        chunks[:staying] = [keeper.kept(begin, end) for begin, end in pairwise(bounds[: staying + 1])]
    return chunks


def _jobs(a: Any, chunks: Sequence[Any], bounds: Sequence[int], staying: int) -> list[Job]:
    """Return the jobs of the first phase, each of which sorts one chunk.  The chunks that stay on the device are sorted
    last.
    """
    jobs = [Job([a[begin:end]], chunk) for (begin, end), chunk in zip(pairwise(bounds), chunks, strict=True)]
    return [*jobs[staying:], *jobs[:staying]]


def _counts(
    keys: Any, bounds: Sequence[int], kind: int, descending: bool, staying: Sequence[Any], keeper: Keeper | None
) -> ChunkCounts:
    """Return the `ChunkCounts` of the sorted chunks; staying: the chunks on the device."""
    on_device = partial(keeper.counts, staying) if keeper is not None and staying else None
    return ChunkCounts(keys, bounds, kind, descending=descending, staying=len(staying), on_device=on_device)


def _restore(a: Any, out: Any, keys: Any, keeper: Keeper | None, staying: int) -> None:
    """After an interrupt of the second phase: if `out` shares memory with `a`, store all sorted chunks in `out`.

    staying: the number of keys in the chunks on the device.
    """
    if np.may_share_memory(a, out):
        if keeper is not None and staying:
            keeper.fetch(keeper.kept(0, staying), keys[:staying])
        out[...] = keys


def _parts(
    chunks: Sequence[Any], counts: ChunkCounts, bounds: Sequence[int], out: Any, moving: Container[int]
) -> Iterator[Job]:
    """Yield the jobs of the second phase; a job sorts the pieces of one part from all chunks, and stores the part.

    moving: the numbers of the chunks that are stored in `out`, where each is replaced by the part with the same number.
    """
    sizes = [end - begin for begin, end in pairwise(bounds)]
    at = splitters.cuts(counts, sizes, sizes, *counts.bounds(), _PROBES * len(sizes), _PROBES)
    moved: dict[tuple[int, int], Any] = {}  # moved pieces, by (chunk, part)
    used = [0] * len(chunks)  # for each chunk, how many of its first keys moved pieces have replaced

    def place(part: int, later: int, size: int) -> Any:
        """Return memory for a piece of part `later`: the place of keys of chunk `later` that earlier parts have read,
        or else new memory.
        """
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
    """Yield the array for sorted chunks: `out`, or if it is a memory map or overlaps `a`, a temporary array."""
    if np.may_share_memory(a, out) or isinstance(_base(out), np.memmap):
        with temporary(out, len(out)) as chunks:
            yield chunks
    else:
        yield out


@contextmanager
def temporary(out: Any, n: int) -> Iterator[Any]:
    """Yield a temporary array of `n` elements of the type of `out`.

    If `out` is a memory map, the temporary array is one too: its file is created next to the file of `out`, and deleted
    at the end of the block.  Otherwise, the temporary array is in memory.

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
    """Return the memory map of which an array is a view; if there is none, the array that owns the memory."""
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
    """Yield a function that reports progress.  If `shown` is True, the function shows a bar on stderr; if `shown` is
    False, None is yielded; otherwise `shown` itself.
    """
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
