"""The interface of baselines.  A baseline is set up for a count and a key type, then checked, then timed in turns."""

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

    `prepare` runs before each sort and is not timed.  `sort` is timed.  It ends when the result is complete, and
    returns its seconds, or None if the caller should time the call.  `result` fetches the keys, `values` the values as
    rows of 32-bit words, and `report` the report.  `device` returns the device seconds of the last sort, or None if
    not measured.  `version` is the version of the library, or None.  If not `stable`, values of equal keys may be in
    any order.  `close` releases all resources.
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
"""A function that sets up a baseline for keys, without modifying them.

It raises Unavailable, with one line, if the baseline cannot run here.
"""

ValuedPeer = Callable[[Engine, Keys, NDArray[Any] | None], Run]
"""A `Baseline` for keys with values, rows of words; None for an argsort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
    """Segments to sort: keys, values as rows of words or None, and offsets (the number of segments + 1).

    `rows`: all segments have equal length.  `index`: the sort returns the original positions of the keys.
    """

    keys: Keys
    values: NDArray[Any] | None
    offsets: NDArray[np.int64]
    rows: bool
    index: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """Two sorted arrays to merge: keys of both, and values of both as rows of words or None."""

    keys: tuple[Keys, Keys]
    values: tuple[NDArray[Any], NDArray[Any]] | None


SegmentedPeer = Callable[[Engine, Segments], Run]
MergingPeer = Callable[[Engine, Halves], Run]


def timed(call: Callable[[], float | None]) -> tuple[Callable[[], None], Callable[[], float | None]]:
    """Return a sort that calls an engine, and a function that returns its device time."""
    last: list[float | None] = [None]

    def sort() -> None:
        last[0] = call()

    return sort, lambda: last[0]


def copied(engine: Engine, size: int) -> None:
    """Copy `size` bytes of keys on the device, so that caches hold them regardless of the previous sort."""
    engine.copy(size)
