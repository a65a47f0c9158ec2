"""The time of a tuning: how much of the budget each step may take.

Races get `RACES` of it, evenly by table.  The rest is for the end: each width of keys has an equal part of it, for its
comparison, its validation and its crossovers, in this order; what a step leaves is the next one's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

RACES = 0.6
LEAST = 30.0  # seconds; with less for each table, only the first tables race
COMPARED = 0.45  # of the part of a width: the end of its comparison

Clock = Callable[[], float]


class Budget:
    """The seconds of one run; `clock` returns the time."""

    def __init__(self, seconds: float, tables: int, widths: int, clock: Clock = time.monotonic) -> None:
        self.tables = max(1, min(tables, int(seconds * RACES // LEAST)))
        self.seconds, self.share = seconds, seconds * RACES / self.tables
        self._clock, self._widths = clock, widths
        self._end: float | None = None
        self._begin = clock()

    def now(self) -> float:
        """The seconds since the run began."""
        return self._clock() - self._begin

    def close(self) -> None:
        """Start the end, unless it has started."""
        if self._end is None:
            self._end = self.now() + self.seconds * (1 - RACES)

    def left(self, width: int | None = None, part: float = 1.0) -> float:
        """The seconds left for the end, or for a part of what key width number `width` has of it."""
        assert self._end is not None
        upto = 1.0 if width is None else (width + part) / self._widths
        return self._end - self.seconds * (1 - RACES) * (1 - upto) - self.now()


def enough(tables: int) -> float:
    """Return the seconds of a budget in which this number of tables race."""
    return tables * LEAST / RACES


def roomy(seconds: float) -> str:
    """Return a time that is no shorter, as people read it and as ``--budget`` takes it."""
    return f"{math.ceil(seconds)}s" if seconds < 120 else f"{math.ceil(seconds / 60)}m"


def words(seconds: float) -> str:
    """Return a time as people read it, and as ``--budget`` takes it if it is whole."""
    if seconds < 120:
        return f"{max(0, round(seconds))}s"
    return f"{round(seconds / 60)}m" if seconds < 7200 else f"{round(seconds / 3600)}h"
