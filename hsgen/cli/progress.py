"""Progress of long commands on stderr: a bar on a terminal, otherwise a plain line from time to time."""

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
"""Seconds until the first line of progress without a terminal; the time doubles after each line."""
EVERY = 0.1
"""The least time between two drawings of a bar, in seconds."""


def progress(label: str, length: int) -> Callable[[Iterator[T]], Iterator[T]]:
    """Return a wrapper that shows the progress of an iteration of `length` items."""

    def wrap(items: Iterator[T]) -> Iterator[T]:
        with bar(label, length) as report:
            for done, item in enumerate(items, 1):
                yield item
                report(done)

    return wrap


@contextmanager
def bar(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """Show the progress of `label` while a block runs; the block receives a function that reports the number done."""
    if terminal.is_terminal(sys.stderr) and not terminal.is_dumb():
        with _drawn(label, length) as report:
            yield report
    else:
        lines = _lines()
        yield lambda done: lines.report(label, done, length)


@contextmanager
def _drawn(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """Draw a bar, which disappears at the end.

    No thread draws the bar, because a thread would disturb measurements of sorts on a CPU.
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
    """The plain lines of a command; the time between lines doubles."""

    begin: float = field(default_factory=time.monotonic)
    after: float = FIRST

    def report(self, label: str, done: int, length: int) -> None:
        """Print a line if the next line is due."""
        passed = time.monotonic() - self.begin
        if passed >= self.after:
            while self.after <= passed:
                self.after *= 2
            click.echo(f"hsgen: {label}: {done} of {length} done after {passed:.0f} s", err=True)


def _lines() -> _Lines:
    """Return the lines of the running command."""
    context = click.get_current_context(silent=True)
    lines = context.meta.setdefault(__name__, _Lines()) if context else _Lines()
    assert isinstance(lines, _Lines)
    return lines
