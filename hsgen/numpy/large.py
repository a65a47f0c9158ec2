"""Sorts of numpy arrays and memory maps that exceed the memory of a device, in two phases.

    array -> sort chunk by chunk -> temporary array -> sort part by part -> out

A chunk fits the device.  Exact splitters cut each sorted chunk into pieces, one for each part; the pieces of a part
together fit the device.  Every key is copied to the device twice, and back twice.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Unavailable
from hsgen.core.keys import TYPES
from hsgen.distributed import splitters
from hsgen.operations import oracle

SUFFIX = ".hsgen-chunks"
"""The end of the name of a temporary file, which is next to the file of the result's memory map."""

_PROBES = 256  # probes of a round; the host searches so few in a fraction of a millisecond

Progress = Callable[[int, int], None]
"""A function that is called with the number of keys copied so far, and the total number of keys to copy."""

Sort = Callable[[Any], Any]
"""A function that returns the sorted keys of an array that fits the device."""

Job = tuple[Sequence[Any], Any]
"""Arrays whose keys are sorted together, and the array for the result."""

Run = Callable[[Iterable[Job], Callable[[int], None]], None]
"""A function that sorts jobs in order; after each job, it calls a function with the number of keys of the job."""


def in_turn(sort: Sort) -> Run:
    """Return a function that sorts one job after another by `sort`."""

    def run(jobs: Iterable[Job], report: Callable[[int], None]) -> None:
        for sources, to in jobs:
            to[...] = sort(np.concatenate(sources) if len(sources) > 1 else np.ascontiguousarray(sources[0]))
            report(len(to))

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


@dataclass(frozen=True, slots=True)
class ChunkCounts:
    """Counts of keys in the sorted chunks of an array, as `hsgen.distributed.splitters.Counts` defines them.

    keys: the keys of all chunks, viewed as unsigned numbers.  ends: the end of each chunk.  kind: as of
    `hsgen.core.keys.Type`.
    """

    keys: Any
    ends: Sequence[int]
    kind: int
    descending: bool

    def ordered(self, at: Any) -> Any:
        """Return the ordered keys at indices."""
        keys = np.asarray(self.keys[at])
        return oracle.ordered(keys, self.kind, descending=self.descending).astype(np.uint64)

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest ordered key."""
        ends = np.array(self.ends)
        begins = np.concatenate([[0], ends[:-1]])
        return int(self.ordered(begins).min()), int(self.ordered(ends - 1).max())

    def by_shard(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Counts`; one binary search in numpy handles all probes and all chunks at the same time."""
        ends = np.array(self.ends, np.int64)[:, None]
        begins = np.vstack([np.zeros((1, 1), np.int64), ends[:-1]])
        shape = len(ends), len(probes)
        low, high = (np.broadcast_to(x, shape).ravel() for x in (begins, ends))
        low, high, sought = low.copy(), high.copy(), np.broadcast_to(probes, shape).ravel()
        while (active := np.flatnonzero(low < high)).size:
            middle = (low[active] + high[active]) // 2
            below = self.ordered(middle) < sought[active]
            low[active] = np.where(below, middle + 1, low[active])
            high[active] = np.where(below, high[active], middle)
        counts: NDArray[np.int64] = low.reshape(shape) - begins
        return counts

    def total(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Counts`."""
        sums: NDArray[np.int64] = self.by_shard(probes).sum(axis=0)
        return sums


def sort_large(
    a: Any, out: Any, run: Run, length: int, key: str, *, descending: bool, progress: Progress | None = None
) -> None:
    """Sort the flat array `a` into `out`, which may share memory with `a`; `run` sorts jobs of at most `length` keys.

    An interrupt in the first phase leaves `out` unchanged.  An interrupt in the second phase leaves `out` incomplete.
    If `out` shares memory with `a`, the function then stores all keys in `out`, in another order.

    Raises:
        Unavailable: the device sorts no key, or there is no room for the temporary file.
    """
    n = len(a)
    if length < 1:
        raise Unavailable("the device has too little memory for one key; give a greater memory=")
    report = progress or (lambda done, total: None)
    sizes = splitters.even(n, -(-n // length))
    ends = [int(x) for x in np.cumsum(sizes)]
    with temporary(out, n) as chunks:
        done = 0

        def add(number: int) -> None:
            nonlocal done
            done += number
            report(done, 2 * n)

        run((([a[begin:end]], chunks[begin:end]) for begin, end in pairwise([0, *ends])), add)
        try:
            run(_parts(chunks, ends, out, sizes, key, descending), add)
        except BaseException:
            if np.may_share_memory(a, out):
                out[...] = chunks
            raise


def _parts(
    chunks: Any, ends: Sequence[int], out: Any, sizes: Sequence[int], key: str, descending: bool
) -> Iterator[Job]:
    """Yield a job for each part of `out`: the pieces of sorted chunks whose keys belong there, and the part."""
    unsigned = chunks.view(f"u{chunks.dtype.itemsize}")
    counts = ChunkCounts(unsigned, ends, TYPES[key].kind, descending)
    begins = [0, *ends[:-1]]
    lengths = [b - a for a, b in zip(begins, ends, strict=True)]
    at = splitters.cuts(counts, lengths, sizes, *counts.bounds(), _PROBES) + np.array(begins)[:, None]
    begin = 0
    for part, size in enumerate(sizes):
        yield [chunks[row[part] : row[part + 1]] for row in at], out[begin : begin + size]
        begin += size


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
