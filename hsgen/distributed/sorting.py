"""The protocol of a sort over ranks: sort locally, find exact splitters, exchange once, merge.

    compare arguments -> sort -> agree -> cut -> exchange -> merge

Before each phase with waiting, ranks exchange a status word, so that an error of one rank is an error of all.
Results are stable: equal keys are in the order of ranks, and of places within a rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsgen.core.errors import Usage
from hsgen.distributed import splitters
from hsgen.distributed.communicator import Communicator, Words, agree, compare
from hsgen.distributed.local import Local, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """The arguments of one rank after its own checks.

    length: the number of keys.  size: the requested number of keys of the result, or None for an even share.  facts:
    what must be equal on every rank, by the name of the argument.
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
    """A shard whose ranks agree on their arguments; `lengths` and `sizes` are those of every rank."""

    shard: Shard
    lengths: list[int]
    sizes: list[int]

    @property
    def total(self) -> int:
        """The number of keys of all ranks."""
        return sum(self.lengths)


def agreed(comm: Communicator, check: Callable[[], Shard]) -> Agreed:
    """Return the shard that `check` returns, after a comparison of the arguments of all ranks.

    Raises:
        Exception: the error of `check`; on the ranks without an error, `Wrong`.
        Usage: arguments differ, or the sizes do not add up to the number of keys.
    """
    shard, error = None, None
    try:
        shard = check()
    except Exception as e:
        error = e
    words = [0, 0] if shard is None else [shard.length, -1 if shard.size is None else shard.size]
    rows = compare(comm, error, words, {} if shard is None else shard.facts)
    assert shard is not None
    lengths, sizes = [int(x) for x in rows[:, 0]], [int(x) for x in rows[:, 1]]
    absent = [rank for rank, size in enumerate(sizes) if size < 0]
    if len(absent) == comm.size:
        sizes = splitters.even(sum(lengths), comm.size)
    elif absent:
        raise Usage(f"size: absent on rank {absent[0]}, but not on every rank; give the size of every rank or of none")
    elif sum(sizes) != sum(lengths):
        raise Usage(f"size: the sizes of all ranks add up to {sum(sizes)}, the keys to {sum(lengths)}; give equal sums")
    return Agreed(shard=shard, lengths=lengths, sizes=sizes)


def sort(comm: Communicator, of: Agreed, *, index: bool = False) -> Run:
    """Return this rank's part of the sorted keys of all ranks, with values, or with global indices if `index`."""
    shard = of.shard

    def locally() -> Run:
        if index:
            first = sum(of.lengths[: comm.rank])
            return shard.local.sort_index(shard.keys, first, of.total, overwrite=shard.overwrite)
        return shard.local.sort(shard.keys, shard.values, overwrite=shard.overwrite)

    return spread(comm, shard.local, locally, of.sizes)


def spread(
    comm: Communicator, local: Local, locally: Callable[[], Run], sizes: Sequence[int], *, together: bool = False
) -> Run:
    """Return this rank's part of the keys of all ranks, merged; `locally` returns the sorted keys of this rank.

    sizes: the sizes of the parts.  together: equal keys are not cut, and the sizes are approximate.
    """
    run, out, error = Run(None), None, None
    try:
        run = locally()
        out = None if together else local.room(run, sizes[comm.rank])
        ends = local.ends(run)
    except Exception as e:
        error, ends = e, (0, 0)
    words = [*np.array(ends, np.uint64).view(np.int64).tolist(), 0 if error else len(run)]
    rows = agree(comm, error, words)
    least, greatest = (np.ascontiguousarray(rows[:, i]).view(np.uint64) for i in (0, 1))
    cut = splitters.cuts_between_keys if together else splitters.cuts
    counts = splitters.RankCounts(comm, lambda probes: local.below(run, probes))
    at = cut(counts, rows[:, 2].tolist(), sizes, int(least.min()), int(greatest.max()))
    out, received = exchanged(comm, local, run, at, out)
    return local.merge(out, received, run)


def exchanged(comm: Communicator, local: Local, run: Run, at: Words, out: Run | None = None) -> tuple[Run, list[int]]:
    """Send parts of a run to the ranks; return what this rank receives, and the number of keys from each rank.

    at: the places at which the run of each rank is cut, shape (ranks, ranks + 1).  out: memory for the result, or None.
    """
    counts = np.diff(at, axis=1)
    sent, received = counts[comm.rank].tolist(), counts[:, comm.rank].tolist()
    if out is None:
        error = None
        try:
            out = local.room(run, sum(received))
        except Exception as e:
            error = e
        agree(comm, error)
    assert out is not None
    for source, to in zip(run.arrays, out.arrays, strict=True):
        comm.exchange(source, sent, to, received)
    return out, received
