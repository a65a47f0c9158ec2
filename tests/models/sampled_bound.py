"""Numpy model of the sampled bound of long rows: the positions, estimates and bound of `sample` and `collect`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix_select.params import Sampled

Words = NDArray[np.uint32]
Pairs = NDArray[np.uint64]


def room(q: Sampled, length: int) -> int:
    """Return the entries of the list of a row."""
    return next(entries for above, entries in q.rooms if length > above)


def sizes(q: Sampled, length: int, take: int) -> tuple[int, int]:
    """Return the keys that a lane samples, and the number of an estimate in the order of a block, from 1."""
    entries = room(q, length)
    target = max(take + take // 4 + take // 8 + take // 16 + 8, entries // q.spare)
    sampled = length // q.sample_div * q.sample_mul // target
    most = min(length // q.lanes, q.most)
    if sampled > most:
        target += target - target // 4
        sampled = most
    sampled = max(sampled, 1)
    hit = target * sampled // (length >> q.scale_bits)
    if q.scale_bits <= 10 and sampled > 1:
        hit += hit * hit // 1024 * hit // 6144 - hit * hit // 2048
    need = 1 + (hit * (q.block + 1) >> q.scale_bits)
    return sampled, min(need + 1 if need < 3 else need, q.block)


def positions(q: Sampled, length: int, sampled: int) -> NDArray[np.int64]:
    """Return the sampled positions of a row, shape (groups, lanes of a group, sampled)."""
    span, step = length // sampled, length // sampled // q.steps
    lane, part = np.arange(q.work_group), np.arange(q.groups).reshape(-1, 1)
    column = lane // q.run
    number = column * q.groups + (part + column + sum(column >> bits for bits in q.shifts)) % q.groups
    at = number * step + number * (span - step * q.steps) // q.steps
    s = np.arange(sampled)
    mixed = (s * q.steps + number[..., np.newaxis]).astype(np.uint32) * np.uint32(0x9E3779B1)
    mixed = (mixed ^ (mixed >> np.uint32(15))) * np.uint32(0x85EBCA77)
    inside = ((mixed >> np.uint32(16)) * np.uint32(step) >> np.uint32(16)) + (lane % q.run)[:, np.newaxis]
    place = at[..., np.newaxis] + inside % step + s * q.stride % q.steps * step
    listed: NDArray[np.int64] = s * span + place % span
    return listed


def bound(q: Sampled, keys: Words, take: int) -> np.uint64:
    """Return the median of the estimates of all blocks: a pair of a key and its index, the key in the high half."""
    sampled, need = sizes(q, len(keys), take)
    at = positions(q, len(keys), sampled)
    least = pairs(keys, at).min(axis=2)
    blocks = least.reshape(q.groups, q.block, q.work_group // q.block)  # lanes of one number modulo that of blocks
    estimates = np.sort(blocks, axis=1)[:, need - 1].reshape(-1)
    median: np.uint64 = np.sort(estimates)[len(estimates) // 2]
    return median


def pairs(keys: Words, at: NDArray[np.int64]) -> Pairs:
    """Return the pairs at positions."""
    return keys[at].astype(np.uint64) << np.uint64(32) | at.astype(np.uint64)


def listed(q: Sampled, keys: Words, take: int) -> int:
    """Return the pairs of a row up to the bound."""
    every = pairs(keys, np.arange(len(keys)))
    return int(np.count_nonzero(every <= bound(q, keys, take)))
