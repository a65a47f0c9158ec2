"""The interface of baselines.  A baseline is set up for an input, checked, and then timed, alternating with others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.engines.engine import Engine
from hsgen.operations.inputs import Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A sort, or another operation, that a benchmark times.

    prepare: is called before each sort and is not timed.
    sort: is timed, and returns only when the sort is complete.  It returns its own time in seconds, or None if the
    caller must time the call.
    result: fetches the sorted keys.  values: fetches the values as rows of 32-bit words.  report: fetches the report.
    device: returns the seconds of the last sort by the device's clock; None if they were not measured.
    version: the version of the library, or None.
    stable: False if values of equal keys may be in any order.
    close: releases all resources.
    """

    name: str
    prepare: Callable[[], None]
    sort: Callable[[], float | None]
    result: Callable[[], Keys]
    values: Callable[[], NDArray[Any]] | None = None
    device: Callable[[], float | None] = lambda: None
    version: str | None = None
    report: Callable[[], NDArray[np.uint32]] | None = None
    stable: bool = True
    close: Callable[[], None] = lambda: None


Baseline = Callable[[Engine, Keys], Run]
"""A function that sets up a baseline for keys, and does not modify the keys.

If the baseline cannot run here, the function raises `Unavailable` with a message of one line.
"""

ValuedPeer = Callable[[Engine, Keys, NDArray[Any] | None], Run]
"""A function like `Baseline`, for keys with values (rows of 32-bit words).  For an argsort, the values are None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
    """Segments to sort.

    `values` are rows of 32-bit words, or None.  `offsets` has one offset more than there are segments.  With `rows`,
    all segments have equal length.  With `index`, the sort returns the original positions of the keys.
    """

    keys: Keys
    values: NDArray[Any] | None
    offsets: NDArray[np.int64]
    rows: bool
    index: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """Two sorted arrays to merge: the keys of both, and the values of both (rows of 32-bit words), or None."""

    keys: tuple[Keys, Keys]
    values: tuple[NDArray[Any], NDArray[Any]] | None


SegmentedPeer = Callable[[Engine, Segments], Run]
MergingPeer = Callable[[Engine, Halves], Run]


def timed(call: Callable[[], float | None]) -> tuple[Callable[[], None], Callable[[], float | None]]:
    """Return a function that performs `call`, and a function that returns the device seconds of the last call."""
    last: list[float | None] = [None]

    def sort() -> None:
        last[0] = call()

    return sort, lambda: last[0]


def copied(engine: Engine, size: int) -> None:
    """Copy `size` bytes of keys on the device, so that caches have the same contents before each sort."""
    engine.copy(size)
