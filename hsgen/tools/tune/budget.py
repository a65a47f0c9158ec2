"""The time budget of a tuning: how many seconds each step may use.

Races get the fraction `RACES` of the budget, divided evenly among the tables to tune.  The end of the tuning
(`hsgen.tools.tune.ending`) gets the rest, divided evenly among the key widths.  For each key width, the end of the
tuning times the best tables against those of the target file, validates the winners, and measures crossovers.  Time
that a step does not use is available to later steps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

RACES = 0.6
LEAST = 30.0  # seconds of racing per table; if the budget allows less, only the first tables race
COMPARED = 0.45  # fraction of a key width's time that the comparison with the file's tables may use

Clock = Callable[[], float]


class Budget:
    """The time budget of one run, in seconds; `clock` returns the present time, also in seconds."""

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
        """Start the clock of the tuning's end; later calls do nothing."""
        if self._end is None:
            self._end = self.now() + self.seconds * (1 - RACES)

    def left(self, width: int | None = None, part: float = 1.0) -> float:
        """Return the seconds left for the end of the tuning, or for one key width in it.

        width: the index of a key width.  The result is then the time until this key width has used the fraction `part`
        of its share.
        """
        assert self._end is not None
        upto = 1.0 if width is None else (width + part) / self._widths
        return self._end - self.seconds * (1 - RACES) * (1 - upto) - self.now()


def enough(tables: int) -> float:
    """Return the least budget, in seconds, with which all of `tables` tables race."""
    return tables * LEAST / RACES


def roomy(seconds: float) -> str:
    """Return a time in the format of ``--budget``, rounded up to whole seconds or minutes."""
    return f"{math.ceil(seconds)}s" if seconds < 120 else f"{math.ceil(seconds / 60)}m"


def words(seconds: float) -> str:
    """Return a time in the format of ``--budget``, rounded to whole seconds, minutes or hours."""
    if seconds < 120:
        return f"{max(0, round(seconds))}s"
    return f"{round(seconds / 60)}m" if seconds < 7200 else f"{round(seconds / 3600)}h"
