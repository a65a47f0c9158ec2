"""Distinct keys of all ranks, and reductions of values by key.

Every rank first groups its own keys.  In an exchange, each rank receives all groups with keys in a range, so that equal
keys meet on one rank.  Each rank merges and reduces the groups that it receives.  A last exchange moves groups between
ranks, so that the numbers of groups of any two ranks differ by at most one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hsgen.distributed import splitters
from hsgen.distributed.communicator import Communicator, agree
from hsgen.distributed.local import Local, Run
from hsgen.distributed.sorting import Agreed, exchanged, spread


def group_by(comm: Communicator, of: Agreed, reduction: str) -> Run:
    """Return this rank's part of the distinct keys of all ranks.

    The columns of the run are how often each key occurs and, if there are values, the reduced values.
    """
    shard, local = of.shard, of.shard.local
    run, error = Run(None), None
    try:
        run = reduced(local, local.sort(shard.keys, shard.values, zeros=True), reduction, counted=False)
    except Exception as e:
        error = e
    numbers = agree(comm, error, [0 if run.keys is None else len(run)])
    lengths = [int(x) for x in numbers[:, 0]]
    met = spread(comm, local, lambda: run, lengths, splitters.even(sum(lengths), comm.size), together=True)
    error = None
    try:
        run = reduced(local, met, reduction, counted=True)
    except Exception as e:
        error = e
    numbers = agree(comm, error, [len(run)])
    return dealt(comm, local, run, [int(x) for x in numbers[:, 0]])


def reduced(local: Local, run: Run, reduction: str, *, counted: bool) -> Run:
    """Return the distinct keys of a run in order, with their counts and reduced values as columns.

    counted: whether the first column of the run has counts of keys that were grouped before; the counts of equal keys
    are then added up.
    """
    groups = local.groups(run)
    counts, starts = groups.columns
    columns: list[Any] = [local.reduce(run.columns[0], starts, counts, "sum") if counted else counts]
    columns += [local.reduce(x, starts, counts, reduction) for x in run.columns[int(counted) :]]
    return Run(groups.keys, tuple(columns))


def dealt(comm: Communicator, local: Local, run: Run, lengths: list[int]) -> Run:
    """Exchange runs that together are already sorted; return this rank's part.  Lengths of parts differ by at most one.

    lengths: the number of keys in the run of each rank.
    """
    firsts = np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))])
    bounds = np.array([0, *splitters.places(splitters.even(sum(lengths), comm.size)), sum(lengths)], np.int64)
    at = np.clip(bounds[None, :] - firsts[:-1, None], 0, np.array(lengths, np.int64)[:, None])
    return exchanged(comm, local, run, at)[0]
