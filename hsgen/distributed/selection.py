"""The selection of the first k keys among the keys of all ranks; every rank gets the result."""

from __future__ import annotations

import numpy as np

from hsgen.distributed.communicator import Communicator, agree
from hsgen.distributed.local import Run
from hsgen.distributed.sorting import Agreed, exchanged


def top_k(comm: Communicator, of: Agreed, k: int) -> Run:
    """Return the first `k` keys of all ranks and their global indices; the result is the same on every rank.

    Every rank selects its own first k keys, receives the selected keys of all ranks, and merges them.
    """
    local, lengths = of.shard.local, of.lengths
    run, error = Run(None), None
    selected = [min(k, length) for length in lengths]
    number = selected[comm.rank]
    try:
        run = local.repeated(local.first(of.shard.keys, number, sum(lengths[: comm.rank])), comm.size)
    except Exception as e:
        error = e
    agree(comm, error)
    at = np.array([[rank * n for rank in range(comm.size + 1)] for n in selected], np.int64)
    out, spans = exchanged(comm, local, run, at)
    return local.part(local.merge(out, spans), 0, k)
