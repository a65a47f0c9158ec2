"""The time of a tuning: the part of the budget that each step may use.

Races get the fraction `RACES` of the budget, divided evenly among the tables.  The rest is for the end, divided evenly
among the key widths.  Each key width is compared, then validated, then its crossovers are measured.  A step may use the
time that an earlier step left.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

RACES = 0.6
LEAST = 30.0  # seconds; with less for each table, only the first tables race
COMPARED = 0.45  # fraction of a key width's time after which its comparison ends

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
        """Return the seconds left for the end, or until key width number `width` has used `part` (0 to 1) of its
        share."""
        assert self._end is not None
        upto = 1.0 if width is None else (width + part) / self._widths
        return self._end - self.seconds * (1 - RACES) * (1 - upto) - self.now()


def enough(tables: int) -> float:
    """Return the least budget, in seconds, in which `tables` tables race."""
    return tables * LEAST / RACES


def roomy(seconds: float) -> str:
    """Return a time in the format of ``--budget``, rounded up to whole seconds or minutes."""
    return f"{math.ceil(seconds)}s" if seconds < 120 else f"{math.ceil(seconds / 60)}m"


def words(seconds: float) -> str:
    """Return a time in the format of ``--budget``, rounded to whole seconds, minutes or hours."""
    if seconds < 120:
        return f"{max(0, round(seconds))}s"
    return f"{round(seconds / 60)}m" if seconds < 7200 else f"{round(seconds / 3600)}h"
