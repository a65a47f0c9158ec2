"""The choices of a radix sort and what follows from them.

A *tile* is the keys that a work-group ranks at once, work_group x items of them; with the serial ranker a *chunk*
is the keys that one lane walks through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.algorithms.radix.pair_fields import PAIR_FIELDS, shown
from hsgen.core.fields import Field
from hsgen.core.interpreter import digit, passes
from hsgen.core.keys import PLAIN, Form, KeyType

RANKERS = ("ballot", "broadcast", "flags", "split", "serial")
COORDINATIONS = ("scan", "lookback", "grid")

FIELDS = {
    "bits": Field("int", "the bits of a digit, 1 to 11", least=1, greatest=11),
    "items": Field("int", "the keys of a lane in a tile; serial: the least keys of a chunk", least=1, greatest=65536),
    "work_group": Field("int", "the lanes of a work-group", least=1, greatest=8192),
    "subgroup": Field("int", "a power of two, or 1 for no subgroup operations", least=1, greatest=128),
    "ranker": Field("str", f"one of {', '.join(RANKERS)}", choices=RANKERS),
    "coordination": Field("str", f"one of {', '.join(COORDINATIONS)}", choices=COORDINATIONS),
    "groups": Field("int", "the most work-groups of a count or scatter; grid: of all", least=1, greatest=65535),
    "least": Field("int", "grid: the least keys of a lane, 1 if not given", required=False, least=1, greatest=64),
    "places": Field(
        "int",
        "keys alone: the counters by which one work-group sorts on chip, a power of two; 0 for none",
        required=False,
        greatest=65536,
    ),
    "split": Field("int", "the bits that the split ranker sorts at once, 1 or 2", required=False, least=1, greatest=2),
    "single": Field("int", "the count up to which one work-group sorts alone", required=False, greatest=1 << 24),
    "single_bits": Field(
        "int", "the bits of a digit where one work-group sorts alone", required=False, least=1, greatest=11
    ),
    "stream_from": Field(
        "int", "serial: the count from which keys are stored past the caches", required=False, least=1
    ),
    "spins": Field("int", "lookback: how often a lane looks for a tile before it gives up", required=False, least=1),
    "sets": Field("int", "lookback: the sets of counters of the histogram", required=False, least=1, greatest=32),
    "resident": Field(
        "int", "CUDA: the work-groups of a core that registers must suffice for", required=False, least=1, greatest=32
    ),
    "ahead": Field(
        "int",
        "ballot, values of 4 bytes: how many keys before its own a value is loaded",
        required=False,
        least=1,
        greatest=64,
    ),
    "sorted_exit": Field("bool", "whether keys that are in order already are found out and left alone", required=False),
    "large": Field("bool", "whether counts of 2^30 and more are sorted, with 64-bit indices", required=False),
    "msd_from": Field("int", "the count above which keys alone are dealt into buckets", required=False, least=1),
    "msd_group": Field("int", "buckets: the lanes that deal keys out", required=False, least=1, greatest=8192),
    "msd_items": Field("int", "buckets: the keys of such a lane", required=False, least=1, greatest=64),
    "bucket_group": Field("int", "buckets: the lanes that sort one", required=False, least=1, greatest=8192),
    "bucket_items": Field("int", "buckets: the keys of such a lane, at most", required=False, least=1, greatest=64),
    "bucket_places": Field(
        "int", "buckets: the places of one, a power of two", required=False, least=1, greatest=65536
    ),
    **PAIR_FIELDS,
}
CHOICES = ("msd_from", "msd_group", "msd_items", "bucket_group", "bucket_items", "bucket_places")
"""The choices of buckets, all of which are given or none."""
NO_BUCKETS: Mapping[str, Any] = dict.fromkeys(CHOICES, 0)
NO_PAIRS: Mapping[str, Any] = dict.fromkeys(PAIR_FIELDS, 0)


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
    coordination: "scan", "lookback" or "grid": all passes in one launch, whose work-groups hold a tile each and wait
    for each other; where a device can (`hsgen.core.device.Device.cooperative`), and for as many keys as they hold.
    groups: the most work-groups of counting and scattering kernels; each then takes several tiles.  grid: the most of
    all, which must be resident at once.
    least: grid only: fewer work-groups are launched where lanes would get fewer keys.
    places: keys alone, with "grid": what a work-group sorts, it sorts by so many places between the least and the
    greatest key (templates/radix/places.j2), and only where these are crowded a digit at a time.  In one launch keys
    are then first dealt out by their highest digit, where that is even enough.  0 means never.
    single: one work-group sorts up to so many keys in one launch; 0 means never, None a tile (serial: never).
    single_bits: the bits of a digit then, if not `bits`.
    stream_from: serial only: from this count on keys of a digit are collected and stored by the line of 64 bytes,
    past the caches, which pays where both buffers exceed them; None means never.
    spins: look-backs of a lane before it takes the device for starving.
    sets: how many sets of counters a work-group has that counts the digits of all passes, a power of two: lanes that
    count in sets of their own do not wait for each other.
    resident: work-groups that rank tiles which a core is to hold at once; CUDA's compiler then gives lanes no more
    registers than that allows.  0 leaves it to the compiler.
    sorted_exit: the first kernel that reads all keys finds out whether they are in order; then no digit moves them.
    large: sort 2^30 keys and more, by kernels of their own that count in 64 bits.
    msd_from: lookback only: above this count keys alone are first dealt into buckets by their highest digits, each of
    which a work-group sorts on chip (`hsgen.algorithms.radix.msd`); 0 means never.  msd_group, msd_items: lanes and
    keys of the tiles that are dealt.  bucket_group, bucket_items: of a bucket, at most.  bucket_places: the counters on
    chip by which the keys of a bucket find their places, a power of two and about as many as its keys.
    finish_from, ...: the buckets of keys with values of 4 bytes (`hsgen.algorithms.radix.finish`); 0 means never.

    begin, end: the bits of a key that are sorted.  withhold, starve: for tests: every so many tiles publishes
    late or never, as on a device without forward progress.  ahead: how many keys before they rank a key lanes that
    vote load the value that goes beside it.  wide: 64-bit indices throughout.  redo: look-backs give up after `spins`,
    and passes are then done again by counting: not where a device promises to go on.  form: what is sorted with the
    keys, and how.
    """

    key: KeyType
    bits: int
    items: int
    work_group: int
    subgroup: int
    ranker: str
    coordination: str
    groups: int
    least: int = 1
    places: int = 0
    split: int = 2
    single: int | None = None
    single_bits: int | None = None
    stream_from: int | None = None
    spins: int = 1 << 20
    sets: int = 1
    resident: int = 0
    sorted_exit: bool = False
    large: bool = False
    msd_from: int = 0
    msd_group: int = 0
    msd_items: int = 0
    bucket_group: int = 0
    bucket_items: int = 0
    bucket_places: int = 0
    finish_from: int = 0
    finish_group: int = 0
    finish_items: int = 0
    finish_places: int = 0
    begin: int = 0
    end: int | None = None
    withhold: int = 0
    starve: int = 0
    ahead: int = 4
    wide: bool = False
    redo: bool = True
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
    def endless(self) -> bool:
        """Whether look-backs wait as long as it takes, so that no pass is ever done again."""
        return self.coordination == "lookback" and not self.redo

    @property
    def msd(self) -> bool:
        """Whether large counts are dealt into buckets first."""
        return self.msd_from > 0 and self.coordination == "lookback" and (self.begin, self.end) == (0, None)

    @property
    def finish(self) -> bool:
        """Whether large counts of keys with values end in buckets on chip."""
        whole = (self.begin, self.end) == (0, None) and self.key.bytes >= 4
        return self.finish_from > 0 and self.endless and whole and self.form.value_bytes == 4

    @property
    def copied(self) -> bool:
        """Whether passes may leave the keys elsewhere than in the destination.

        Where look-back knows all digits beforehand that happens only in place, after an odd number of passes.
        """
        return self.coordination == "scan" or self.form.ranged or len(self.digits) % 2 == 1

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
    def beside(self) -> bool:
        """Whether values go through local memory beside their keys: those of a word, where keys of a tile move once.

        Not where lanes compare with each other: that takes all registers of Intel's GPUs, whose compilers then spill.
        """
        return self.form.value_bytes == 4 and self.ranker in ("ballot", "flags")

    @property
    def staged(self) -> bool:
        """Whether values go through the tile after its keys: they then must have the size of its keys, a word."""
        return self.form.value_bytes == 4 and self.key.held == 4 and not self.beside

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
    text = f"{len(widths)} passes of {widths[0]} bits" if len(set(widths)) == 1 else f"passes of {widths} bits"
    what = "chunks" if p.serial else "tiles"
    return [
        ("digits", f"{text}, {p.radix} values"),
        ("tile", f"{p.work_group} lanes x {p.items} = {p.tile} keys, at most {p.groups} work-groups of {what}"),
        ("ranker", p.ranker + (f", subgroups of {p.subgroup}" if p.subgroup > 1 else "")),
        ("coordination", p.coordination),
        ("one work-group alone", f"up to {p.alone} keys"),
        *([("buckets", _buckets(p))] if p.msd else []),
        *(shown(max(p.finish_from, p.alone), p.finish_group, p.finish_items, p.finish_places) if p.finish else []),
    ]


def _buckets(p: Params) -> str:
    dealt = f"{p.msd_group} lanes x {p.msd_items} = {p.msd_group * p.msd_items} keys dealt at once"
    held = f"{p.bucket_group} lanes x {p.bucket_items} = {p.bucket_group * p.bucket_items} keys at most"
    return f"from {max(p.msd_from, p.alone) + 1} keys on, {dealt}; a bucket {held}, {p.bucket_places} places"
