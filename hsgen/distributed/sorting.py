"""A sort over the ranks of a process group: each rank sorts its shard; all find exact splitters, exchange keys once,
and merge.

    compare arguments -> sort -> agree -> cut -> exchange -> merge

In each phase, every rank sends a status word together with its counts and sizes.  An error on one rank thus raises an
error on all ranks.  Sorts are stable: equal keys are in the order of ranks, and within a rank in the order of their
indices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import gcd
from typing import Any

from hsgen.core.errors import Usage
from hsgen.distributed import splitters
from hsgen.distributed.communicator import Communicator, Span, Words, agree, compare_later
from hsgen.distributed.local import NARROW, Local, Run, row_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """The arguments of one rank after its own checks.

    length: the number of keys.  size: the number of keys that this rank requests, or None for an even part.  overwrite:
    whether the call may overwrite keys and values.  facts: the values that must be equal on every rank, by the names of
    arguments.
    """

    local: Local
    keys: Any
    values: Any = None
    length: int
    size: int | None = None
    overwrite: bool = False
    facts: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """The shard of this rank, after all ranks have compared their arguments.

    lengths: the number of keys in the shard of each rank.  sizes: the number of keys in the part that each rank gets.
    """

    shard: Shard
    lengths: list[int]
    sizes: list[int]

    @property
    def total(self) -> int:
        """The number of keys of all ranks."""
        return sum(self.lengths)


class Pending:
    """A comparison of the arguments of all ranks, which has started.

    check: a function that returns the arguments of this rank as a `Shard`, or raises an error.
    """

    def __init__(self, comm: Communicator, check: Callable[[], Shard]) -> None:
        self._comm = comm
        self.shard: Shard | None = None
        error = None
        try:
            self.shard = check()
        except Exception as e:
            error = e
        shard = self.shard
        words = [0, 0] if shard is None else [shard.length, -1 if shard.size is None else shard.size]
        self._wait = compare_later(comm, error, words, {} if shard is None else shard.facts)

    def agreed(self) -> Agreed:
        """Wait for the comparison; return the shard with the lengths and sizes of all ranks.

        Raises:
            Exception: the error of `check`; on ranks without an error, `Wrong` if another rank has one.
            Usage: arguments differ, or the sizes do not add up to the number of keys.
        """
        rows, shard = self._wait(), self.shard
        assert shard is not None
        lengths, sizes = [int(x) for x in rows[:, 0]], [int(x) for x in rows[:, 1]]
        absent = [rank for rank, size in enumerate(sizes) if size < 0]
        if len(absent) == self._comm.size:
            sizes = splitters.even(sum(lengths), self._comm.size)
        elif absent:
            raise Usage(
                f"size: absent on rank {absent[0]}, but not on every rank; give the size of every rank or of none"
            )
        elif sum(sizes) != sum(lengths):
            raise Usage(
                f"size: the sizes of all ranks add up to {sum(sizes)}, the keys to {sum(lengths)}; give equal sums"
            )
        return Agreed(shard=shard, lengths=lengths, sizes=sizes)


def agreed(comm: Communicator, check: Callable[[], Shard]) -> Agreed:
    """Compare the arguments of all ranks, and return those of this rank; see `Pending`."""
    return Pending(comm, check).agreed()


def sort(comm: Communicator, check: Callable[[], Shard], *, index: bool = False) -> tuple[Agreed, Run]:
    """Sort the keys of all ranks; return the arguments of this rank, and its part of the sorted keys as a `Run`.

    The run has a column with the values, if there are any, or with the global indices, if `index` is True.  While ranks
    compare arguments, each already sorts its shard, unless the sort would overwrite it.  If shards are small, every
    rank instead gathers and sorts all of them, which is faster but takes more memory.
    """
    pending = Pending(comm, check)
    shard, early = pending.shard, None
    guess = 0 if shard is None else comm.size * shard.length
    if shard is not None and not shard.overwrite and guess * _row(shard) > _small(comm, shard):
        early = _attempt(partial(_sorted, shard, guess, index=index))
    of = pending.agreed()
    shard = of.shard
    if comm.size > 1 and max(of.lengths) > 0 and comm.size * max(of.lengths) * _row(shard) <= _small(comm, shard):
        return of, _everywhere(comm, of, index=index)

    def locally() -> Run:
        if early is not None and (not index or (guess < NARROW) == (of.total < NARROW)):
            return early()
        return _sorted(shard, of.total, index=index)

    if comm.size == 1:
        return of, locally()
    item = row_bytes(shard.values) if shard.values is not None else 8 if index else 0
    chunks = shard.local.chunks(of.sizes, item)
    first = sum(of.lengths[: comm.rank]) if index else 0
    return of, spread(comm, shard.local, locally, of.lengths, of.sizes, chunks=chunks, first=first)


def _small(comm: Communicator, shard: Shard) -> int:
    """Return the greatest size in bytes of all shards together for which every rank gathers and sorts all of them.

    The limit is `Communicator.small`, or with memory="low" (`Shard.overwrite`) a quarter of it.
    """
    return comm.small // 4 if shard.overwrite else comm.small


def _row(shard: Shard) -> int:
    """Return the size in bytes of a key and its value."""
    return row_bytes(shard.keys) + (0 if shard.values is None else row_bytes(shard.values))


def _sorted(shard: Shard, total: int, *, index: bool) -> Run:
    """Return the sorted keys of a shard, with values, or if `index` with their indices in the shard.

    total: the number of keys of all ranks, which determines the width of indices.
    """
    if index:
        return shard.local.sort_index(shard.keys, 0, total, overwrite=shard.overwrite)
    return shard.local.sort(shard.keys, shard.values, overwrite=shard.overwrite)


def _attempt(sort: Callable[[], Run]) -> Callable[[], Run]:
    """Call `sort` now; return a function that later returns its result, or raises its error."""
    try:
        run = sort()
    except Exception as e:
        error = e

        def fail() -> Run:
            raise error

        return fail
    return lambda: run


def _everywhere(comm: Communicator, of: Agreed, *, index: bool) -> Run:
    """Return the part of this rank: gather the shards of all ranks, sort all keys, and copy the part."""
    shard, local = of.shard, of.shard.local
    arrays = [shard.keys] if shard.values is None else [shard.keys, shard.values]
    keys, *values = comm.gather_arrays(arrays, of.lengths)
    if index:
        run = local.sort_index(keys, 0, of.total, overwrite=True)
    else:
        run = local.sort(keys, values[0] if values else None, overwrite=True)
    begin = sum(of.sizes[: comm.rank])
    return local.repeated(local.part(run, begin, begin + of.sizes[comm.rank]), 1)


def spread(
    comm: Communicator,
    local: Local,
    locally: Callable[[], Run],
    lengths: Sequence[int],
    sizes: Sequence[int],
    *,
    together: bool = False,
    chunks: int = 1,
    first: int = 0,
) -> Run:
    """Exchange the sorted keys of all ranks, and merge the received keys; return this rank's part.

    locally: a function that returns the sorted keys of this rank.  lengths: the number of keys of each rank.  sizes:
    the number of keys in each part.  together: whether all equal keys go to one rank; the sizes are then approximate.
    chunks: in how many chunks the exchange transfers each part (`Local.chunks`).  first: the global index of this
    rank's first key, to be added to its indices while the host waits for splitters; 0 adds nothing.
    """
    run, out, error = Run(None), None, None
    try:
        run = locally()
        if not together:
            out = local.room(run, sizes[comm.rank] + 2 * comm.size * chunks * (_unit(comm, run) - 1))
    except Exception as e:
        error = e
    parts = [n for size in sizes for n in _shares(size, chunks)]
    shift = (lambda: local.shift(run, first)) if first else None
    at = splitters.cuts_of_ranks(comm, local, run, lengths, parts, error, together=together, meanwhile=shift)
    if chunks > 1:
        assert out is not None
        return _overlapped(comm, local, run, at, out, chunks)
    out, spans = exchanged(comm, local, run, at, out, unit=_unit(comm, run))
    return local.merge(out, spans, run)


def _unit(comm: Communicator, run: Run) -> int:
    """Return the least number of items whose bytes are a multiple of `Communicator.unit`, in each array of the run.

    An index that is a multiple of this number is therefore an aligned address in each array.
    """
    return max(comm.unit // gcd(comm.unit, row_bytes(x)) for x in run.arrays)


def _shares(size: int, chunks: int) -> list[int]:
    """Return the sizes of the chunks of a part of `size` keys; no chunk is longer than the last."""
    return [*[size // chunks] * (chunks - 1), size - size // chunks * (chunks - 1)]


def _overlapped(comm: Communicator, local: Local, run: Run, at: Words, out: Run, chunks: int) -> Run:
    """Exchange a run in chunks, and merge each chunk while later chunks arrive; return this rank's part in `out`.

    at: the indices at which the run of each rank is cut, shape (ranks, ranks * chunks + 1).

    Merges need spare memory.  The merges of all but the last two chunks use the memory in `out` into which the last
    chunk arrives later.  The last two use the memory of `run`, which has then been sent.
    """
    unit = _unit(comm, run)
    layouts = layout(at, comm.rank, unit, chunks)
    last = layouts[-1][1]
    end = -(-last[-1][1] // unit) * unit

    def started(sent: list[Span], received: list[Span]) -> list[Callable[[], None]]:
        pairs = zip(run.arrays, out.arrays, strict=True)
        return [comm.exchange_later(x, sent, y, received) for x, y in pairs]

    merged, spare = 0, local.part(out, last[0][0], end)
    waits = [started(sent, received) for sent, received, _ in layouts[:-1]]
    for i, (_, _, spans) in enumerate(layouts):
        if i == chunks - 2:  # start the last exchange; after the waits below, all of `run` has been sent
            waits[i] += started(*layouts[-1][:2])
            waits.append([])
            spare = run
        for wait in waits[i]:
            wait()
        local.merge_within(out, spans, merged, spare)
        merged += sum(end - begin for begin, end in spans)
    return local.part(out, 0, merged)


def exchanged(
    comm: Communicator, local: Local, run: Run, at: Words, out: Run | None = None, *, unit: int = 1
) -> tuple[Run, list[Span]]:
    """Send parts of a run to all ranks; return the run that this rank receives, and the span of each rank's keys in it.

    at: the indices at which the run of each rank is cut, shape (ranks, ranks + 1).  out: memory for the result, or
    None to allocate it.  unit: parts begin and end at multiples of this number of items; see `layout`.  The spans may
    therefore have gaps between them.
    """
    ((sent, received, spans),) = layout(at, comm.rank, unit)
    if out is None:
        error = None
        try:
            out = local.room(run, -(-received[-1][1] // unit) * unit)
        except Exception as e:
            error = e
        agree(comm, error)
    assert out is not None
    for source, to in zip(run.arrays, out.arrays, strict=True):
        comm.exchange(source, sent, to, received)
    return out, spans


def layout(at: Words, rank: int, unit: int, chunks: int = 1) -> list[tuple[list[Span], list[Span], list[Span]]]:
    """Return for each chunk three lists of spans, with a span for each rank.

    The first list is what this rank sends to each rank.  The second is where it stores what each rank sends.  A
    transferred part begins at a multiple of `unit`, in the run of the sender and in the memory of the receiver.  For
    this, the part is extended by neighbouring keys that do not belong to it.  The third list has the spans, in the
    memory of this rank, of the keys that do belong to the parts.

    at: the indices at which the run of each rank is cut, shape (ranks, ranks * chunks + 1).  rank: this rank.
    """
    rows: list[list[int]] = at.tolist()  # the GPU waits for these few numbers; numpy would take three times as long
    place, chunked = 0, []
    for chunk in range(chunks):
        sent = [_extended(rows[rank], to * chunks + chunk, unit) for to in range(len(rows))]
        received, spans = [], []
        for row in rows:
            first, last = row[rank * chunks + chunk : rank * chunks + chunk + 2]
            begin, end = _extended(row, rank * chunks + chunk, unit)
            start = place + (first - begin if last > first else 0)
            received.append((place, place + end - begin))
            spans.append((start, start + last - first))
            place += -(-(end - begin) // unit) * unit
        chunked.append((sent, received, spans))
    return chunked


def _extended(row: Sequence[int], part: int, unit: int) -> Span:
    """Return the span of part number `part`, extended to multiples of `unit` or to the end of the run; an empty part
    stays empty.
    """
    begin, end = row[part] // unit * unit, row[part + 1]
    return begin, (min(-(-end // unit) * unit, row[-1]) if end > row[part] else begin)
