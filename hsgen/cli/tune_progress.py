"""Shows the progress of ``hsgen tune`` on stderr: the phase, the elapsed time, and the time left.

On a terminal, this is a bar.  On other streams, each step gets a line.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from hsgen.cli import terminal
from hsgen.cli.progress import EVERY
from hsgen.tools.tune.budget import words

if TYPE_CHECKING:
    from rich import progress

NOTES = ("skip", "found")
"""The phases that take no time: "skip" reports a skipped step, and "found" a result."""
BAR = 20
"""The width of the bar in columns; the text next to it uses the remaining columns, and is folded if it is longer."""


class _Bar:
    """A progress bar of rich, with a text.

    The bar is not drawn by a thread, which would disturb measurements on a CPU.
    """

    def __init__(self, shown: progress.Progress) -> None:
        self._shown, self._task = shown, shown.add_task("")
        self._last = -EVERY

    def draw(self, elapsed: float, length: float, text: str) -> None:
        """Draw the bar at `elapsed` of `length` seconds."""
        self._shown.update(self._task, completed=elapsed, total=length, description=text)
        if (now := time.monotonic()) - self._last >= EVERY:
            self._last = now
            self._shown.refresh()

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        self._shown.console.print(text)


class Progress:
    """Shows the steps of a tuning; without a bar, each step gets a line.  The budget is in seconds."""

    def __init__(self, budget: float, bar: _Bar | None = None) -> None:
        self._budget = self._length = budget
        self._begin, self._bar = time.monotonic(), bar
        self._step, self._inner = "", ""

    def show(self, phase: str, text: str, left: float) -> None:
        """Show a step; `left` is the time in seconds for this step and all later steps."""
        elapsed = time.monotonic() - self._begin
        self._length = max(self._budget, elapsed + max(left, 0.0))
        if phase not in NOTES:
            self._step, self._inner = f"{phase}: {text}", ""
        if self._bar is None:
            eta = "" if phase in NOTES else f"; about {words(left)} left"
            click.echo(f"{elapsed:6.0f} s  {phase}: {text}{eta}", err=True)
        elif phase in NOTES:
            self._bar.note(f"{phase}: {text}")
        self.beat("")

    def beat(self, inner: str) -> None:
        """Update the elapsed time; if `inner` is not empty, it describes the part of the step that runs now."""
        self._inner = inner or self._inner
        if self._bar is not None:
            elapsed = min(time.monotonic() - self._begin, self._length)
            parts = (self._step, self._inner, f"about {words(self._length - elapsed)} left")
            self._bar.draw(elapsed, self._length, ", ".join(x for x in parts if x))


@contextmanager
def showing(budget: float) -> Iterator[Progress]:
    """Show the progress of a tuning while the block runs.

    If stderr is a terminal that can move its cursor, there is a bar; otherwise each step gets a line.
    """
    if not terminal.is_terminal(sys.stderr) or terminal.is_dumb():
        yield Progress(budget)
        return
    from rich import progress
    from rich.table import Column

    text = progress.TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, overflow="fold"))
    columns = (progress.TextColumn("tuning"), progress.BarColumn(BAR), progress.TaskProgressColumn(), text)
    console = terminal.console(sys.stderr)
    with progress.Progress(
        *columns, console=console, auto_refresh=False, transient=True, redirect_stdout=False, expand=True
    ) as shown:
        yield Progress(budget, _Bar(shown))
