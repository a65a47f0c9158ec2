"""The lanes of a merge sort in numpy: exchanges between registers, and passes over the tile of a work-group.

Shapes are those of `models.bitonic.model`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hsgen.algorithms.bitonic.passes import Pass
from hsgen.algorithms.bitonic.rows import Flip, Half, Op, Row, Swap
from models.bitonic.memory import Keys, Memory, Numbers, demand


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
    """Run a pass that stays in the tile, for subgroups of `w` lanes; barriers before and after it."""
    memory.barrier()
    (row, span), (_, _, front, end) = row_numbers(p), table(p.rows)
    early, late = row < span, row >= span + p.length
    live = ~(early & (front == 1)) & ~(late & (end == 1)) & ((not p.limit) | (row < p.limit))
    demand(not (live & (early | late)).any(), "a row outside its span is accessed")
    live, low = live[..., None], (early & (front == 1))[..., None]
    at = slot_numbers(p, w)
    memory.write(exchange(p.ops, memory.read(at, live, low)), at, live)
    memory.barrier()
