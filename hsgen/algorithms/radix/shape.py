"""The choices of a radix sort and what follows from them.

A *tile* is the keys that a work-group ranks at once, work_group x items of them; with the serial ranker a *chunk*
is the keys that one lane walks through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.keys import PLAIN, Form, KeyType
from hsgen.plan import digit, passes
from hsgen.tables import Field

RANKERS = ("ballot", "broadcast", "flags", "split", "serial")
COORDINATIONS = ("scan", "lookback")

FIELDS = {
    "bits": Field("int", "the bits of a digit, 1 to 11", least=1, greatest=11),
    "items": Field("int", "the keys of a lane in a tile; serial: the least keys of a chunk", least=1, greatest=65536),
    "work_group": Field("int", "the lanes of a work-group", least=1, greatest=8192),
    "subgroup": Field("int", "a power of two, or 1 for no subgroup operations", least=1, greatest=128),
    "ranker": Field("str", f"one of {', '.join(RANKERS)}", choices=RANKERS),
    "coordination": Field("str", f"one of {', '.join(COORDINATIONS)}", choices=COORDINATIONS),
    "groups": Field("int", "the most work-groups of a count or scatter", least=1, greatest=65535),
    "split": Field("int", "the bits that the split ranker sorts at once, 1 or 2", required=False, least=1, greatest=2),
    "single": Field("int", "the count up to which one work-group sorts alone", required=False, greatest=1 << 24),
    "single_bits": Field(
        "int", "the bits of a digit where one work-group sorts alone", required=False, least=1, greatest=11
    ),
    "stream_from": Field(
        "int", "serial: the count from which keys are stored past the caches", required=False, least=1
    ),
    "spins": Field("int", "lookback: how often a lane looks for a tile before it gives up", required=False, least=1),
    "resident": Field(
        "int", "CUDA: the work-groups of a core that registers must suffice for", required=False, least=1, greatest=32
    ),
    "large": Field("bool", "whether counts of 2^30 and more are sorted, with 64-bit indices", required=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The table ``[radix.KEY]`` of a target.

    bits: of a digit; digits of a key are of equal width or one bit less, as few as that allows.
    items, work_group: keys of a lane and lanes; their product is the tile.
    subgroup: lanes that exchange values, 1 for rankers that need none.
    ranker: how keys of a tile find their places.  "ballot": lanes of a subgroup vote on each bit of the digit;
    "broadcast": they compare with each other's digits (for narrow subgroups); "flags": a bit for each lane and
    digit in local memory, counted; "split": stable partitions by `split` bits at a time, with scans in local
    memory; "serial": a lane, or with a subgroup > 1 a subgroup, walks its own chunk with its own counters.
    coordination: "scan" or "lookback".
    groups: the most work-groups of counting and scattering kernels; each then takes several tiles.
    single: one work-group sorts up to so many keys in one launch; 0 means never, None a tile (serial: never).
    single_bits: the bits of a digit then, if not `bits`.
    stream_from: serial only: from this count on keys of a digit are collected and stored by the line of 64 bytes,
    past the caches, which pays where both buffers exceed them; None means never.
    spins: look-backs of a lane before it takes the device for starving.
    resident: work-groups that rank tiles which a core is to hold at once; CUDA's compiler then gives lanes no more
    registers than that allows.  0 leaves it to the compiler.
    large: sort 2^30 keys and more, by kernels of their own that count in 64 bits.

    begin, end: the bits of a key that are sorted.  withhold, starve: for tests: every so many tiles publishes
    late or never, as on a device without forward progress.  wide: 64-bit indices throughout.  form: what is sorted
    with the keys, and how.
    """

    key: KeyType
    bits: int
    items: int
    work_group: int
    subgroup: int
    ranker: str
    coordination: str
    groups: int
    split: int = 2
    single: int | None = None
    single_bits: int | None = None
    stream_from: int | None = None
    spins: int = 1 << 20
    resident: int = 0
    large: bool = False
    begin: int = 0
    end: int | None = None
    withhold: int = 0
    starve: int = 0
    wide: bool = False
    form: Form = PLAIN

    @property
    def tile(self) -> int:
        """Keys that a work-group handles at once; serial: the least keys of the chunks of a work-group."""
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether lanes walk chunks of their own."""
        return self.ranker == "serial"

    @property
    def folded(self) -> bool:
        """Whether every work-group sums the table of counts by itself, which pays where it has few columns."""
        return self.serial and self.work_group == 1

    @property
    def alone(self) -> int:
        """The greatest count that one work-group sorts in one launch."""
        return self.single if self.single is not None else 0 if self.serial else self.tile

    @property
    def line(self) -> int:
        """Keys of a line of 64 bytes."""
        return 64 // self.key.bytes

    @property
    def digits(self) -> tuple[tuple[int, int], ...]:
        """(shift, bits) of each pass: as few as `bits` allows, as even as that leaves."""
        end = self.key.bits if self.end is None else self.end
        count = passes(self.begin, end, self.bits)
        return tuple(digit(self.begin, end, self.bits, number) for number in range(count))

    @property
    def radix(self) -> int:
        """The values of the widest digit."""
        return 1 << self.digit

    @property
    def digit(self) -> int:
        """The bits of the widest digit."""
        return max(width for _, width in self.digits)

    @property
    def valued(self) -> bool:
        """Whether values move with the keys, in buffers of their own."""
        return self.form.value_bytes > 0

    @property
    def staged(self) -> bool:
        """Whether values go through the tile on their way: they then must have the size of its keys, a word.

        (On an H200 a sixth faster for 2^27 pairs than to read them where they lie.)
        """
        return self.form.value_bytes == 4 and self.key.held == 4

    @property
    def stream(self) -> int | None:
        """The count from which keys are stored past the caches; values, and keys of less than a word, never are."""
        return None if self.valued or self.key.bytes < 4 else self.stream_from

    @property
    def subgroups(self) -> int:
        """Subgroups of a work-group; each counts for itself."""
        return self.work_group // self.subgroup


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for a table that passed `FIELDS`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the keys around which validations are dense: a tile, or what one work-group sorts alone if less."""
    return min(p.tile, p.alone) or p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return the derived values of a shape, for people."""
    widths = [width for _, width in p.digits]
    shown = f"{len(widths)} passes of {widths[0]} bits" if len(set(widths)) == 1 else f"passes of {widths} bits"
    what = "chunks" if p.serial else "tiles"
    return [
        ("digits", f"{shown}, {p.radix} values"),
        ("tile", f"{p.work_group} lanes x {p.items} = {p.tile} keys, at most {p.groups} work-groups of {what}"),
        ("ranker", p.ranker + (f", subgroups of {p.subgroup}" if p.subgroup > 1 else "")),
        ("coordination", p.coordination),
        ("one work-group alone", f"up to {p.alone} keys"),
    ]
