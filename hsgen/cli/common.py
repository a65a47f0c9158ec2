"""What several commands share: options, tables, JSON, progress."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import click

from hsgen.bundle.manifest import Choice, choose
from hsgen.core.errors import Unavailable, Usage, Wrong, printable
from hsgen.core.keys import FEATURES, ORDERS, TYPES, VALUES
from hsgen.core.sort import Sort
from hsgen.stages.epilogue import parsed
from hsgen.targets.target import Target

T = TypeVar("T")

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
require_option = click.option("--require", is_flag=True, help="Exit with 1, not 3, where this machine cannot answer.")
seed_option = click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of random keys.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The sorts that a command line asks for, as it names them; what it leaves out is empty."""

    keys: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    epilogue: str = ""

    def __bool__(self) -> bool:
        return bool(self.keys or self.values or self.orders or self.features or self.epilogue)

    def choice(self, target: Target, apis: Iterable[str] = (), algorithms: Iterable[str] = ()) -> Choice:
        """Return what of a target these names choose.

        Raises:
            Usage: the target has nothing of a name.
        """
        more = {"values": self.values, "orders": self.orders, "features": self.features}
        return choose(target, self.keys, apis, algorithms, **more, epilogue=self.epilogue)

    def sorts(self, target: Target, algorithms: Iterable[str] = ()) -> list[Sort]:
        """Return the sorts of every label that a target has, or of those named, as far as they serve what is wanted.

        Raises:
            Usage: there is none.
        """
        named = tuple(algorithms)
        choice = self.choice(target, (), named)
        out: dict[str, Sort] = {}
        why = Usage(f"target {target.name}: has no such sort; `hsgen targets` lists what it has")
        for key, value in product(choice.widths, choice.values):
            for label in [*target.labels(key), *target.derived(key)]:
                if label in (named or target.labels(key)):
                    try:
                        sort = target.sort(label, key, choice.signature(value))
                    except Usage as e:
                        why = e
                    else:
                        out[sort.file] = sort
        if not out:
            raise why
        return list(out.values())


_OPTIONS = (
    click.option(
        "--key",
        "keys",
        multiple=True,
        type=click.Choice(list(TYPES)),
        metavar="TYPE",
        help=f"Sort keys of this type: {' '.join(TYPES)}; by default those that the target has tables for.",
    ),
    click.option(
        "--value",
        "values",
        multiple=True,
        type=click.Choice(list(VALUES)),
        metavar="NAME",
        help="What moves along with each key: none (the default); a value of 4, 8 or 16 bytes (v4 v8 v16); the key's "
        "index (index, index64: an argsort); or packed, the lower half of a 64-bit word.",
    ),
    click.option(
        "--order",
        type=click.Choice([*ORDERS, "both"]),
        help="Ascending by default; descending and both generate the same sort, which serves either order.",
    ),
    click.option(
        "--feature",
        "features",
        multiple=True,
        type=click.Choice(list(FEATURES)),
        help="range: sort by a bit range chosen per call; count: take the key count from device memory; changes: "
        "report where runs of equal keys start.",
    ),
    click.option(
        "--epilogue",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A template whose macro `epilogue` is called for every sorted key (docs/guides/epilogue.md).",
    ),
)


def fragment(path: Path) -> str:
    """Return the text of an epilogue, its lines ended as in all that is generated.

    Raises:
        Usage: the file cannot be read, or holds no epilogue.
        Unavailable: no process can be started that renders it.
    """
    try:
        text = "".join(f"{line}\n" for line in path.read_text(encoding="utf-8").splitlines())
    except OSError as e:
        raise Usage(f"{path}: cannot be read ({e.strerror}); give the file of an epilogue") from None
    except UnicodeDecodeError:
        raise Usage(f"{path}: is not text; give the file of an epilogue") from None
    try:
        parsed(text)
    except Usage as e:
        raise Usage(*(f"{path}: {line}" for line in e.lines)) from None
    return text


def wanted_options(command: Callable[..., T]) -> Callable[..., T]:
    """Give a command the options that say which sorts are wanted; it gets them as `wanted`."""

    @wraps(command)
    def call(
        *,
        keys: tuple[str, ...],
        values: tuple[str, ...],
        order: str | None,
        features: tuple[str, ...],
        epilogue: Path | None,
        **more: Any,
    ) -> T:
        orders = ORDERS if order == "both" else (order,) if order else ()
        text = fragment(epilogue) if epilogue else ""
        wanted = Wanted(keys=keys, values=values, orders=orders, features=features, epilogue=text)
        return command(wanted=wanted, **more)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


class Folder(click.Path):
    """The path of a folder, of which nothing is known yet; what it is, is for those to say who open it."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; click reports what is none."""
        try:
            return super().convert(value, param, ctx)
        except ValueError:  # a NUL, or what the file system's encoding lacks
            self.fail(f"{str(value)[:100]!r} cannot be a path; name another", param, ctx)


class Count(click.ParamType):  # type: ignore[type-arg]  # (generic since click 8.5 only)
    """A number of keys: 1000 or 2^20."""

    name = "count"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; click reports what is none."""
        if isinstance(value, int):
            return value
        count = parse_count(str(value))
        if count is None:
            self.fail(f"'{value}' is no count; write for example 1000 or 2^20", param, ctx)
        return count


def parse_count(text: str) -> int | None:
    """Return the count that `text` names, a number or a power such as 2^16, or None."""
    found = re.fullmatch(r"(?:2\^(\d{1,2})|(\d{1,12}))", text.strip())
    if found is None:
        return None
    return 1 << int(found[1]) if found[1] else int(found[2])


def emit_json(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a JSON list, one object a line."""
    click.echo("[" + ",\n ".join(json.dumps(r) for r in rows) + "]")


def emit_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under a head; numbers to the right, and foreign text as `printable` has it."""
    cells = [[printable(c) for c in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for row in [list(head), *cells]:
        parts = [c.rjust(w) if _numeric(c) else c.ljust(w) for c, w in zip(row, widths, strict=True)]
        click.echo("  ".join(parts).rstrip())


def _numeric(cell: str) -> bool:
    return re.fullmatch(r"-?[\d.,]+( ?[%x])?|-", cell) is not None


@contextmanager
def required(require: bool) -> Iterator[None]:
    """Turn "cannot answer here" into "no" where the user asked for an answer."""
    try:
        yield
    except Unavailable as e:
        if require:
            raise Wrong(*e.lines) from None
        raise


def progress(label: str, length: int) -> Callable[[Iterator[T]], Iterator[T]]:
    """Return a wrapper that shows on stderr how far an iteration is; only what is done where stderr is no terminal."""

    def wrap(items: Iterator[T]) -> Iterator[T]:
        with click.progressbar(items, length=length, label=label, file=sys.stderr, show_pos=True) as bar:
            yield from bar

    return wrap
