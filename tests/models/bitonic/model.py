"""A model of the merge sort's kernels in numpy: it executes a plan on the data that the templates render.

It does for arrays what ``templates/bitonic/*.j2`` do in a kernel language, one kernel after another, with all groups,
columns and lanes at once, and for several inputs (*batch*).  Stricter than a device, it raises `Fault` on access to a
slot that does not exist, was never written, or belongs to a lane without a barrier in between.

Keys are arrays of u32 or u64.  Registers have the shape (batch, groups, registers, columns, lanes), slot numbers that
of the last three axes in a tile, of the last four in memory; a subgroup handles a column.  They hold keys in their
order, or with values pairs of a key and its index; see `models.bitonic.memory`.
"""

from __future__ import annotations

import numpy as np

from hsgen.algorithms.bitonic.kernel_data import BlockSort, Clean, LoopedBlock, RowBlock, Stream
from hsgen.algorithms.bitonic.kernels import block_sort
from hsgen.algorithms.bitonic.params import Params
from hsgen.algorithms.bitonic.paths import Path
from hsgen.core.buffers import Buffer
from hsgen.core.flags import DISCARD
from hsgen.core.interpreter import PLAIN, Options, launches, offset
from hsgen.core.kernels import Kernel
from hsgen.core.networks import pow2_ceil
from hsgen.core.plan import Binding
from hsgen.core.sort import Sort
from models.bitonic.lanes import exchange, slot_numbers, table, tile_pass
from models.bitonic.memory import Keys, Memory, Numbers, Pairs, Typed, demand


def _moved(memory: Memory, source: Numbers, target: Numbers) -> Memory:
    out = Memory(np.zeros_like(memory.keys), defined=False)
    out.write(memory.read(source), target)
    out.barrier()
    return out


def _block_sort(
    kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int, base: int = 0
) -> None:
    b, w, h = kernel.data, kernel.subgroup, p.height
    assert isinstance(b, BlockSort)
    (source, destination), size = memory[:2], b.slabs * h * w
    group: Numbers = np.arange(groups)
    group = group[base + group * size < n].reshape(-1, 1, 1, 1)
    start, count = base + group * size, n - base - group * size
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


def _looped_block(kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int) -> None:
    """Whole blocks, and the last block with as many slabs as its keys fill."""
    b, slab = kernel.data, kernel.subgroup * p.height
    assert isinstance(b, LoopedBlock)
    whole = n - n % (b.slabs * slab)
    if whole:
        _block_sort(kernel, p, memory, whole, argument, groups)
    if n > whole:
        slabs = b.least
        while slabs * slab < n - whole:
            slabs *= 2
        _block_sort(block_sort(p, slabs), p, memory, n, argument, 1, whole)


def _row_block(kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int) -> None:
    """Every block at once; ``tests/device/test_row_blocks.py`` runs the phases of a block."""
    data, size = kernel.data, p.block << (argument & 255)
    assert isinstance(data, RowBlock)
    demand(size <= data.most, "a block exceeds its tile")
    demand(-(-n // size) <= groups, "too few groups for the blocks")
    for start in range(0, n, size):
        at: Numbers = np.arange(start, min(start + size, n))
        memory[1].write(np.sort(memory[0].read(at, owner=at * 0), axis=-1), at, owner=at * 0)


def _spans(groups: int, lg_groups: int, run: int, n: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return each group's number in its span, and first key and keys of the span; no span for a run without partner."""
    demand(lg_groups >= 0, "less than one group per span")
    group: Numbers = np.arange(groups)
    group = group[(group >> lg_groups) * (2 * run) + run < n].reshape(-1, 1, 1, 1)
    span = (group >> lg_groups) * (2 * run)
    return group & ((1 << lg_groups) - 1), span, np.minimum(n - span, 2 * run)


def _stream(kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int) -> None:
    d, w, size, top = kernel.data, kernel.subgroup, kernel.work_group, pow2_ceil(p.block)
    assert isinstance(d, Stream)
    level, lg_stride = argument & 255, argument >> 8 & 255
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
    demand((~live | ((i >= 0) & (i < keys))).all(), "a slot outside the span is accessed")
    who = np.arange(i[:, :1].size).reshape(i[:, :1].shape)
    back = ~up & (w > 1)  # mirror rows reverse their lanes around the network
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


def _path(kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int) -> None:
    """Every merge at once; `models.merge_path` tests the search for tile boundaries."""
    data, run = kernel.data, p.block << (argument & 255)
    assert isinstance(data, Path)
    tile = 1 << (argument >> 8 & 255) if p.lane_block else data.tile
    demand(-(-n // (2 * run)) * -(-2 * run // tile) <= groups, "too few groups for the merge")
    for low in range(0, n, 2 * run):
        at: Numbers = np.arange(low, min(low + 2 * run, n))
        keys, one = memory[0].read(at, owner=at * 0), min(run, n - low)
        for half in (keys[..., :one], keys[..., one:]):
            demand((half[..., 1:] >= half[..., :-1]).all(), "an unsorted run is merged")
        memory[1].write(np.sort(keys, axis=-1, kind="stable"), at, owner=at * 0)


def _slots(kernel: Kernel) -> int:
    """The keys in a work-group's tile."""
    return kernel.arrays[0].count if kernel.arrays else 0


def _lanes(kernel: Kernel, n: int, groups: int) -> Numbers:
    """The items of the lanes, one each."""
    lanes: Numbers = np.arange(groups * kernel.work_group)
    return lanes[lanes < n]


def _keep(kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int) -> None:
    at = _lanes(kernel, n, groups)
    memory[1].write(memory[0].read(at, owner=at), at, owner=at)


def _gather(kernel: Kernel, p: Params, memory: list[Memory], n: int, argument: int, groups: int) -> None:
    at, (pairs, destination, *values, out) = _lanes(kernel, n, groups), memory
    entries = pairs.read(at, owner=at)
    discard = bool(argument & DISCARD)
    demand(p.signature.index or not discard, "keys are discarded without an argsort")
    if not discard:
        destination.write(entries, at, owner=at)
    places = (entries[0] & np.uint64(0xFFFFFFFF)).astype(np.int64)
    made = places.astype(f"u{p.signature.value_bytes}").view(np.uint32).reshape(len(at), -1).T if not values else None
    out.write(values[0].read(places, owner=at) if made is None else made, at, owner=at)


PLAY = {
    BlockSort: _block_sort,
    LoopedBlock: _looped_block,
    RowBlock: _row_block,
    Stream: _stream,
    Clean: _clean,
    Path: _path,
    "keep": _keep,
    "gather": _gather,
}


class _Buffers:
    """The buffers of a call by role, those in scratch also by offset."""

    def __init__(self, roles: dict[str, Memory], n: int, live: int, words: int) -> None:
        self._memory, self._n, self._live, self._words = roles, n, live, words

    def find(self, buffer: Buffer, binding: Binding) -> Memory:
        """Return the buffer of a kernel's role; one in scratch is created on first use."""
        if binding.role != "scratch":
            return self._memory[binding.role]
        name, like = f"scratch {offset(binding, self._n)}", self._memory["destination"]
        if buffer.type == "key":
            blank = Memory(np.zeros_like(like.keys), defined=False, signature=like.signature)
            return self._memory.setdefault(name, blank)
        pair = buffer.type == "pair"
        shape, dtype = (1 if pair else self._words, self._live), np.dtype(np.uint64 if pair else np.uint32)
        found = self._memory.setdefault(name, Memory(np.zeros(shape, dtype), defined=False))
        demand(found.keys.shape == shape and found.keys.dtype == dtype, "two buffers have one offset")
        return found


def _play(sort: Sort, buffers: _Buffers, n: int, live: int, limit: int, in_place: bool, how: Options) -> None:
    p = sort.parts[0].params
    assert isinstance(p, Params)
    demand(
        p.signature.key_transform or not (how.kind or how.descending),
        "kernels without key transform get another type or order",
    )
    for launch in launches(sort.plan, n, limit, in_place=in_place, how=how):
        step, kernel = launch.step, sort.kernel(launch.step.kernel)
        if how.device_count and not step.guard.min_n < live <= step.guard.max_n:
            continue
        pairs = zip(kernel.buffers, step.bindings, strict=True)
        bound = [buffers.find(buffer, binding) for buffer, binding in pairs if binding.role != "count"]
        for each in bound:
            each.barrier()
        play = PLAY[kernel.name if kernel.data is None else type(kernel.data)]
        play(kernel, p, bound, live, launch.argument, launch.grid[0] * launch.grid[1])


def run(
    sort: Sort,
    keys: Keys,
    n: int | None = None,
    *,
    in_place: bool = False,
    limit: int = 2**32 - 1,
    how: Options = PLAIN,
    count: int | None = None,
) -> Keys:
    """Return the destination buffer after the sort of the first `n` keys (default: all), without values.

    `keys` has the shape (slots) or (batch, slots), and may extend beyond n.  The destination has the same shape, and
    initially an unlikely pattern, or is `keys` itself if `in_place`.  `limit` is the device's greatest grid in one
    dimension; excess groups run as well.  `count` is the device-side count, if `how` has one.

    Raises:
        Fault: a kernel accesses a slot that it must not access.
    """
    n = keys.shape[-1] if n is None else n
    live = n if count is None else min(count, n)
    out = keys if in_place else np.full_like(keys, 0xA5)
    signature = Typed(how) if how.kind or how.descending else None
    destination = Memory(np.atleast_2d(out)[:, :live], defined=in_place, signature=signature)
    source = destination if in_place else Memory(np.atleast_2d(keys)[:, :live], defined=True, signature=signature)
    roles = {"source": source, "destination": destination}
    _play(sort, _Buffers(roles, n, live, 0), n, live, limit, in_place, how)
    return out


def run_valued(
    sort: Sort,
    keys: Keys,
    values: Keys | None,
    *,
    in_place: bool = False,
    how: Options = PLAIN,
    count: int | None = None,
) -> tuple[Keys, Keys]:
    """Return the destination, and the values after the sort of `keys`, (n,), and `values`, (n, u32 of a value).

    Values are None for an argsort, whose values always have a separate buffer.  `count` as above.

    Raises:
        Fault: a kernel accesses a slot that it must not access, or that another lane may be writing.
    """
    n, words = len(keys), sort.signature.value_bytes // 4
    live = n if count is None else min(count, n)
    signature = Pairs(keys, how)
    out = keys.copy() if in_place else np.full_like(keys, 0xA5)
    room = values.T.copy() if values is not None and in_place else np.full((words, n), 0xA5A5A5A5, np.uint32)
    destination = Memory(out[None, :live], defined=in_place, signature=signature)
    roles = {"destination": destination, "values_out": Memory(room[:, :live], defined=in_place)}
    roles["source"] = destination if in_place else Memory(keys.copy()[None, :live], defined=True, signature=signature)
    if values is not None:
        roles["values"] = roles["values_out"] if in_place else Memory(values.T.copy()[:, :live], defined=True)
    _play(sort, _Buffers(roles, n, live, words), n, live, 2**32 - 1, in_place, how)
    return out, room.T
