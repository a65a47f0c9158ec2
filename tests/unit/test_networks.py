"""Proofs of the networks by the 0-1 principle (Knuth, TAOCP 3, 5.3.4): what sorts all zeros and ones, sorts.

A merge needs only the inputs that it is made for: pairs of sorted runs, or bitonic sequences (every rotation of zeros
followed by ones).  All of them are tried, for each size that a shape can have.

- `sorting`: every input up to 16 values; up to 64 by decomposing the network into merges and proving each.
- `halves`, `bitonic_merge`: every bitonic input; and that a truncated half-cleaner does *not* suffice there.
- `mirrored`, `flip_rows`, `merge_runs`, `merge_lanes`: every pair of sorted runs, the passes over a tile by the
  kernels' model, truncated at any height and at any partial last run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from models.bitonic.lanes import exchange, tile_pass
from models.bitonic.memory import Memory
from numpy.typing import NDArray

from hsgen.algorithms.bitonic.kernels import with_lane_halves
from hsgen.algorithms.bitonic.lanes import held_rows, merge_lanes
from hsgen.algorithms.bitonic.passes import Pass, flip_rows, merge_runs, steps, swaps
from hsgen.core.networks import Network, bitonic_merge, halves, mirrored, odd_part, pow2_ceil, pow2_floor, sorting

Bits = NDArray[np.uint32]
POWERS = [1, 2, 4, 8, 16, 32, 64]


def play(network: Network, values: Bits) -> Bits:
    """Return the values (inputs, positions) after the network."""
    if not network:
        return values
    return exchange(swaps(network), values.T[None, None, :, :, None])[0, 0, :, :, 0].T


def is_sorted(values: Bits) -> NDArray[np.bool_]:
    """Return whether each input of (inputs, positions) is sorted."""
    return (values[:, :-1] <= values[:, 1:]).all(axis=1)


@cache
def anything(n: int) -> Bits:
    """Return all sequences of n zeros and ones."""
    return (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.uint32)


@cache
def bitonic(n: int) -> Bits:
    """Return all rotations of all sequences of zeros followed by ones."""
    ones, turn, at = np.ogrid[: n + 1, :n, :n]
    return ((at + turn) % n < ones).astype(np.uint32).reshape(-1, n)


def run(zeros: NDArray[np.int64], length: int) -> Bits:
    """Return sorted runs (inputs, length), one for each number of zeros; larger numbers give all zeros."""
    return (np.arange(length) >= zeros.reshape(-1, 1)).astype(np.uint32)


def pairs(a: int, b: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all numbers of zeros that two sorted runs of a and b values can have."""
    left, right = np.mgrid[: a + 1, : b + 1]
    return left.ravel(), right.ravel()


@pytest.mark.parametrize("n", range(17))
def test_sorting_sorts_every_input(n: int) -> None:
    assert is_sorted(play(sorting(n), anything(n))).all()


@pytest.mark.parametrize("n", range(1, 65))
def test_sorting_is_made_of_merges(n: int) -> None:
    """Phase p merges, within each class of positions mod p, its two classes mod 2 p; phase 1 leaves one class.

    A phase is the longest stretch whose comparators stay in their classes; that split is itself checked by its effect
    on all pairs of sorted classes.
    """
    rest = list(sorting(n))
    p = pow2_ceil(n) // 2  # before it all classes mod 2 p hold a single value
    while p:
        size = next((i for i, (a, b) in enumerate(rest) if (b - a) % p), len(rest))
        phase, rest = rest[:size], rest[size:]
        for first in range(p):
            places = list(range(first, n, p))
            network = tuple((places.index(a), places.index(b)) for a, b in phase if a in places)
            even, odd = pairs(len(places[::2]), len(places[1::2]))
            values = np.zeros((len(even), len(places)), np.uint32)
            values[:, ::2], values[:, 1::2] = run(even, len(places[::2])), run(odd, len(places[1::2]))
            assert is_sorted(play(network, values)).all()
        p //= 2
    assert not rest


@pytest.mark.parametrize("n", POWERS)
def test_halves_sort_every_bitonic_input(n: int) -> None:
    assert is_sorted(play(halves(n), bitonic(n))).all()


@pytest.mark.parametrize("n", [*range(1, 65), 100, 126])
def test_bitonic_merge_sorts_every_bitonic_input(n: int) -> None:
    assert is_sorted(play(bitonic_merge(n), bitonic(n))).all()


@pytest.mark.parametrize("n", [n for n in range(3, 65) if n & (n - 1)])
def test_truncated_half_cleaners_do_not_sort_a_rotated_bitonic_input(n: int) -> None:
    """Hence the odd-merge recursion: 6 values, half-cleaners for 8 without positions 6 and 7."""
    truncated = tuple((i, j) for i, j in halves(pow2_ceil(n)) if j < n)
    assert not is_sorted(play(truncated, bitonic(n))).all()


@pytest.mark.parametrize("n", range(2, 65))
def test_truncated_half_cleaners_sort_when_the_shape_is_known(n: int) -> None:
    """They do if greatest values after the input leave it bitonic, as for the second half after a flip."""
    truncated = tuple((i, j) for i, j in halves(pow2_ceil(n)) if j < n)
    filled = np.concatenate([bitonic(n), np.ones((len(bitonic(n)), pow2_ceil(n) - n), np.uint32)], axis=1)
    known = (filled != np.roll(filled, 1, axis=1)).sum(axis=1) <= 2
    assert known.any() and is_sorted(play(truncated, bitonic(n)[known])).all()


@pytest.mark.parametrize("shift", [0, 3])
@pytest.mark.parametrize("make", [halves, bitonic_merge])
@pytest.mark.parametrize("n", POWERS)
def test_mirrored_sorts_registers_in_reverse(make: Callable[[int], Network], n: int, shift: int) -> None:
    network = mirrored(make(n), n, shift)
    values = np.zeros((len(bitonic(n)), shift + n + 2), np.uint32)
    values[:, shift : shift + n] = bitonic(n)
    after = play(network, values)
    assert is_sorted(after[:, shift : shift + n][:, ::-1]).all()
    assert not after[:, :shift].any() and not after[:, shift + n :].any()


@pytest.mark.parametrize("n", range(1, 13))
def test_mirrored_sorting(n: int) -> None:
    assert is_sorted(play(mirrored(sorting(n), n, 0), anything(n))[:, ::-1]).all()


@pytest.mark.parametrize("scale", range(1, 7))
def test_flip_rows_merge_every_pair_of_sorted_halves(scale: int) -> None:
    rows, ops = flip_rows(scale, 1 << scale)
    half = 1 << (scale - 1)
    place = [row.offset for row in rows]
    assert sorted(place) == list(range(2 * half))
    left, right = pairs(half, half)
    values = np.concatenate([run(left, half), run(right, half)], axis=1)
    after = np.empty_like(values)
    after[:, place] = exchange(ops, values[:, place].T[None, None, :, :, None])[0, 0, :, :, 0].T
    assert is_sorted(after).all()


def test_powers_and_odd_parts() -> None:
    for n in range(1, 300):
        assert pow2_ceil(n) >= n > pow2_ceil(n) // 2
        assert pow2_floor(n) <= n < 2 * pow2_floor(n)
        assert n % odd_part(n) == 0 and odd_part(n) % 2 == 1
        assert n // odd_part(n) == pow2_floor(n // odd_part(n))


def test_steps_deal_all_stages_evenly() -> None:
    for stages in range(1, 40):
        for scale in range(1, 7):
            dealt = steps(stages, scale)
            assert sum(dealt) == stages and max(dealt) <= scale and max(dealt) - min(dealt) <= 1
            assert len(dealt) == -(-stages // scale)


def test_held_rows_are_a_power_of_two_part_of_the_column() -> None:
    for rows in range(2, 200):
        for most in range(2, 65):
            held = held_rows(rows, most)
            if rows <= most:
                assert held == rows
            elif held:
                assert rows % held == 0 and rows // held == pow2_floor(rows // held)
                assert 2 * held <= most < 4 * held
            else:
                assert 2 * odd_part(rows) > most


def after_passes(passes: list[Pass], keys: Bits, w: int) -> Bits:
    """Return tiles (inputs, keys) after passes by subgroups of `w` lanes."""
    memory = Memory(keys.copy()[:, None, :], defined=True)
    for each in passes:
        tile_pass(each, memory, w)
    return memory.keys[:, 0, :]


def check_runs(rows: int, tile: int, scale: int, w: int) -> None:
    """Merge all pairs of sorted runs of `rows` rows in a tile, row-major and `w` keys a row.

    Each span gets every pair, the last one the remaining rows; a last run without partner must stay unchanged.
    """
    length, keys = rows * w, tile * w
    left, right = pairs(length, length)
    runs = [run(right if i % 2 else left, min(length, keys - i * length)) for i in range(-(-keys // length))]
    if len(runs) % 2:
        lone = runs[-1]
        lone[:] = lone[:, ::-1]  # unsorted, so that any move is detected
    passes = merge_runs(rows, tile, scale, mirror=w > 1)
    if w > 1:
        passes = with_lane_halves(passes, w)
    after = after_passes(passes, np.concatenate(runs, axis=1), w)
    for start in range(0, keys - length, 2 * length):
        assert is_sorted(after[:, start : min(start + 2 * length, keys)]).all()
    if len(runs) % 2:
        assert (after[:, keys - lone.shape[1] :] == lone).all()
    assert (np.sort(after) == np.sort(np.concatenate(runs, axis=1))).all()


@pytest.mark.parametrize("scale", range(1, 7))
@pytest.mark.parametrize("rows", [*range(1, 13), 14, 16, 18, 20])
def test_merge_runs_merges_truncated_runs(rows: int, scale: int) -> None:
    for tile in [*range(rows + 1, 2 * rows + 1), *range(2 * rows + 1, 5 * rows + 1, max(1, rows // 2))]:
        check_runs(rows, tile, scale, 1)


@pytest.mark.parametrize("scale", [1, 4, 6])
@pytest.mark.parametrize("rows", [30, 48, 62, 64, 96])
def test_merge_runs_merges_tall_runs(rows: int, scale: int) -> None:
    for tile in (rows + rows // 2 + 1, 2 * rows, 4 * rows - 1):
        check_runs(rows, tile, scale, 1)


@pytest.mark.parametrize("scale", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("w", [2, 4, 8])
@pytest.mark.parametrize("rows", [2, 3, 4, 5, 6])
def test_merge_runs_merges_rows_of_many_lanes(rows: int, w: int, scale: int) -> None:
    for tile in {rows + 1, 2 * rows - 1, 2 * rows, 3 * rows, 4 * rows - 1} - {rows}:
        check_runs(rows, tile, scale, w)


COLUMNS = [(rows, lanes) for rows in (2, 4, 6, 8, 10, 12, 14, 20, 24) for lanes in (2, 4, 8, 16, 32, 64)]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("rows", "lanes"), [c for c in COLUMNS if c[0] * c[1] <= 160])
def test_merge_lanes_merges_every_pair_of_sorted_lanes(rows: int, lanes: int, groups: int) -> None:
    """All groups of lanes of all spans get every pair of halves; the second group and span get it reversed."""
    w = lanes * groups
    half = rows * lanes // 2
    left, right = pairs(half, half)
    one = np.concatenate([run(left, half), run(right, half)], axis=1).reshape(-1, lanes, rows)
    two = np.concatenate([run(right, half), run(left, half)], axis=1).reshape(-1, lanes, rows)
    spans = [np.concatenate([one, two][:groups], axis=1), np.concatenate([two, one][:groups], axis=1)]
    keys = np.concatenate(spans, axis=2).transpose(0, 2, 1).reshape(-1, 2 * rows * w)  # rows of w lanes
    seen = set()
    for scale in range(1, 7):
        for most in {1 << scale, max(1 << scale, rows), max(1 << scale, 2 * odd_part(rows))}:
            passes = merge_lanes(rows, lanes, scale, most, 2) if held_rows(rows, most) else []
            if passes and tuple(passes) not in seen:
                seen.add(tuple(passes))
                after = after_passes(passes, keys, w).reshape(-1, 2, rows, groups, lanes)
                ranks = after.transpose(0, 1, 3, 4, 2).reshape(-1, lanes * rows)
                assert is_sorted(ranks).all()
                assert max(len(each.rows) for each in passes) <= most
    assert seen
