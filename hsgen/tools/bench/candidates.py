"""What takes turns in a benchmark beside peers: hsgen's sorts, and the copy that they are held against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.engines.engine import COUNT, KEYS, KEYS_OUT, OTHER, OTHER_VALUES, REPORT, VALUES, VALUES_OUT, Engine
from hsgen.operations.calls import Load
from hsgen.stages import attach
from hsgen.tools.bench.baselines import Run
from hsgen.tools.bench.baselines.baseline import copied, timed

OWN = "hsgen"
COPY = "copy"


def fill(engine: Engine, work: Load) -> None:
    """Make the buffers, and write what is sorted; those of keys also hold what a copy of all moves.

    Offsets are there of rows as well: peers read them.
    """
    engine.allocate(KEYS_OUT, work.copied)
    _put(engine, KEYS, work.keys, work.copied)
    if work.values_expected is not None:
        engine.allocate(VALUES_OUT, work.values_expected.nbytes)
    offsets = None if work.offsets is None else work.offsets.astype(np.uint32)
    given = {VALUES: work.values, OTHER: work.other if offsets is None else offsets, OTHER_VALUES: work.other_values}
    given |= {COUNT: np.array([work.n], np.uint32) if work.how.device_count else None}
    for slot, array in given.items():
        if array is not None:
            _put(engine, slot, array)
    if room := _room(engine, work):
        engine.allocate(REPORT, room)


def _room(engine: Engine, work: Load) -> int:
    """The bytes of what a sort tells besides; 0 where it tells nothing."""
    return 4 * attach.report_length(engine.sort, work.n)


def _put(engine: Engine, slot: int, array: NDArray[Any], size: int = 0) -> None:
    """Make a buffer of an array, or of more bytes than it has."""
    engine.allocate(slot, max(array.nbytes, size))
    if array.nbytes:
        engine.write(slot, array)


def wipe(engine: Engine, work: Load) -> None:
    """Write what no sort makes of the load to where results go."""
    engine.write(KEYS_OUT, ~work.expected)
    if work.values_expected is not None:
        engine.write(VALUES_OUT, ~work.values_expected)
    if work.report is not None:
        engine.write(REPORT, ~work.report)


def _places(engine: Engine, work: Load) -> dict[str, tuple[int, int]]:
    """The buffers by their roles; of two arrays the one that is empty plays none."""
    halves = work.other is not None
    given = {
        "source": (KEYS, len(work.keys) > 0 or not halves),
        "destination": (KEYS_OUT, True),
        "values": (VALUES, work.values is not None and (len(work.keys) > 0 or not halves)),
        "values_out": (VALUES_OUT, work.values_expected is not None),
        "count": (COUNT, work.how.device_count),
        "other": (OTHER, halves or (work.offsets is not None and not work.how.rows)),
        "other_values": (OTHER_VALUES, work.other_values is not None),
        "report": (REPORT, _room(engine, work) > 0),
    }
    return {role: (slot, 0) for role, (slot, plays) in given.items() if plays}


def sorting(engine: Engine, work: Load, name: str = OWN) -> Run:
    """A sort of hsgen, from one device buffer into another.

    Its buffers are copied before each sort, untimed, so that caches hold the same of every engine whoever was before.
    Two arrays are merged once instead, since a copy is of the first alone.
    """
    places = _places(engine, work)
    sort, device = timed(lambda: engine.run(work.n, places, work.how))

    def read(slot: int, like: NDArray[Any] | None) -> Any:
        out = np.empty_like(like)
        engine.read(slot, out)
        return out

    return Run(
        name=name,
        prepare=sort if work.other is not None else lambda: copied(engine, work.copied),
        sort=sort,
        result=lambda: read(KEYS_OUT, work.expected),
        values=lambda: read(VALUES_OUT, work.values_expected),
        report=lambda: read(REPORT, work.report),
        device=device,
        version=None if name == OWN else engine.sort.name,
    )


def copying(engine: Engine, work: Load) -> Run:
    """A copy of keys and values on the device: the bandwidth that sorts are held against.

    One copy goes untimed before each timed one, so that caches hold the keys as they do during a sort.
    """
    copy, device = timed(lambda: engine.copy(work.copied))
    return Run(
        name=COPY, prepare=lambda: copied(engine, work.copied), sort=copy, result=lambda: work.expected, device=device
    )
