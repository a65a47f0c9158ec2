"""Shows the progress of long commands on stderr: on a terminal as a bar, otherwise as an occasional line of text."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import click

from hsgen.cli import terminal

T = TypeVar("T")

FIRST = 30.0
"""If stderr is no terminal, the time of the first line in seconds; further lines come at 60, 120, 240 s and so on."""
EVERY = 0.1
"""The least time between two drawings of a bar, in seconds."""


def progress(label: str, length: int) -> Callable[[Iterator[T]], Iterator[T]]:
    """Return a wrapper for an iterator of `length` items, which shows the progress of the iteration."""

    def wrap(items: Iterator[T]) -> Iterator[T]:
        with bar(label, length) as report:
            for done, item in enumerate(items, 1):
                yield item
                report(done)

    return wrap


@contextmanager
def bar(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """Show progress while the block runs; the block receives a function to call with the number of finished steps.

    label: the name of the work.  length: the number of all steps.
    """
    if terminal.is_terminal(sys.stderr) and not terminal.is_dumb():
        with _drawn(label, length) as report:
            yield report
    else:
        lines = _lines()
        yield lambda done: lines.report(label, done, length)


@contextmanager
def _drawn(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """Draw a bar while the block runs; the bar disappears at the end.

    The bar is drawn in the calls that report progress, and not by a thread, which would disturb measurements on a CPU.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = terminal.console(sys.stderr)
    with Progress(*columns, console=console, auto_refresh=False, transient=True, redirect_stdout=False) as shown:
        task, last = shown.add_task(label, total=length), -EVERY
        shown.refresh()

        def report(done: int) -> None:
            nonlocal last
            shown.update(task, completed=done)
            if (now := time.monotonic()) - last >= EVERY or done >= length:
                last = now
                shown.refresh()

        yield report


@dataclass(slots=True)
class _Lines:
    """Prints the progress of a command as lines of text; the time between two lines doubles."""

    begin: float = field(default_factory=time.monotonic)
    after: float = FIRST

    def report(self, label: str, done: int, length: int) -> None:
        """Print a line if it is time for the next line."""
        passed = time.monotonic() - self.begin
        if passed >= self.after:
            while self.after <= passed:
                self.after *= 2
            click.echo(f"hsgen: {label}: {done} of {length} done after {passed:.0f} s", err=True)


def _lines() -> _Lines:
    """Return the `_Lines` object of the running command, which all its progress displays share."""
    context = click.get_current_context(silent=True)
    lines = context.meta.setdefault(__name__, _Lines()) if context else _Lines()
    assert isinstance(lines, _Lines)
    return lines
