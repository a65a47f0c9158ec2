"""The runs of a benchmark that are hsgen's own: sorts, and a copy.  The copy's bandwidth bounds the rates of sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.engines.engine import COUNT, KEYS, KEYS_OUT, OTHER, OTHER_VALUES, REPORT, VALUES, VALUES_OUT, Engine
from hsgen.operations.calls import Load
from hsgen.stages import attach
from hsgen.tools.bench.baselines import Run
from hsgen.tools.bench.baselines.baseline import copied, timed

SLOTS = (KEYS, KEYS_OUT, VALUES, VALUES_OUT, COUNT, OTHER, OTHER_VALUES, REPORT)
"""The buffers of an engine that `fill` may allocate."""
OWN = "hsgen"
COPY = "copy"


def fill(engine: Engine, work: Load) -> None:
    """Allocate an engine's buffers, and write the input of a call into them.

    Both buffers of keys are large enough for the keys and the values, because the benchmark's copy uses them.  Offsets
    of segments are written even if all segments have equal length, because baselines read offsets.
    """
    engine.allocate(KEYS_OUT, work.copied)
    _put(engine, KEYS, work.keys, work.copied)
    if work.values_expected is not None:
        each = work.values_expected.shape[1] * work.values_expected.itemsize
        engine.allocate(VALUES_OUT, max(work.values_expected.nbytes, work.room * each))
    offsets = None if work.offsets is None else work.offsets.astype(np.uint32)
    inputs = {VALUES: work.values, OTHER: work.other if offsets is None else offsets, OTHER_VALUES: work.other_values}
    inputs |= {COUNT: np.array([work.n], np.uint32) if work.how.device_count else None}
    for slot, array in inputs.items():
        if array is not None:
            _put(engine, slot, array)
    if room := _room(engine, work):
        engine.allocate(REPORT, room)


def _room(engine: Engine, work: Load) -> int:
    """Return the size in bytes of the report, such as run boundaries, that a sort writes; 0 if it writes none."""
    return 4 * attach.report_length(engine.sort, work.n)


def _put(engine: Engine, slot: int, array: NDArray[Any], size: int = 0) -> None:
    """Allocate a buffer of at least `size` bytes, and write an array to it."""
    engine.allocate(slot, max(array.nbytes, size))
    if array.nbytes:
        engine.write(slot, array)


def wipe(engine: Engine, work: Load) -> None:
    """Overwrite the outputs with the complement of the expected results, so that old results pass no check."""
    engine.write(KEYS_OUT, ~work.expected)
    if work.values_expected is not None:
        engine.write(VALUES_OUT, ~work.values_expected)
    if work.report is not None:
        engine.write(REPORT, ~work.report)


def _places(engine: Engine, work: Load) -> dict[str, tuple[int, int]]:
    """Return (buffer, byte offset) by role for a call.  A merge may have an empty array, which gets no buffer."""
    halves = work.other is not None
    places = {
        "source": (KEYS, len(work.keys) > 0 or not halves),
        "destination": (KEYS_OUT, len(work.expected) > 0 or work.count is None),
        "values": (VALUES, work.values is not None and (len(work.keys) > 0 or not halves)),
        "values_out": (VALUES_OUT, work.values_expected is not None and not work.counts),
        "count": (COUNT, work.how.device_count),
        "other": (OTHER, halves or (work.offsets is not None and not work.how.rows)),
        "other_values": (OTHER_VALUES, work.other_values is not None),
        "report": (REPORT, _room(engine, work) > 0),
    }
    if work.counts:
        places["other"] = VALUES_OUT, True
    return {role: (slot, 0) for role, (slot, plays) in places.items() if plays}


def sorting(engine: Engine, work: Load, name: str = OWN) -> Run:
    """Return the run of a sort of hsgen, out of place between device buffers.

    An untimed copy of the input precedes each sort, so that the contents of caches do not depend on the run before.  A
    merge has two input arrays, and the copy covers only the first.  Therefore an untimed merge precedes each merge
    instead.
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
    """Return the run of a copy of keys and values on the device; its bandwidth bounds the rates of sorts.

    An untimed copy precedes each timed copy, so that caches have the same contents as before a sort.
    """
    copy, device = timed(lambda: engine.copy(work.copied))
    return Run(
        name=COPY, prepare=lambda: copied(engine, work.copied), sort=copy, result=lambda: work.expected, device=device
    )
