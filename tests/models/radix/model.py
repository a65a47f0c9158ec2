"""A model of the radix kernels in numpy: proves that a plan sorts, without a device.

Launches run sequentially on the same flags and tables as on a device.  Work within a tile is not modelled: a stable
sort gives the positions of its keys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix import Params, kernels, portions
from hsgen.algorithms.radix.hybrid import pairs as finish
from hsgen.algorithms.radix.words import columns
from hsgen.core.interpreter import PLAIN, Options, launches
from hsgen.core.plan import Plan
from models.radix import grid as model_grid
from models.radix import key_buckets as model_keys
from models.radix import pair_buckets as model_pairs
from models.radix import pieces as model_pieces
from models.radix.memory import Fault, Keys, Memory, Pass, Values, all_digits, digits_of, unpacked

__all__ = ["Fault", "Result", "run"]


@dataclass(frozen=True, slots=True)
class Result:
    """The destination, the values after the sort (rows of u32; None without values), and the number of failed
    passes."""

    keys: Keys
    values: Values | None
    failed: set[int]


def _spans(p: Params, n: int) -> list[tuple[int, int]]:
    """The keys of each column of the table: of each work-group, or of each lane of the serial ranker."""
    tiles = -(-n // p.tile)
    groups = min(tiles, p.groups)
    if p.serial:
        chunks = groups * columns(p)
        each = -(-n // chunks)
        return [(min(c * each, n), min(c * each + each, n)) for c in range(chunks)]
    each = -(-tiles // groups) * p.tile
    return [(min(g * each, n), min(g * each + each, n)) for g in range(groups)]


def _place(p: Params, m: Memory, at: Pass) -> int:
    return 0 if at.number == 0 and not p.looks_back else m.where[at.number]


def _idle(p: Params, m: Memory, at: Pass) -> bool:
    if p.index64 and p.has_key_buckets and model_keys.partitioned(p, m, at.n):
        return True
    return at.redo and not any(q in m.failed for q in range(at.number + 1))


def _left(p: Params, m: Memory, at: Pass) -> bool:
    """Whether the keys were found sorted, with each pass counted separately."""
    return not p.looks_back and not m.unsorted


def _count(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    if not p.looks_back and at.number == 0:
        m.look(p, at.n, at, (p.begin, p.key.bits if p.end is None else p.end))
    if not _idle(p, m, at) and not (at.number and _left(p, m, at)):
        digits = m.digits(_place(p, m, at), at, at.shift, at.mask)
        m.table = np.stack([np.bincount(digits[a:b], minlength=p.radix) for a, b in _spans(p, at.n)], axis=1)
        m.totals = m.table.sum(axis=1)  # (the folded form sums the table in each scatter)


def _rows(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    if not _idle(p, m, at) and not (at.number and _left(p, m, at)):  # one table row per work-group, or per lane
        digits = min(at.groups * (p.work_group if p.serial else 1), at.mask + 1)
        m.table[:digits] = (np.cumsum(m.table, axis=1) - m.table)[:digits]


def _scatter(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    if _idle(p, m, at):
        return
    place = _place(p, m, at)
    if p.looks_back:
        if m.order[at.number] == 0:
            return
        following = m.where[at.number + 1]
    else:
        skipped = _left(p, m, at) or bool((m.totals == at.n).any())
        following = place if skipped else 3 - place if place else 1 if at.direct else 2
        m.where[at.number + 1] = following
        if skipped:
            return
    table = np.cumsum(m.table, axis=1) - m.table if p.folded else m.table
    starts = np.cumsum(m.totals) - m.totals
    m.may_move(place, following)
    keys, values = m.entries(p, place, at.n)
    for column, (a, b) in enumerate(_spans(p, at.n)):
        _scattered(m, following, keys[a:b], None if values is None else values[a:b], at, starts + table[:, column])


def _scattered(m: Memory, to: int, keys: Keys, values: Values | None, at: Pass, bases: NDArray[np.int64]) -> None:
    """Store keys and values in digit order, each digit from its base on."""
    digits = digits_of(keys, at, at.shift, at.mask)
    order = np.argsort(digits, kind="stable")
    counts = np.bincount(digits, minlength=len(bases))
    firsts = np.cumsum(counts) - counts
    place = bases[digits[order]] - firsts[digits[order]] + np.arange(len(keys))
    m.store(to, place, (keys[order], None if values is None else values[order]), at)


def _begin(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    m.drawn, m.failed, m.histogram = {}, set(), [np.zeros(p.radix, np.int64) for _ in p.digits]


def _histogram(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    if model_keys.done(p, m, at):
        return
    m.look(p, at.n, at, (at.begin, at.end))
    for number, (shift, mask) in enumerate(all_digits(p, at)):
        m.histogram[number] += np.bincount(m.digits(0, at, shift, mask), minlength=p.radix)


def _starts(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    if model_keys.done(p, m, at):
        return
    model_pairs.ordered(p, m, at, model_pairs.living(p, m, at, m.histogram[: len(all_digits(p, at))]))


def _onesweep(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    if m.order[at.number] == 0 or any(q in m.failed for q in range(at.number)):
        return
    if m.order[at.number] > finish.EARLY:
        at = replace(at, discard=False)
    place, following = m.where[at.number], m.where[at.number + 1]
    m.may_move(place, following)
    keys, values = m.entries(p, place, at.n)
    first = m.drawn.get(at.number, 0)
    if first == 0:
        m.bases = np.cumsum(m.histogram[at.number]) - m.histogram[at.number]
    m.drawn[at.number] = first + _rows_of_states(p, at.n)
    bases = m.bases
    for tile in range(first, min(m.drawn[at.number], -(-at.n // p.tile))):
        a = tile * p.tile
        mine = slice(a, a + p.tile)
        if at.number in failing and tile % 2:
            m.failed.add(at.number)  # and every other tile was never stored
        else:
            _scattered(m, following, keys[mine], None if values is None else values[mine], at, bases)
        bases = bases + np.bincount(digits_of(keys[mine], at, at.shift, at.mask), minlength=p.radix)
    m.bases = bases


def _rows_of_states(p: Params, n: int) -> int:
    """The tiles of a portion; the last portion may have fewer."""
    unit = p.tile if n <= portions.whole(p) else p.tile * portions.count(p)
    return -(-n // unit)


def _copy(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    if _idle(p, m, at):
        return
    places = [m.where.get(q, 0) for q in range(at.number)] + [m.where[at.number]]
    if places[-1] == 1:
        return
    _wasted(p, m, places)
    m.store(1, np.arange(at.n), m.entries(p, places[-1], at.n), at)


def _wasted(p: Params, m: Memory, places: list[int]) -> None:
    """Raise a fault if a copy would be unnecessary had the first pass chosen the right buffer, or one more moved the
    keys.

    Passes that are scanned one by one learn too late that a later one moves nothing.
    """
    moves = [a != b for a, b in pairwise(places)]
    if p.looks_back and not (m.in_place and (all(moves) or len(moves) == 1)):
        raise Fault("keys are copied that another pass could have moved")
    known = all(moves[moves.index(True) :] if True in moves else ())
    if not m.in_place and True in moves and known:
        raise Fault("keys are copied that the last pass could have stored")


def _single(p: Params, m: Memory, at: Pass, failing: Collection[int]) -> None:
    keys, values = m.entries(p, 0, at.n)
    places = np.arange(at.n)
    for shift, mask in all_digits(replace(p, bits=p.single_bits or p.bits), at):
        places = places[np.argsort(digits_of(keys[places], at, shift, mask), kind="stable")]
    m.store(1, np.arange(at.n), (keys[places], None if values is None else values[places]), at)


PLAY: dict[str, Callable[[Params, Memory, Pass, Collection[int]], None]] = {
    "count": _count,
    "rows": _rows,
    "scatter": _scatter,
    "scatter_lines": _scatter,
    "begin": _begin,
    "histogram": _histogram,
    "starts": _starts,
    "onesweep": _onesweep,
    "copy": _copy,
    "grid": model_grid.play,
    "single": _single,
    **model_keys.PLAY,
    **model_pairs.PLAY,
}


def _needed(p: Params, name: str, at: Pass) -> int:
    """The number of work-groups that the kernel requires."""
    tiles = -(-at.n // p.tile)
    if name == "onesweep" and (not p.forward_progress or at.n > portions.whole(p)):
        return _rows_of_states(p, at.n)
    if name == "grid":
        return model_grid.shares(p, at.n)[0]
    if name in model_keys.PLAY or name in model_pairs.PLAY or name in model_pieces.PLAY:
        return 1  # they detect it themselves
    if name == "rows":
        return -(-(at.mask + 1) // p.work_group) if p.serial else at.mask + 1
    if name == "histogram":
        return min(tiles, p.groups) + int(p.sampled > 0 and p.has_pair_buckets)  # one looks at a sample
    return 1 if name in ("single", "begin", "starts") else min(tiles, p.groups)


def _memory(p: Params, keys: Keys, values: Values | None, *, in_place: bool) -> Memory:
    """The buffers before a sort; in place, values that are read are also written, but generated indices are not
    read."""
    source, poison = keys.copy(), np.full_like(keys, 0xA5)
    held: list[Values | None] = [None, None, None]
    if p.valued:
        room = np.full((len(keys), p.signature.value_bytes // 4), 0xA5A5A5A5, np.uint32)
        given = None if values is None else values.copy()
        held = [given, given if in_place and given is not None else room.copy(), room]
    return Memory([source, source if in_place else poison.copy(), poison], held, in_place)


def run(
    p: Params,
    plan: Plan,
    keys: Keys,
    values: Values | None = None,
    *,
    in_place: bool = False,
    how: Options = PLAIN,
    count: int | None = None,
    failing: Collection[int] = (),
) -> Result:
    """Return the result of the sort of `keys`, (n,), and `values`, (n, u32 of a value).

    `count` is the device-side count, if `how` has one; n is then its upper bound.  The passes in `failing` lose every
    other tile, as on a device without forward progress.

    Raises:
        Fault: a kernel writes what it must not write, finds unexpected buffers or arguments, or gets too few
            work-groups.
    """
    live = len(keys) if count is None else min(count, len(keys))
    memory, made = _memory(p, keys, values, in_place=in_place), {k.name: k for k in kernels(p)}
    memory.scratch = plan.scratch.bytes(len(keys))
    for launch in launches(plan, len(keys), in_place=in_place, how=how):
        step, kernel = launch.step, made[launch.step.kernel]
        memory.bind(kernel, step.bindings)
        if how.device_count and not kernel.always and not step.guard.min_n < live <= step.guard.max_n:
            continue
        name, at = step.kernel.removesuffix("_wide"), unpacked(p, launch, live)
        own = replace(p, groups=getattr(kernel.params, "groups", p.groups))
        if at.groups < (least := _needed(own, name, at)):
            raise Fault(f"{name} gets {at.groups} work-groups and needs {least}")
        pieced = own.pieces and name in model_pieces.PLAY
        (model_pieces.PLAY if pieced else PLAY)[name](own, memory, at, failing)
    for number, tiles in memory.drawn.items():
        if tiles < -(-live // p.tile) and number not in memory.failed:
            raise Fault(f"only {tiles} tiles of pass {number} are sorted")
    if not in_place and not np.array_equal(memory.buffers[0], keys):
        raise Fault("the source was changed")
    if not in_place and values is not None and not np.array_equal(np.asarray(memory.values[0]), values):
        raise Fault("the values were changed")
    return Result(memory.buffers[1], memory.values[1], memory.failed)
