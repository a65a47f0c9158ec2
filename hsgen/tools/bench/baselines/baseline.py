"""What a peer is to a benchmark: set up once for a count and a key type, then checked, then timed in turns."""

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
    """One way to sort: `prepare` is not timed, `sort` is and ends when the result is there; `result` fetches the
    keys, `values` the values as rows of 32-bit words, where a benchmark has some.

    `sort` returns the seconds that it took, or None where the caller is to time the call.  `device` returns those that
    the last sort took on the device, None where nobody measured them.  `version` is that of the library that sorts,
    None where it has none.  `report` fetches what a sort tells besides, if it tells anything.  Where it is not
    `stable`, values of equal keys may come in any order.  `close` releases what the run holds.
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


Peer = Callable[[Engine, Keys], Run]
"""Sets a peer up for keys, which it does not change.  Raises Unavailable, with one line, where it cannot run here."""

ValuedPeer = Callable[[Engine, Keys, NDArray[Any] | None], Run]
"""The same with values, rows of words; None for an argsort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
    """Segments to sort: keys, values as rows of words or None, the offsets, one more than there are segments, whether
    all are rows of equal length, and whether the places that keys had are wanted."""

    keys: Keys
    values: NDArray[Any] | None
    offsets: NDArray[np.int64]
    rows: bool
    index: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """Two arrays in order to merge: keys of both, and values of both as rows of words or None."""

    keys: tuple[Keys, Keys]
    values: tuple[NDArray[Any], NDArray[Any]] | None


SegmentedPeer = Callable[[Engine, Segments], Run]
MergingPeer = Callable[[Engine, Halves], Run]


def timed(call: Callable[[], float | None]) -> tuple[Callable[[], None], Callable[[], float | None]]:
    """Return a sort that calls an engine, and what tells the time that this took on the device."""
    last: list[float | None] = [None]

    def sort() -> None:
        last[0] = call()

    return sort, lambda: last[0]


def copied(engine: Engine, size: int) -> None:
    """Copy that many bytes of keys on the device, so that caches hold them whoever sorted before."""
    engine.copy(size)
