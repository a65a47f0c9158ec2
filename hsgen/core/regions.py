"""Regions: named words of scratch, which kernels address by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Consecutive 32-bit words of scratch.

    name: upper case, unique in a layout.  start: the index of the first word.  size: the number of words; 0 for a
    region that the layout lacks, and for the last one, which has the rest.  meaning: a comment for generated text.
    offset: words to skip.  As text it is the constant of kernels, so that ``{{ region + 1 }}`` renders ``HS_NAME + 1``.
    """

    name: str
    start: int
    size: int = 0
    meaning: str = ""
    offset: int = 0

    @property
    def constant(self) -> str:
        """The name in generated text."""
        return f"HS_{self.name}"

    def __str__(self) -> str:
        return self.constant + (f" + {self.offset}" if self.offset else "")

    def __add__(self, words: int) -> Region:
        return replace(self, offset=self.offset + words)


def placed(sizes: Iterable[tuple[str, int, str]], start: int = 0) -> dict[str, Region]:
    """Return regions one after another, from the word `start` on: (name, number of words, meaning) of each."""
    out: dict[str, Region] = {}
    for name, size, meaning in sizes:
        out[name] = Region(name=name.upper(), start=start, size=size, meaning=meaning)
        start += size
    return out


def of(layout: object) -> Iterator[Region]:
    """Yield the regions among the fields of a dataclass; none of other objects."""
    if is_dataclass(layout):
        yield from (x for f in fields(layout) if isinstance(x := getattr(layout, f.name), Region))


def distinct(found: Iterable[Region]) -> dict[Region, Region]:
    """Return each region under a name that no region has that starts elsewhere: the later one gets a number."""
    starts: dict[str, int] = {}
    out: dict[Region, Region] = {}
    for region in found:
        names = (region.name if number == 1 else f"{region.name}_{number}" for number in count(1))
        name = next(x for x in names if starts.get(x, region.start) == region.start)
        starts[name] = region.start
        out[region] = replace(region, name=name)
    return out


def renamed(layout: T, names: Mapping[Region, Region]) -> T:
    """Return a dataclass with its regions as in `names`, which has them without offsets; other objects as they are."""
    found: dict[str, Any] = {}
    if is_dataclass(layout):
        regions = {f.name: x for f in fields(layout) if isinstance(x := getattr(layout, f.name), Region)}
        found = {field: names.get(replace(x, offset=0), x) + x.offset for field, x in regions.items()}
    return replace(layout, **found) if found else layout  # type: ignore[type-var]
