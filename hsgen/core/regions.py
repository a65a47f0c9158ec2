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

    name: upper case, unique in a layout.
    start: the index of the first word in scratch.
    size: the number of words.  0 stands for an absent region, or for the last region, which has all remaining words.
    meaning: the comment at the region's constant in generated kernels.
    offset: a distance in words from `start`, to address a word inside the region; ``region + 1`` adds 1 to it.

    In generated kernels, the constant ``HS_NAME`` is the index of the region's first word.  As text, a region is this
    constant: ``{{ region + 1 }}`` in a template renders ``HS_NAME + 1``.
    """

    name: str
    start: int
    size: int = 0
    meaning: str = ""
    offset: int = 0

    @property
    def constant(self) -> str:
        """The name of the region's constant in generated kernels."""
        return f"HS_{self.name}"

    def __str__(self) -> str:
        return self.constant + (f" + {self.offset}" if self.offset else "")

    def __add__(self, words: int) -> Region:
        return replace(self, offset=self.offset + words) if words else self


def placed(sizes: Iterable[tuple[str, int, str]], start: int = 0) -> dict[str, Region]:
    """Place regions one after the other from word `start` on, and return them by name.

    sizes: (name, number of words, meaning) of each region.
    """
    out: dict[str, Region] = {}
    for name, size, meaning in sizes:
        out[name] = Region(name=name.upper(), start=start, size=size, meaning=meaning)
        start += size
    return out


def of(layout: object) -> Iterator[Region]:
    """Yield the regions among the fields of the dataclass `layout`; yield nothing if `layout` is no dataclass."""
    if is_dataclass(layout):
        yield from (x for f in fields(layout) if isinstance(x := getattr(layout, f.name), Region))


def distinct(regions: Iterable[Region]) -> dict[Region, Region]:
    """Map each region to itself, or to a copy with another name if an earlier region has its name.

    All kernels of a generated file share the constants of regions.  If regions have the same name NAME but different
    first words, the constant of the second is therefore ``HS_NAME_2``, that of the third ``HS_NAME_3``.
    """
    starts: dict[str, int] = {}
    out: dict[Region, Region] = {}
    for region in dict.fromkeys(regions):
        names = (region.name if number == 1 else f"{region.name}_{number}" for number in count(1))
        name = next(x for x in names if starts.get(x, region.start) == region.start)
        starts[name] = region.start
        out[region] = region if name == region.name else replace(region, name=name)
    return out


def renamed(layout: T, names: Mapping[Region, Region]) -> T:
    """Return a copy of the dataclass `layout`, with the names that the mapping `names` gives to its regions.

    names: a result of `distinct` for regions with offset 0.  A renamed region keeps its offset in `layout`.
    An object that is no dataclass is returned unchanged.
    """
    moved: dict[str, Any] = {}
    if is_dataclass(layout):
        regions = {f.name: x for f in fields(layout) if isinstance(x := getattr(layout, f.name), Region)}
        bases = {field: replace(x, offset=0) if x.offset else x for field, x in regions.items()}
        moved = {field: names.get(base, regions[field]) + regions[field].offset for field, base in bases.items()}
    return replace(layout, **moved) if moved else layout  # type: ignore[type-var]
