"""The progress of ``hsgen tune`` on stderr: phases, elapsed time, and the time that is left.

On a terminal a bar shows the time, the phase and the best result so far; elsewhere each step is a line.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from hsgen.tools.tune.budget import words


class Progress:
    """Shows steps of a tuning, whose budget is in seconds."""

    def __init__(self, budget: float, bar: Any) -> None:
        self._budget, self._bar, self._begin = budget, bar, time.monotonic()
        self._step = ("", "")
        self._inner = ""

    def show(self, phase: str, text: str, left: float) -> None:
        """Show a step: its phase, what it is about, and the seconds that are left for it and all that follows."""
        end = time.monotonic() - self._begin + max(left, 0.0)
        if phase not in ("skip", "found"):
            self._step, self._inner = (phase, text), ""
        if not sys.stderr.isatty():
            elapsed = time.monotonic() - self._begin
            eta = "" if phase in ("skip", "found") else f"; about {words(left)} left"
            click.echo(f"{elapsed:6.0f} s  {phase}: {text}{eta}", err=True)
        elif phase in ("skip", "found"):
            click.echo(f"\r{phase}: {text}", err=True)
        self._bar.length = max(1, math.ceil(max(self._budget, end)))
        self.beat("")

    def beat(self, inner: str) -> None:
        """Show that time has passed, and the part of the step that runs, if that is known."""
        self._inner = inner or self._inner
        now = min(int(time.monotonic() - self._begin), self._bar.length - 1)
        self._bar.update(max(now - self._bar.pos, 0), self.line())

    def line(self) -> str:
        """Return the current step, its part, and the time that is left."""
        left = self._bar.length - (time.monotonic() - self._begin)
        parts = [": ".join(x for x in self._step if x), self._inner, f"about {words(left)} left"]
        return ", ".join(x for x in parts if x)


@contextmanager
def showing(budget: float) -> Iterator[Progress]:
    """Show the progress of a tuning; where stderr is no terminal, a line for each step."""
    shown: Any = click.progressbar(
        length=max(1, math.ceil(budget)), label="tuning", file=sys.stderr, item_show_func=lambda x: x, show_eta=False
    )
    with shown as bar:
        yield Progress(budget, bar)
