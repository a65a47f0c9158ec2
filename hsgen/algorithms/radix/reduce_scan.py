"""Passes that count the digits of all tiles, scan the counts and scatter: no work-group waits for another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from hsgen.algorithms.buffers import word_array
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import rankers, rows, search_space, single, tile
from hsgen.algorithms.radix.parts import ALL, WORDS, copy, found, moving, order_check, picking, plain, ranking
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

_KERNELS, _VARIANTS = "radix/reduce_scan/reduce_scan:", "radix/reduce_scan/reduce_scan.j2:"
LARGE = Field("bool", "whether counts of 2^30 and more are sorted, with 64-bit indices", required=False)
COMPACT = Field("bool", "whether kernels are made for a short compilation", required=False)
SHARED = {**rankers.FIELDS, "groups": tile.GROUPS, **tile.SINGLE, "sorted_exit": tile.SORTED_EXIT, "large": LARGE}
"""The keys of strategies whose passes can be done by counting."""
MORE = Field("int", "the most work-groups for counts so large that scratch has room", required=False, greatest=65535)
FIELDS = {**SHARED, "compact": COMPACT, "large_groups": MORE}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceScan(Ranked):
    """The table ``[radix.KEY.reduce_scan]``.

    sorted_exit: the first kernel that reads all keys finds out whether they are in order; then no digit moves them.
    compact: kernels are made for a short compilation: full and partial tiles share statements, loops over keys are
    written out, and no pass is skipped.
    large: sort 2^30 keys and more; by kernels of their own that count in 64 bits, or by look-back where 32 suffice.
    """

    STRATEGY: ClassVar[str] = "reduce_scan"
    sorted_exit: bool = False
    compact: bool = False
    large: bool = False

    @property
    def skips(self) -> bool:
        """Whether passes of a constant digit move no keys."""
        return not self.compact

    @property
    def written_out(self) -> bool:
        """Whether loops over registers are written out in the text, which then compiles in less time."""
        return self.compact


Params = ReduceScan


def count(p: Ranked) -> Kernel:
    """Return the kernel that counts the digits of the keys of each work-group."""
    more = () if p.looks_back else found(p)
    made = picking(plain(p, "count", "count the digits", ALL, (word_array("counts", p.radix), *more), folder=_KERNELS))
    return replace(made, data=_data(p))


def _data(p: Ranked) -> Counted:
    buffers = "known_passes" if p.looks_back else "all_passes" if p.compact else "moving_passes"
    return Counted(
        ranker=rankers.template(p.ranker),
        order_check=order_check(p.sorted_exit and not p.looks_back),
        rounds=_VARIANTS + ("by_keys" if p.compact else "by_tiles"),
        buffers=_VARIANTS + buffers,
        held=p.held and not p.compact,
    )


def scanned(p: Ranked) -> Kernel:
    """Return the kernel that scans the counts of one digit over all work-groups."""
    sums = Array(name="sums", type="u64" if p.index64 else "u32", count=p.work_group)
    made = plain(p, "rows", "scan the counts of one digit a work-group", (WORDS,), (sums,), folder=_KERNELS)
    return replace(made, data=_data(p))


def scatter(p: Ranked) -> Kernel:
    """Return the kernel that brings every key to its place, by the scanned counts."""
    bases = Array(name="bases", type="u64" if p.index64 else "u32", count=p.radix)
    what = "rank tiles and store their keys at their places"
    return replace(picking(ranking(p, "scatter", what, moving(p, *ALL), (bases,), folder=_KERNELS)), data=_data(p))


def passes(p: Ranked) -> list[Kernel]:
    """Return the kernels of a pass: what this strategy does always, and look-back where it failed."""
    return [count(p), scanned(p), scatter(p)]


def beyond(p: Ranked) -> tuple[Kernel, ...]:
    """Return the kernels for 2^30 keys and more."""
    return kernels(large(p)) if p.large else ()


def kernels(p: Ranked) -> tuple[Kernel, ...]:
    """Return every kernel, in the order in which a sort uses them."""
    made = [single.kernel(single.of(p))] if p.alone else []
    return (*made, *passes(p), copy(p), *beyond(p))


def large(p: Ranked) -> ReduceScan:
    """Return the shape of the kernels for 2^30 keys and more: the same tiles, counted in 64 bits."""
    return recast(p, ReduceScan, large=False, index64=True, single=0, sorted_exit=False)


def counted(p: Ranked, number: int, flags: int) -> list[Step]:
    """Return the rows of a pass that counts, scans and scatters."""
    values = p.radix if p.signature.bit_range else 1 << p.digits[number][1]
    return [
        *rows.tiled(p, rows.row(p, count(p), rows.tiles(p), rows.nth(p, number, flags & REDO))),
        rows.row(p, scanned(p), rows.fixed(values), rows.nth(p, number, flags & REDO)),
        *rows.tiled(p, rows.row(p, scatter(p), rows.tiles(p), rows.nth(p, number, flags))),
    ]


def plan(p: Ranked, first: Sequence[Step] = ()) -> Plan:
    """Return the whole sort; `first` are the rows before its passes.

    Passes go from the source to scratch, from there to the destination, and so on in turns.  With an odd number
    of passes the first goes to the destination at once, which in place it may not: then a copy follows.
    """
    steps = [*rows.single(p, single.kernel(single.of(p))), *first]
    for number in range(len(p.digits)):
        steps += counted(p, number, DIRECT)
    return joined(p, rows.plan(p, [*steps, *rows.copied(p, copy(p))]))


def joined(p: Ranked, narrow: Plan, wide: Plan | None = None, top: int | None = None) -> Plan:
    """Return the plan with the rows for 2^30 keys and more (fewer where tiles are tiny), if there are any: those of
    `wide`, or of passes that count, scan and scatter.  `top`: the greatest count of `narrow`, if not its own."""
    if not p.large:
        return narrow
    wide, top = wide or plan(large(p)), max_n(p) if top is None else top
    rules = (*scratch(p).within(0, top).rules, *wide.scratch.within(top, wide.max_n).rules)
    own = [s for s in narrow.steps if s.guard.min_n < top]
    fewer = [replace(s, guard=replace(s.guard, max_n=min(top, s.guard.max_n))) for s in own]
    kept = [step for step in wide.steps if step.guard.max_n > top]
    more = [replace(s, guard=replace(s.guard, min_n=max(top, s.guard.min_n))) for s in kept]
    return replace(narrow, steps=(*fewer, *more), max_n=wide.max_n, scratch=Scratch(rules))


def moved(p: ReduceScan, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` for `n` keys reads and writes where no digit is constant."""
    return rows.moved(p, step, n)


def test_counts(p: ReduceScan, greatest: int) -> set[int]:
    """Return the counts up to `greatest` at which the sort changes its way."""
    return rows.test_counts(p, greatest)


def problems(p: Ranked, device: Device) -> Iterator[Problem]:
    """Yield what cannot work."""
    yield from rankers.problems(p)
    if p.compact and p.sorted_exit:
        yield "sorted_exit", "compact kernels move all keys", "leave it out"
    if p.large_groups and p.large_groups <= p.groups:
        yield "large_groups", f"{p.groups} work-groups are no fewer", "give more, or leave it out"
    elif p.large_groups and p.sorted_exit:
        yield "sorted_exit", "each work-group reports alone, of `groups` at most", "leave it out, or large_groups"


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield a box for each ranker and width of subgroups."""
    yield from search_space.ranked(device)


def fitted(p: ReduceScan) -> ReduceScan:
    """Return the shape for its key and form.

    Keys that are equal in a range stay in their order, and kernels of a pass do not know the whole range.  Counts on
    the device are words, and so are places that are reported.
    """
    few = p.signature.device_count or p.signature.followed
    return replace(p, sorted_exit=p.sorted_exit and not p.signature.bit_range, large=p.large and not few)


def notes(p: ReduceScan) -> list[tuple[str, str]]:
    """Return derived values for people."""
    return rankers.notes(p)
