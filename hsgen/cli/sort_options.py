"""The command-line options that choose sorts: key types, values, orders, features, and an epilogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import click

from hsgen.algorithms import operation
from hsgen.bundle.choosing import choose
from hsgen.bundle.manifest import Choice
from hsgen.cli.options import Count, gathered
from hsgen.core.errors import Usage
from hsgen.core.keys import FEATURES, ORDERS, TYPES, VALUES, value_kind
from hsgen.core.scratch import ANY_N
from hsgen.core.sort import Sort
from hsgen.stages.epilogue import parsed
from hsgen.targets.target import Target

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options of a command line that choose sorts; fields of options that were not given are empty."""

    keys: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    epilogue: str = ""
    max_n: int = ANY_N

    def __bool__(self) -> bool:
        return self != Wanted()

    def choice(self, target: Target, apis: Iterable[str] = (), algorithms: Iterable[str] = ()) -> Choice:
        """Return a `Choice`, which lists the sorts of a target that these options select.

        Raises:
            Usage: the target lacks a named key, value, API, algorithm or feature.
        """
        more = {"values": self.values, "orders": self.orders, "features": self.features}
        chosen = choose(target, self.keys, apis, algorithms, **more, epilogue=self.epilogue)
        return replace(chosen, max_n=self.max_n)

    def sorts(self, target: Target, algorithms: Iterable[str] = ()) -> list[Sort]:
        """Return the sorts that these options select, for the labels `algorithms`, or for all labels of the target.

        A label is the name of an algorithm, such as "radix", or of a variant.

        Raises:
            Usage: the target has no such sort.
        """
        named = tuple(algorithms)
        choice = self.choice(target, (), named)
        out: dict[str, Sort] = {}
        why = Usage(f"target {target.name}: has no such sort; `hsgen targets` lists what it has")
        for key, value in product(choice.widths, choice.values):
            have = [*target.labels(key), *target.derived(key), *target.implicit(key)]
            labels = [label for label in have if label in (named or target.labels(key))]
            for label, of in ((x, of) for x in labels for of in operation(x).types(choice.keys, key)):
                plain = operation(label).plain_only
                try:
                    signature = choice.untyped(value) if plain else choice.signature(value)
                    sort = target.sort(label, of, signature, self.max_n)
                except Usage as e:
                    why = e
                else:
                    out[sort.file] = sort
        if not out:
            raise why
        return list(out.values())


class _Value(click.Choice):  # type: ignore[type-arg]  # (generic since click 8.2 only)
    """A kind of values.  The user may give its name, its size in bytes, or a type of that size."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name; click reports an unknown name."""
        with suppress(Usage):
            value = value_kind(value)
        return super().convert(value, param, ctx)


_OPTIONS: tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...] = (
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
        type=_Value(list(VALUES)),
        metavar="NAME",
        help="What moves along with each key: none (the default); a value of 4, 8 or 16 bytes (v4 v8 v16; 4 or a type "
        "such as u32 means v4); the key's "
        "index (index, index64: an argsort); or packed, the lower half of a 64-bit word.",
    ),
    click.option(
        "--order",
        type=click.Choice([*ORDERS, "both"]),
        help="Ascending by default; descending and both generate the same sort, which supports either order.",
    ),
    click.option(
        "--feature",
        "features",
        multiple=True,
        type=click.Choice(list(FEATURES)),
        metavar="NAME",
        help="bit-range: sort by a bit range chosen per call; device-count: take the key count from device memory; "
        "run-boundaries: report where runs of equal keys start; segment-ends: give the start and "
        "the end of each segment; segment-count: take the number of segments from device memory; "
        "row-lengths, row-starts, row-takes: take the length of each row of a selection from device memory, its "
        "start, or its number of keys to take; row-count: take the number of rows from device memory; value-starts: "
        "take the index of the first value of each row from device memory.",
    ),
    click.option(
        "--epilogue",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A template whose macro `epilogue` is called for every sorted key (docs/guides/epilogue.md).",
    ),
    click.option(
        "--max-n",
        type=Count(),
        metavar="N",
        help="Sort up to N keys, such as 2^20, and omit the kernels that only more keys need.",
    ),
)


def _wanted(
    keys: tuple[str, ...],
    values: tuple[str, ...],
    order: str | None,
    features: tuple[str, ...],
    epilogue: Path | None,
    max_n: int | None,
) -> Wanted:
    if max_n is not None and not 1 <= max_n < ANY_N:
        raise Usage(f"--max-n {max_n}: give a count from 1 to 2^62")
    orders = ORDERS if order == "both" else (order,) if order else ()
    text = fragment(epilogue) if epilogue else ""
    more = {} if max_n is None else {"max_n": max_n}
    return Wanted(keys=keys, values=values, orders=orders, features=features, epilogue=text, **more)


def wanted_options(command: Callable[..., T]) -> Callable[..., T]:
    """Add the options of `Wanted` to a command, which receives it as `selection`."""
    return gathered("selection", _wanted, *_OPTIONS)(command)


def fragment(path: Path) -> str:
    """Return the text of an epilogue file, with the line ends converted to those of generated files.

    Raises:
        Usage: the file cannot be read, or has no epilogue.
        Unavailable: the process that renders the epilogue cannot be started.
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
