"""A model of the merge sort's kernels in numpy: it plays a plan on the data that the templates render.

What ``templates/merge/*.j2`` say in a kernel language is said here for arrays, one kernel after another, but all
groups, columns and lanes at once, and several inputs (*batch*).  Stricter than a device, it raises `Fault` where a
slot is touched that does not exist, was never written, or belongs to a lane that no barrier separates from this one.

Keys are arrays of u32 or u64.  Registers have the shape (batch, groups, registers, columns, lanes), slot
numbers that of the last three axes in a tile, of the last four in memory; a column is dealt to a subgroup.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.merge.bodies import BlockSort, Clean, Stream
from hsgen.algorithms.merge.passes import Flip, Half, Op, Pass, Row, Swap
from hsgen.algorithms.merge.shape import Params
from hsgen.networks import pow2_ceil
from hsgen.plan import launches
from hsgen.spec import Kernel, Sort

Keys = NDArray[np.unsignedinteger]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_] | np.bool_


class Fault(AssertionError):
    """A kernel did what no kernel may do."""


def _demand(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise Fault(what)


class Memory:
    """Slots on the last axis of `keys`; every access is checked.  `defined`: all of them hold keys from the start."""

    def __init__(self, keys: Keys, *, defined: bool) -> None:
        self.keys, self.end = keys, keys.shape[-1]
        self.defined, self.owner = np.full(self.end, defined), np.full(self.end, -1)

    def barrier(self) -> None:
        """Let every slot change hands."""
        self.owner[:] = -1

    def _touch(self, at: Numbers, live: Mask, owner: Numbers | None) -> tuple[Numbers, Mask]:
        owner = np.arange(at[0].size).reshape(at[0].shape) if owner is None else owner
        at, live, owner = np.broadcast_arrays(at, live, owner)
        slots, owner = at[live], owner[live]
        _demand(((slots >= 0) & (slots < self.end)).all(), f"a slot outside 0 to {self.end} is touched")
        free = (self.owner[slots] == -1) | (self.owner[slots] == owner)
        self.owner[slots] = owner
        _demand((free & (self.owner[slots] == owner)).all(), "two lanes touch a slot without a barrier between")
        return slots, live

    def read(self, at: Numbers, live: Mask = np.True_, low: Mask = np.False_, owner: Numbers | None = None) -> Keys:
        """Return the keys of the slots `at` where `live`; elsewhere the least key where `low`, or the greatest.

        `owner` numbers who reads: the lanes of a tile, if not given; groups, where a barrier comes before the
        next access.  All have one shape or broadcast to it; the result has it behind the memory's other axes.
        """
        slots, live = self._touch(at, live, owner)
        _demand(self.defined[slots].all(), "a slot is read that was never written")
        out: Keys = np.full(self.keys.shape[:-1] + live.shape, np.iinfo(self.keys.dtype).max, self.keys.dtype)
        out[..., np.broadcast_to(low, live.shape)] = 0
        out[..., live] = self.keys[..., slots]
        return out

    def write(self, keys: Keys, at: Numbers, live: Mask = np.True_, owner: Numbers | None = None) -> None:
        """Put registers where `read` with the same arguments took them from; slots that are not live stay."""
        slots, live = self._touch(at, live, owner)
        self.defined[slots] = True
        self.keys[..., slots] = keys[..., live]


def _moved(memory: Memory, source: Numbers, target: Numbers) -> Memory:
    out = Memory(np.zeros_like(memory.keys), defined=False)
    out.write(memory.read(source), target)
    out.barrier()
    return out


def exchange(ops: Sequence[Op], keys: Keys) -> Keys:
    """Return the registers after `ops`; the lanes of a subgroup are the last axis."""
    regs = [keys[..., r, :, :] for r in range(keys.shape[-3])]
    lane = np.arange(keys.shape[-1])

    def keep(a: Keys, b: Keys, mask: int, bit: int) -> Keys:
        b = b[..., lane ^ mask]
        return np.where(lane & bit, np.maximum(a, b), np.minimum(a, b))

    for op in ops:
        if isinstance(op, Swap):
            a, b = regs[op.lo], regs[op.hi]
            regs[op.lo], regs[op.hi] = np.minimum(a, b), np.maximum(a, b)
        elif isinstance(op, Half):
            regs[op.reg] = keep(regs[op.reg], regs[op.reg], op.mask, op.mask)
        elif isinstance(op, Flip):
            a, b, bit = regs[op.a], regs[op.b], (op.mask + 1) // 2
            regs[op.a], regs[op.b] = keep(a, b, op.mask, bit), keep(b, a, op.mask, bit)
    return np.stack(regs, axis=-3)


def table(rows: Sequence[Row]) -> list[Numbers]:
    """Return offset, sign, front and end of `rows`, each with the shape (registers, columns = 1)."""
    return list(np.array([(r.offset, r.sign, r.front, r.end) for r in rows]).T[..., None])


def row_numbers(p: Pass) -> tuple[Numbers, Numbers]:
    """Return the tile rows (registers, columns) that every column holds, and the first row of its span (columns)."""
    x, span = np.arange(p.count) % p.columns, np.arange(p.count) // p.columns * p.length
    offset, sign, _, _ = table(p.rows)
    return span + sign * (x // p.stride * p.chunk + x % p.stride) + offset - p.front, span


def slot_numbers(p: Pass, w: int) -> Numbers:
    """Return the slots (registers, columns, lanes) in a memory of `w` keys a row."""
    back = (table(p.rows)[1] < 0) & p.mirror
    return row_numbers(p)[0][..., None] * w + np.where(back[..., None], np.arange(w)[::-1], np.arange(w))


def tile_pass(p: Pass, memory: Memory, w: int) -> None:
    """Play a pass that stays in the tile, for subgroups of `w` lanes; barriers before and after it."""
    memory.barrier()
    (row, span), (_, _, front, end) = row_numbers(p), table(p.rows)
    early, late = row < span, row >= span + p.length
    live = ~(early & (front == 1)) & ~(late & (end == 1)) & ((not p.limit) | (row < p.limit))
    _demand(not (live & (early | late)).any(), "a row outside its span is touched")
    live, low = live[..., None], (early & (front == 1))[..., None]
    at = slot_numbers(p, w)
    memory.write(exchange(p.ops, memory.read(at, live, low)), at, live)
    memory.barrier()


def _block_sort(kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int) -> None:
    b, w, h = kernel.data, kernel.subgroup, p.height
    assert isinstance(b, BlockSort)
    (source, destination), size = memory, b.slabs * h * w
    group: Numbers = np.arange(groups)
    group = group[group * size < n].reshape(-1, 1, 1, 1)
    start, count = group * size, n - group * size
    i, sub, lane = np.arange(h)[:, None, None], np.arange(b.slabs)[:, None], np.arange(w)
    linear = sub * h * w + lane + i * w
    order = linear if w > 1 else sub + i * b.slabs
    live = (count >= size) | (order < count)
    keys = exchange(b.sort, source.read(start + order, live, owner=group))
    shared = Memory(np.zeros((*keys.shape[:2], _slots(kernel)), keys.dtype), defined=False)
    shared.write(keys, linear)
    for each in b.columns:
        tile_pass(each, shared, w)
    to = sub * h // b.column * (b.pitch * w) + lane * b.pitch + sub * h % b.column + i
    if w > 1:
        shared = _moved(shared, linear, to)
    rank = linear + linear // b.column * (b.pitch - b.column)
    if b.linear:
        shared = _moved(shared, rank, linear)
    for each in b.linear:
        tile_pass(each, shared, w)
    shared.barrier()
    result = shared.read(order if w == 1 or b.linear else rank)
    destination.write(result, start + order, live, owner=group)


def _spans(groups: int, lg_groups: int, run: int, n: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return each group's number in its span, and first key and keys of the span; none for a run without partner."""
    _demand(lg_groups >= 0, "less than one group a span")
    group: Numbers = np.arange(groups)
    group = group[(group >> lg_groups) * (2 * run) + run < n].reshape(-1, 1, 1, 1)
    span = (group >> lg_groups) * (2 * run)
    return group & ((1 << lg_groups) - 1), span, np.minimum(n - span, 2 * run)


def _stream(kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int) -> None:
    d, w, size, top = kernel.data, kernel.subgroup, kernel.work_group, pow2_ceil(p.block)
    assert isinstance(d, Stream)
    level, lg_stride = argument & 255, argument >> 8
    stride, run = 1 << lg_stride, p.block << level
    lg_groups = (lg_stride if d.flip else level + (2 * top).bit_length() - 1 - d.scale) - (size.bit_length() - 1)
    number, span, keys = _spans(groups, lg_groups, run, n)
    first = number * size
    if not d.flip:
        first = (first >> lg_stride << (lg_stride + d.scale)) + (first & (stride - 1))
    first -= (top - p.block) << level
    whole = keys == 2 * run if d.flip else first + size + ((1 << d.scale) - 1) * stride <= keys
    offset, sign, front, end = (v[..., None] for v in table(d.rows))
    up, unguarded = sign > 0, (front | end) == 0
    x = first + np.arange(size // w)[:, None] * w
    i = np.where(up, x + offset * stride, 2 * run - w - x - offset * stride) + np.arange(w)
    live = (unguarded & (whole | (d.flip & up))) | (((front == 0) | (i >= 0)) & (i < keys))
    _demand((~live | ((i >= 0) & (i < keys))).all(), "a slot outside the span is touched")
    who = np.arange(i[:, :1].size).reshape(i[:, :1].shape)
    back = ~up & (w > 1)  # mirror rows change their lanes around the network
    regs = memory[0].read(span + i, live, (front == 1) & (i < 0), who)
    regs = exchange(d.ops, np.where(back, regs[..., ::-1], regs))
    memory[0].write(np.where(back, regs[..., ::-1], regs), span + i, live, who)


def _clean(kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int) -> None:
    c, w, top, level = kernel.data, kernel.subgroup, pow2_ceil(p.block), argument & 255
    assert isinstance(c, Clean)
    number, span, keys = _spans(groups, level + (2 * top // c.chunk).bit_length() - 1, p.block << level, n)
    place = number * c.chunk - ((top - p.block) << level)
    work = ((place + c.chunk > 0) & (place < keys)).ravel()
    place, span, keys = place[work], span[work], keys[work]
    lead, end, group = np.maximum(-place, 0), keys - place, np.flatnonzero(work).reshape(-1, 1, 1, 1)
    whole = (lead == 0) & (end >= c.chunk)
    first, *others = c.passes
    at = slot_numbers(first, w)
    regs = exchange(first.ops, memory[0].read(span + place + at, whole | (at >= lead) & (at < end), at < lead, group))
    if others or w == 1:
        shared = Memory(np.zeros((*regs.shape[:2], _slots(kernel)), regs.dtype), defined=False)
        shared.write(regs, at)
        last = others.pop() if w > 1 else None  # it writes to memory; single lanes copy the tile instead
        for each in others:
            tile_pass(each, shared, w)
        shared.barrier()
        at = slot_numbers(last, w) if last else np.arange(c.chunk).reshape(1, -1, 1)
        regs = exchange(last.ops if last else (), shared.read(at))
    memory[0].write(regs, span + place + at, whole | (at >= lead) & (at < end), group)


def _slots(kernel: Kernel) -> int:
    """The keys that a work-group's tile holds."""
    return kernel.arrays[0].count if kernel.arrays else 0


PLAY = {BlockSort: _block_sort, Stream: _stream, Clean: _clean}


def run(sort: Sort, keys: Keys, n: int | None = None, *, in_place: bool = False, limit: int = 2**32 - 1) -> Keys:
    """Return the destination buffer after the sort of the first `n` keys (all, if not given).

    `keys` has the shape (slots) or (batch, slots), and may go on beyond n.  The destination has it too, and begins
    as an unlikely pattern, or is `keys` itself if `in_place`.  `limit` is the device's greatest grid in one
    dimension; groups beyond the work are played as well.

    Raises:
        Fault: a kernel touches a slot that it may not touch.
    """
    p, n = sort.parts[0].params, keys.shape[-1] if n is None else n
    assert isinstance(p, Params)
    out = keys if in_place else np.full_like(keys, 0xA5)
    memory = {"destination": Memory(np.atleast_2d(out)[:, :n], defined=in_place)}
    memory["source"] = memory["destination"] if in_place else Memory(np.atleast_2d(keys)[:, :n], defined=True)
    for launch in launches(sort.plan, n, limit, in_place=in_place):
        kernel = sort.kernel(launch.step.kernel)
        bound = [memory[binding.role] for binding in launch.step.bindings]
        for each in bound:
            each.barrier()
        PLAY[type(kernel.data)](kernel, p, bound, n, launch.step.argument, launch.grid[0] * launch.grid[1])
    return out
