"""Rankers: four algorithms by which a work-group ranks the keys of a tile, with their parameters and constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hsgen.algorithms.buffers import word_array
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import tile
from hsgen.algorithms.radix.tile import Tile
from hsgen.core.buffers import Array
from hsgen.core.fields import Field

RANKERS = ("match_ballot", "match_broadcast", "bitmask", "radix_split")

FIELDS = {
    "bits": tile.BITS,
    "items": Field("int", "the keys of a lane in a tile", least=1, greatest=65536),
    "work_group": tile.WORK_GROUP,
    "subgroup": tile.SUBGROUP,
    "ranker": Field("str", f"one of {', '.join(RANKERS)}", choices=RANKERS),
    "split": Field("int", "the bits that the split ranker sorts at once, 1 or 2", required=False, least=1, greatest=2),
    "ahead": Field(
        "int",
        "ballot, values of 4 bytes: how many keys before its own a value is loaded",
        required=False,
        least=1,
        greatest=64,
    ),
    "resident": Field(
        "int", "CUDA: the work-groups of a core that registers must suffice for", required=False, least=1, greatest=32
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked(Tile):
    """The parameters of strategies whose work-groups rank tiles.

    ranker: the algorithm by which a work-group ranks a tile.
    - "match_ballot": the lanes of a subgroup vote on each bit of the digit, to find the lanes with the same digit.
    - "match_broadcast": each lane compares its digit with the digits of all lanes of its subgroup, for narrow
      subgroups.
    - "bitmask": each value of the digit has a mask in local memory, with a bit for each lane.  A lane sets its bit in
      the mask of its digit, and counts the bits of lower lanes.
    - "radix_split": the tile is stably split several times, each time by `split` bits and with a scan in local memory.

    ahead: how many keys ahead a lane loads values, only with "match_ballot" and values of 4 bytes.  While the lane
    ranks its key i, it loads the value of its key i + `ahead`.  If `ahead` is at least `items`, the lane loads all
    values before it ranks (see `held`).
    resident: the number of work-groups of a ranking kernel that a core must hold at once (CUDA's launch bounds).  The
    compiler limits the registers of a lane accordingly.  0 leaves the number to the compiler.
    spread: whether the slots of a tile in local memory are permuted within each row of 32 slots, to avoid bank
    conflicts.  Without the permutation, if all digits are equally frequent, the first keys of the digits lie in a few
    of the 32 banks.
    paired: whether the original slots that keys carry have 16 bits, and two of them share a register.  Then `items` is
    even, and the dialect must have "int16".
    """

    ranker: str
    split: int = 2
    ahead: int = 4
    resident: int = 0
    spread: bool = False
    paired: bool = False

    @property
    def alongside(self) -> bool:
        """Whether values of 4 bytes go through local memory together with their keys, instead of after the keys.

        False with "match_broadcast", because Intel's compilers for GPUs would then spill registers.
        """
        return self.signature.value_bytes == 4 and self.ranker in ("match_ballot", "bitmask")

    @property
    def held(self) -> bool:
        """Whether a lane loads all of its values to registers before its keys are ranked."""
        return self.alongside and self.ranker == "match_ballot" and self.ahead >= self.items

    @property
    def staged(self) -> bool:
        """Whether values of 4 bytes go through the local array `tile` after the keys have left it."""
        return self.signature.value_bytes == 4 and self.key.held == 4 and not self.alongside


def template(ranker: str) -> str:
    """Return the template of a ranker, which defines the macros ``row``, ``histogram`` and ``order``."""
    return f"radix/rank_{'match' if ranker.startswith('match') else ranker}.j2"


def digit_arrays(p: Tile) -> tuple[Array, ...]:
    """Return the arrays in local memory for the prefix sum over the histogram of a digit."""
    return (
        word_array("totals", p.radix),
        word_array("firsts", p.radix),
        word_array("sums", p.work_group),
        word_array("mixed", 2),
    )


def rank_arrays(p: Ranked) -> tuple[Array, ...]:
    """Return the arrays in local memory that the ranker `p.ranker` needs to rank a tile."""
    keys = Array(name="tile", type="key", count=p.tile)
    if p.paired:
        words = (("totals", p.radix), ("sums", p.radix), ("mixed", 2), ("counts", p.subgroups * p.radix))
        slots = Array(name="order", type="u16", count=p.tile)
        return (keys, *(word_array(name, count) for name, count in words), *[slots] * p.valued)
    order = (word_array("order", p.tile),) if p.valued else ()  # per key: its original slot, or its value
    digits = (*digit_arrays(p), *order)
    if p.ranker in ("match_ballot", "match_broadcast"):
        return (keys, *digits, word_array("counts", p.subgroups * p.radix))
    if p.ranker == "bitmask":
        return (keys, *digits, word_array("flags", p.radix * flag_words(p)))
    return (keys, *digits, *(word_array(f"part{i}", p.work_group) for i in range(p.split)))


def flag_words(p: Tile) -> int:
    """Return the number of words of a mask with one bit for each lane of a work-group."""
    return -(-p.work_group // 32)


def problems(p: Ranked) -> Iterator[Problem]:
    """Yield the problems of a tile and its ranker that exist on every device."""
    matching = p.ranker in ("match_ballot", "match_broadcast")
    if matching and p.subgroup == 1:
        yield "subgroup", f"the ranker {p.ranker} needs subgroups", "give their width, or another ranker"
    elif not matching and p.subgroup > 1:
        yield "subgroup", f"the ranker {p.ranker} uses no subgroup operations", "give 1"
    elif p.work_group % p.subgroup:
        yield "work_group", f"{p.work_group} lanes are no whole subgroups", f"give a multiple of {p.subgroup}"
    if p.ranker == "match_broadcast" and p.subgroup > 32:
        yield "ranker", f"comparing with {p.subgroup} lanes one by one does not pay", 'give "match_ballot"'
    if p.items > 64:
        yield "items", f"{p.items} keys do not fit the registers of a lane", "give at most 64"
    if p.single is not None and p.single > p.tile:
        yield "single", f"one work-group holds {p.tile} keys", f"give at most {p.tile}"
    if p.tile > 65535:
        yield "items", f"a tile of {p.tile} keys is too large", f"give at most {65535 // p.work_group}"


def notes(p: Ranked) -> list[tuple[str, str]]:
    """Return the ranker as a (name, text) pair, for `hsgen show`."""
    return [("ranker", p.ranker + (f", subgroups of {p.subgroup}" if p.subgroup > 1 else ""))]
