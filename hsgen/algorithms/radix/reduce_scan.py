"""Passes of three launches: count the digits, scan the counts, scatter the keys.

Unlike in passes with look-back, no work-group waits for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from hsgen.algorithms.buffers import word_array
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import rankers, rows, search_space, single, tile
from hsgen.algorithms.radix.parts import ALL, WORDS, copy, moving, order_check, order_flag, picking, plain, ranking
from hsgen.algorithms.radix.phases import Counted
from hsgen.algorithms.radix.rankers import Ranked
from hsgen.algorithms.radix.tile import recast
from hsgen.algorithms.radix.words import max_n, scratch
from hsgen.algorithms.search_space import Box
from hsgen.core.buffers import Array
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.flags import DIRECT, REDO
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType
from hsgen.core.plan import Plan, Step
from hsgen.core.scratch import Scratch

_KERNELS, _VARIANTS = "radix/reduce_scan/reduce_scan", "radix/reduce_scan/reduce_scan.j2:"
LARGE = Field("bool", "whether counts of 2^30 and more are sorted, with 64-bit indices", required=False)
COMPACT = Field("bool", "whether kernels are made for a short compilation", required=False)
SHARED = {**rankers.FIELDS, "groups": tile.GROUPS, **tile.SINGLE, "sorted_exit": tile.SORTED_EXIT, "large": LARGE}
"""The keys of target tables that the strategies `reduce_scan`, `onesweep` and `hybrid` share."""
MORE = Field("int", "the most work-groups for counts so large that scratch has room", required=False, greatest=65535)
FIELDS = {**SHARED, "compact": COMPACT, "large_groups": MORE}

KEPT = 128
"""The number of different parameters whose kernels stay in a cache, because every pass of a plan needs them again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceScan(Ranked):
    """The target table ``[radix.KEY.reduce_scan]``.

    sorted_exit: whether the first kernel that reads all keys checks if they are in order already.  If they are, no pass
    moves keys.
    compact: whether kernel text is chosen that compiles in less time.  Full and partial tiles then share statements,
    and no pass is skipped.  The text repeats the statements for each key of a lane, without loops.
    large: whether the sort also supports 2^30 keys and more.  Kernels with 64-bit counts then sort such arrays.  In
    strategies with look-back, the usual kernels do so as long as 32-bit counts suffice (`portions.halved`).
    """

    STRATEGY: ClassVar[str] = "reduce_scan"
    sorted_exit: bool = False
    compact: bool = False
    large: bool = False

    @property
    def skips(self) -> bool:
        """Whether a pass moves no keys if all keys have the same digit."""
        return not self.compact

    @property
    def written_out(self) -> bool:
        """Whether the kernel text repeats the statements for each key of a lane, without loops, to compile faster."""
        return self.compact


Params = ReduceScan


@lru_cache(KEPT)
def count(p: Ranked) -> Kernel:
    """Return the kernel that fills the table of counts: each work-group stores its histogram in a column."""
    more = () if p.looks_back else order_flag(p)
    arrays = (word_array("counts", p.radix), *more)
    return replace(
        picking(plain(p, "count", "count the digits", ALL, arrays, template=f"{_KERNELS}:count")), data=_data(p)
    )


def _data(p: Ranked) -> Counted:
    buffers = "known_passes" if p.looks_back else "all_passes" if p.compact else "moving_passes"
    return Counted(
        ranker=rankers.template(p.ranker),
        order_check=order_check(p.sorted_exit and not p.looks_back),
        rounds=_VARIANTS + ("by_keys" if p.compact else "by_tiles"),
        buffers=_VARIANTS + buffers,
        held=p.held and not p.compact,
    )


@lru_cache(KEPT)
def scanned(p: Ranked) -> Kernel:
    """Return the kernel that replaces the table of counts by exclusive prefixes over the work-groups.

    Each work-group of this kernel scans the row of one digit value.
    """
    sums = Array(name="sums", type="u64" if p.index64 else "u32", count=p.work_group)
    kernel = plain(
        p, "rows", "scan the counts of one digit a work-group", (WORDS,), (sums,), template=f"{_KERNELS}:rows"
    )
    return replace(kernel, data=_data(p))


@lru_cache(KEPT)
def scatter(p: Ranked) -> Kernel:
    """Return the kernel that ranks tiles and stores each key at the offset of its digit plus its rank."""
    bases = Array(name="bases", type="u64" if p.index64 else "u32", count=p.radix)
    summary = "rank tiles and store their keys at their places"
    return replace(
        picking(ranking(p, "scatter", summary, moving(p, *ALL), (bases,), template=f"{_KERNELS}:scatter")),
        data=_data(p),
    )


def passes(p: Ranked) -> list[Kernel]:
    """Return the three kernels of a pass by reduce-scan, or of a retry."""
    return [count(p), scanned(p), scatter(p)]


def beyond(p: Ranked) -> tuple[Kernel, ...]:
    """Return the kernels with 64-bit counts, for 2^30 keys and more; none unless `p.large`."""
    return kernels(large(p)) if p.large else ()


def kernels(p: Ranked) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
    alone = [single.kernel(single.of(p))] if p.alone else []
    return (*alone, *passes(p), copy(p), *beyond(p))


def large(p: Ranked) -> ReduceScan:
    """Return the parameters of the kernels for 2^30 keys and more: the tiles of `p`, with 64-bit counts."""
    return recast(p, ReduceScan, large=False, index64=True, single=0, sorted_exit=False)


def counted(p: Ranked, number: int, flags: int) -> list[Step]:
    """Return the plan rows of pass `number` by reduce-scan: count, scan, scatter.

    flags: `DIRECT` for a pass of the sort; `REDO` for the retry of a pass in which a look-back has given up.
    """
    values = p.radix if p.signature.bit_range else 1 << p.digits[number][1]
    return [
        *rows.tiled(p, rows.row(p, count(p), rows.tiles(p), rows.nth(p, number, flags & REDO))),
        rows.row(p, scanned(p), rows.fixed(values), rows.nth(p, number, flags & REDO)),
        *rows.tiled(p, rows.row(p, scatter(p), rows.tiles(p), rows.nth(p, number, flags))),
    ]


def plan(p: Ranked, first: Sequence[Step] = ()) -> Plan:
    """Return the launch plan of the sort.

    Passes alternate between two buffers: the first pass moves keys from the source to scratch, the second from scratch
    to the destination, and so on.  With an odd number of passes, the first pass stores to the destination, so that the
    last pass does so too.  In place, the first pass would overwrite its input, so a copy follows the last pass instead.
    first: plan rows to insert after the row for small counts, which one work-group sorts, and before those of passes.
    """
    steps = [*rows.single(p, single.kernel(single.of(p))), *first]
    for number in range(len(p.digits)):
        steps += counted(p, number, DIRECT)
    return joined(p, rows.plan(p, [*steps, *rows.copied(p, copy(p))]))


def joined(p: Ranked, narrow: Plan, wide: Plan | None = None, top: int | None = None) -> Plan:
    """Return a plan that is `narrow` for counts up to `top`, else `wide`; return `narrow` itself unless `p.large`.

    narrow: the plan whose kernels count in 32 bits.
    wide: the plan whose kernels count in 64 bits; None means the plan of reduce-scan.
    top: None means `max_n(p)`, which is 2^30 - 1, less if tiles are tiny, or more with `portions.halved`.
    """
    if not p.large:
        return narrow
    wide, top = wide or plan(large(p)), max_n(p) if top is None else top
    rules = (*scratch(p).within(0, top).rules, *wide.scratch.within(top, wide.max_n).rules)
    below = [s for s in narrow.steps if s.guard.min_n < top]
    below = [replace(s, guard=replace(s.guard, max_n=min(top, s.guard.max_n))) for s in below]
    above = [step for step in wide.steps if step.guard.max_n > top]
    above = [replace(s, guard=replace(s.guard, min_n=max(top, s.guard.min_n))) for s in above]
    return replace(narrow, steps=(*below, *above), max_n=wide.max_n, scratch=Scratch(rules))


def moved(p: ReduceScan, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` reads and writes for `n` keys, if every pass moves all keys."""
    return rows.moved(p, step, n)


def test_counts(p: ReduceScan, greatest: int) -> set[int]:
    """Return the counts at which the launches or their grids change; some may exceed `greatest`."""
    return rows.test_counts(p, greatest)


def problems(p: Ranked, device: Device) -> Iterator[Problem]:
    """Yield the problems of the parameters; none of them depends on the device."""
    yield from rankers.problems(p)
    if p.compact and p.sorted_exit:
        yield "sorted_exit", "compact kernels move all keys", "leave it out"
    if p.large_groups and p.large_groups <= p.groups:
        yield "large_groups", f"{p.groups} work-groups are no fewer", "give more, or leave it out"
    elif p.large_groups and p.sorted_exit:
        yield "sorted_exit", "each work-group reports alone, of `groups` at most", "leave it out, or large_groups"


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield a search region for each ranker and each subgroup width."""
    yield from search_space.ranked(device)


def fitted(p: ReduceScan) -> ReduceScan:
    """Return the parameters without the options that the sort's signature does not allow.

    `sorted_exit` is off in a sort by a bit range, because a kernel of one pass does not know the whole range.  `large`
    is off with a device-side count, run boundaries or an epilogue, because counts and indices in these features have 32
    bits.
    """
    few = p.signature.device_count or p.signature.followed
    return replace(p, sorted_exit=p.sorted_exit and not p.signature.bit_range, large=p.large and not few)


def notes(p: ReduceScan) -> list[tuple[str, str]]:
    """Return the ranker as a (name, text) pair, for `hsgen show`."""
    return rankers.notes(p)
