"""The tasks of sorts of Dask arrays; workers run them.  Keys travel as ordered keys, unsigned numbers in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.distributed.local import Run
from hsgen.distributed.numpy_local import NumpyLocal


def sorted_chunk(keys: Any, local: NumpyLocal, first: int | None) -> Run:
    """Return the keys of a chunk in order, with their global indices unless `first` is None.

    first: the global index of the first key.
    """
    return local.sort(keys, None) if first is None else local.sort_index(keys, first, 0, overwrite=False)


def first_of_chunk(keys: Any, local: NumpyLocal, k: int, first: int) -> Run:
    """Return the first `k` keys of a chunk, with their global indices."""
    return local.first(keys, k, first)


def ends(run: Run, local: NumpyLocal) -> tuple[int, int]:
    """Return the first and the last ordered key."""
    return local.ends(run)


def below(run: Run, local: NumpyLocal, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the number of keys below each probe."""
    return local.below(run, probes)


def piece(run: Run, local: NumpyLocal, begin: int, end: int) -> Run:
    """Return a part of a chunk; a copy, so that the chunk can be freed."""
    part = local.part(run, begin, end)
    return Run(part.keys.copy(), tuple(x.copy() for x in part.columns))


def merged(pieces: Sequence[Run], local: NumpyLocal) -> Run:
    """Return the pieces of a part as one run in order."""
    keys, *columns = (np.concatenate(x) for x in zip(*(p.arrays for p in pieces), strict=True))
    return local.merge(Run(keys, tuple(columns)), [(0, len(keys))])


def keys_of(run: Run, local: NumpyLocal, dtype: Any) -> Any:
    """Return the keys of a part."""
    return local.restored(run.keys, dtype)


def index_of(run: Run) -> Any:
    """Return the global indices of a part."""
    return run.columns[0]


def head(run: Run, k: int) -> Run:
    """Return the first `k` keys of a run."""
    return Run(run.keys[:k], tuple(x[:k] for x in run.columns))
