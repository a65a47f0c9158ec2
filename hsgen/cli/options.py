"""Options and parameter types that several commands share."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from hsgen.core.errors import Unavailable, Wrong
from hsgen.system import processes

T = TypeVar("T")
_UNITS = {"s": 1, "m": 60, "h": 3600}

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
require_option = click.option("--require", is_flag=True, help="Exit with 1, not 3, where this machine cannot answer.")
seed_option = click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of random keys.")


def gathered(
    name: str, build: Callable[..., Any], *options: Callable[[Callable[..., T]], Callable[..., T]]
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Return a decorator that adds options to a command, and passes their values to it as one object.

    The command receives the object as its argument `name`.  `build` constructs it; its parameters have the names of the
    options.  A parameter may also be an argument that a decorator above this one adds.
    """
    words = tuple(inspect.signature(build).parameters)

    def decorated(command: Callable[..., T]) -> Callable[..., T]:
        @wraps(command)
        def call(**values: Any) -> T:
            return command(**{name: build(**{word: values.pop(word) for word in words})}, **values)

        for option in reversed(options):
            call = option(call)
        return call

    return decorated


class Folder(click.Path):
    """The path of a folder; the command checks that the folder exists when it opens it."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; click reports an invalid path."""
        try:
            return super().convert(value, param, ctx)
        except ValueError:  # a NUL, or a character that the file system's encoding lacks
            self.fail(f"{str(value)[:100]!r} cannot be a path; name another", param, ctx)


class Count(click.ParamType):  # type: ignore[type-arg]  # (generic since click 8.5 only)
    """A number of keys: 1000 or 2^20."""

    name = "count"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; click reports an invalid number."""
        if isinstance(value, int):
            return value
        count = parse_count(str(value))
        if count is None:
            self.fail(f"'{value}' is no count; write for example 1000 or 2^20", param, ctx)
        return count


def parse_count(text: str) -> int | None:
    """Parse a count, which is a number or a power such as 2^16; return None if the text is not a count."""
    match = re.fullmatch(r"(?:2\^(\d{1,2})|(\d{1,19}))", text.strip())
    if match is None:
        return None
    return 1 << int(match[1]) if match[1] else int(match[2])


class Seconds(click.FloatRange):
    """A time in seconds; the greatest time is the longest that the system can wait."""

    def __init__(self) -> None:
        super().__init__(0, processes.LONGEST, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; click reports an invalid number."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail(f"{value} is no number", param, ctx)
        return seconds


class Duration(click.ParamType):  # type: ignore[type-arg]  # (generic since click 8.5 only)
    """A time with a unit: 90s, 10m, 2h."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; click reports an invalid time."""
        text = str(value).strip()
        if re.fullmatch(r"\d{1,6}(\.\d+)?", text):
            self.fail(f"'{text}' has no unit; write {text}s, {text}m or {text}h", param, ctx)
        match = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)([smh])", text)
        if match is None or float(match[1]) <= 0:
            self.fail(f"'{value}' is no time; write for example 90s, 10m or 2h", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


@contextmanager
def required(require: bool) -> Iterator[None]:
    """With --require, turn an `Unavailable` error of the block into `Wrong`: the exit code is then 1 instead of 3."""
    try:
        yield
    except Unavailable as e:
        if require:
            raise Wrong(*e.lines) from None
        raise
