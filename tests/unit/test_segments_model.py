"""Segmented sorts without a device: the model executes the plans of targets, and of shapes with few keys per segment.

- Segments of every length at which the sort changes its way, empty ones, gaps at both ends, more segments than keys.
- Lists have a random order; a launch stores every key once, and keys outside of segments stay.
- Offsets that decrease or end beyond the keys: nothing is stored, and the status says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import segmented as model
from models.segmented import Fault
from nightly import NIGHTLY
from sorts import sort_by
from steps import changed

from hsgen.algorithms import IMPLICIT, radix, segmented
from hsgen.algorithms.segmented.words import HEAD, layout
from hsgen.core.errors import Usage
from hsgen.core.flags import ROWS
from hsgen.core.interpreter import Options, launches
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Sort
from hsgen.operations import layouts, settled
from hsgen.operations.segmented_sort import OPERATION
from hsgen.targets import target

SEEDS = 40 if NIGHTLY else 12
RANKERS: dict[str, dict[str, Any]] = {
    "bitmask": {"subgroup": 1, "work_group": 32, "items": 2},
    "match_ballot": {"subgroup": 32, "work_group": 64, "items": 1},
    "serial": {"subgroup": 1, "work_group": 1, "items": 64},
    "match_broadcast": {"subgroup": 16, "work_group": 64, "items": 1},
    "bins": {"subgroup": 32, "work_group": 64, "items": 1},
}
LARGE = ("nvidia-hopper", "nvidia-blackwell")
"""Targets with 128 KiB of local memory and more, whose sorts of segments place keys by bins."""
PLACED = ("nvidia-ada", "nvidia-blackwell-rtx", "nvidia-sm90", "nvidia-vulkan")
"""Other targets that place keys by bins."""
FROM = {
    "bitmask": "generic",
    "match_ballot": "amd-rdna",
    "bins": "nvidia-sm90",
    "serial": "cpu",
    "match_broadcast": "intel-gen8",
}


def shape(
    ranker: str,
    key: str = "u16",
    value: str = "none",
    bits: int = 5,
    groups: int = 3,
    *,
    ranges: bool = False,
    ends: bool = False,
    counted: bool = False,
) -> segmented.Params:
    """A shape with tiles of 64 keys; 16-bit keys have four digits, or with 6 bits three."""
    found = target.find(FROM[ranker])
    own = replace(found.choices["radix", "u32"], bits=bits, groups=groups, **RANKERS[ranker])
    assert dict(radix.notes(own))["ranker"].startswith({"bins": "match_ballot"}.get(ranker, ranker))
    signature = Signature(value=value, bit_range=ranges, segment_ends=ends, segment_count=counted)
    made = IMPLICIT["segmented_sort"].specialize({"radix": own}, KEYS[key], signature, found.device)
    assert isinstance(made, segmented.Params) and (made.bin_items == 1) == (ranker == "bins")
    return replace(made, small=24, window=100, tile=64, chunk=64) if made.serial else made


def sort_of(p: segmented.Params) -> Sort:
    return sort_by("segmented_sort", p, p.signature)


def play(
    p: segmented.Params,
    n: int,
    offsets: Any,
    *,
    in_place: bool,
    seed: int = 1,
    distinct: int = 1 << 16,
    bits: tuple[int, int | None] = (0, None),
) -> None:
    """Run a call, with offsets, or None and a number of rows, and compare with the oracle."""
    keys = np.random.default_rng(seed).integers(0, distinct, n).astype(f"u{p.key.bytes}")
    rows = isinstance(offsets, int)
    how = Options(segment_count=offsets if rows else len(offsets) - 1, rows=rows, begin=bits[0], end=bits[1])
    at = np.arange(offsets + 1) * (n // offsets) if rows else offsets
    found = model.run(p, sort_of(p).plan, keys, None if rows else at, in_place=in_place, how=how, seed=seed)
    order = layouts.permutation(keys, at, sort_of(p), how)
    assert not found.refused and np.array_equal(found.places, order)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(sorted(RANKERS)),
    st.sampled_from([5, 6]),
    st.integers(0, 20),
    st.lists(st.sampled_from([0, 0, 1, 2, 23, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 700]), max_size=40),
    st.integers(0, 20),
    st.booleans(),
)
def test_segments_of_any_length(ranker: str, bits: int, front: int, lengths: list[int], back: int, place: bool) -> None:
    offsets = front + np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    play(shape(ranker, bits=bits), int(offsets[-1]) + back, offsets, in_place=place, distinct=300)


@pytest.mark.parametrize("ranker", sorted(RANKERS))
@pytest.mark.parametrize("name", sorted(layouts.LAYOUTS))
def test_layouts_of_validations(ranker: str, name: str) -> None:
    p = shape(ranker)
    for n in (1, 7, p.small, p.tile, p.tile + 1, 1000, 40 * p.tile + 3):
        offsets = layouts.LAYOUTS[name](np.random.default_rng(n), n, p.small, p.tile)
        assert (np.diff(offsets) >= 0).all() and offsets[0] >= 0 and offsets[-1] <= n
        play(p, n, offsets, in_place=n % 2 == 0, seed=n)


@pytest.mark.parametrize("ranker", sorted(RANKERS))
@pytest.mark.parametrize("bits", [(0, None), (0, 5), (6, 16), (3, 14), (1, 2), (7, 7)])
def test_bit_ranges(ranker: str, bits: tuple[int, int | None]) -> None:
    """Ranges of every number of passes, an odd or even one; keys with the same bits keep their order."""
    p = shape(ranker, ranges=True)
    offsets = 3 + np.concatenate([[0], np.cumsum([5, 24, 25, 64, 65, 0, 700, 130])])
    for in_place in (False, True):
        play(p, int(offsets[-1]) + 9, offsets, in_place=in_place, bits=bits)


@pytest.mark.parametrize("ranker", sorted(RANKERS))
@pytest.mark.parametrize("name", sorted(layouts.LAYOUTS))
def test_segments_with_ends(ranker: str, name: str) -> None:
    """Nothing is stored outside of segments, also between those of a window."""
    p = shape(ranker, ends=True)
    for n in (1, 7, p.tile + 1, 1000, 40 * p.tile + 3):
        rng = np.random.default_rng(n)
        starts, ends = layouts.with_gaps(rng, layouts.LAYOUTS[name](rng, n, p.small, p.tile))
        keys, how = rng.integers(0, 1 << 16, n).astype(np.uint16), Options(segment_count=len(starts))
        order = layouts.apart(keys, starts, ends, sort_of(p), how)
        inside = layouts.inside(n, starts, ends)
        for in_place in (False, True):
            found = model.run(p, sort_of(p).plan, keys, starts, in_place=in_place, how=how, ends=ends)
            expected = order if in_place else np.where(inside, order, -1)
            assert not found.refused and np.array_equal(found.places, expected)
        if len(starts) > 1 and ends[0] > starts[0]:
            wrong = starts.copy()
            wrong[1] = ends[0] - 1
            assert model.run(p, sort_of(p).plan, keys, wrong, how=how, ends=np.maximum(ends, wrong)).refused


@pytest.mark.parametrize("ranker", sorted(RANKERS))
@pytest.mark.parametrize("ends", [False, True])
def test_a_number_of_segments_on_the_device(ranker: str, ends: bool) -> None:
    """Segments from the number on are as if they were none, and their offsets are not read; the host gives a bound."""
    p, number = shape(ranker, ends=ends, counted=True), 0
    for n in (1, p.tile + 1, 1000, 40 * p.tile + 3):
        for seed in range(SEEDS):
            rng = np.random.default_rng([n, seed])
            made = OPERATION.call(
                sort_of(p),
                rng.integers(0, 1 << 16, n).astype(np.uint16),
                Options(),
                in_place=False,
                count=None,
                rng=rng,
            )
            how = replace(made.how, rows=made.other is None)
            bounds = [None if x is None else x.astype(np.int64) for x in (made.other, made.other_values)]
            more: dict[str, Any] = {"how": how, "ends": bounds[1], "live": made.count, "seed": seed}
            for in_place in (False, True):
                found = model.run(p, sort_of(p).plan, made.keys, bounds[0], in_place=in_place, **more)
                expected = made.expected
                if made.unchanged is not None and not in_place:
                    assert (found.places[made.unchanged] == -1).all()
                    assert expected is not None and (found.keys == expected)[~made.unchanged].all()
                else:
                    assert np.array_equal(found.keys, expected)
                assert not found.refused
            number += made.count is not None
    assert number > 3 * SEEDS // 2


def test_a_number_on_the_device_does_not_excuse_wrong_offsets() -> None:
    p, keys = shape("bitmask", counted=True), np.arange(100, dtype=np.uint16)
    for offsets, live, wrong in (
        ([0, 5, 4], 2, True),
        ([0, 5, 4], 1, False),
        ([101, 5, 4], 0, True),
        ([0, 101], 0, False),
    ):
        how = Options(segment_count=len(offsets) - 1, segments_counted=True)
        assert model.run(p, sort_of(p).plan, keys, np.array(offsets), how=how, live=live).refused == wrong


@pytest.mark.parametrize("ranker", sorted(RANKERS))
def test_rows_of_equal_length(ranker: str) -> None:
    p = shape(ranker)
    for length in (1, 2, 3, p.small, p.small + 1, p.tile, p.tile + 1, 3 * p.tile):
        for count in (1, 5, 64):
            play(p, length * count, count, in_place=count == 5)


def test_more_columns_than_one_lane_sums() -> None:
    """A segment of more than 32 tiles among shorter ones: each work-group scans the counts of one digit."""
    p = shape("bitmask", groups=50)
    assert p.few == 32
    lengths = [65, 0, 33 * 64, 200, 90 * 64 + 1, 60 * 64, 70, 32 * 64]
    offsets = np.concatenate([[3], 3 + np.cumsum(lengths)])
    for in_place in (False, True):
        play(p, int(offsets[-1]) + 9, offsets, in_place=in_place)


def test_bad_offsets_are_refused_and_nothing_is_stored() -> None:
    for ranker in RANKERS:
        p, keys = shape(ranker), np.arange(2000, dtype=np.uint16)[::-1]
        for offsets in (
            [0, 5, 4, 2000],
            [0, 2001],
            [5, 4],
            [0, 2000, 0, 2000, 0, 2000, 0] * 40,
            [2**32 - 1, 2**32 - 1],
            [2001],
            [2**32 - 1],
        ):
            how = Options(segment_count=len(offsets) - 1)
            found = model.run(p, sort_of(p).plan, keys, np.array(offsets), how=how)
            assert found.refused and (found.places == -1).all(), offsets
        for offset in (0, 2000):
            found = model.run(p, sort_of(p).plan, keys, np.array([offset]), how=Options(segment_count=0))
            assert not found.refused and np.array_equal(found.keys, keys), offset


def test_the_model_sees_a_window_that_no_tile_holds() -> None:
    p = replace(shape("bitmask"), window=80)
    with pytest.raises(Fault, match="too small for a window"):
        play(p, 500, np.arange(0, 501, 30), in_place=False)


def test_the_model_sees_segments_that_are_sorted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where windows are longer than the greatest short segment, they sort the longer ones between others."""
    p, offsets = replace(shape("bins"), small=20, window=44), np.array([0, 5, 30, 35, 500])
    for in_place in (False, True):
        play(p, 500, offsets, in_place=in_place)
    monkeypatch.setattr(model, "_last", lambda *_: True)
    with pytest.raises(Fault, match="sorted twice"):
        play(p, 500, offsets, in_place=False)


def test_the_model_sees_windows_whose_notes_are_not_cleared() -> None:
    """Where no segment starts, nothing is noted; scratch holds what an earlier call has left."""
    p, offsets = shape("bins"), np.array([0, 9, 5000, 5003])
    play(p, 5010, offsets, in_place=False)
    plan, keys = sort_of(p).plan, np.arange(5010, dtype=np.uint16)
    assert plan.steps[0].kernel == "begin" and plan.steps[0].grid.groups(5010) > 1
    cut = replace(plan, steps=(changed(plan.steps[0], cap=1), *plan.steps[1:]))
    with pytest.raises(Fault, match="reads what was never noted"):
        model.run(p, cut, keys, offsets, how=Options(segment_count=3))


def test_the_model_sees_notes_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "layout", lambda p: replace(layout(p), bounds=layout(p).bounds + 1))
    with pytest.raises(Fault, match="no room for the notes"):
        play(shape("bins"), 5010, np.arange(5011), in_place=False)


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 63, 64, 65, 1000, 1023, 1024, 1025, 4096])
def test_notes_of_all_windows_are_cleared(n: int) -> None:
    """For any number of windows: those of one segment, of none, and of empty segments at each end."""
    p = replace(shape("bins"), window=16, small=16, tile=64)
    grid = sort_of(p).plan.steps[0].grid
    assert grid.groups(n) * p.wave >= 2 * -(-n // p.window) >= 2
    for offsets in ([0, n], [n, n], [0, 0, n, n], [0, n // 2, n // 2, n - 1]):
        play(p, n, np.array(offsets), in_place=n % 2 == 0)


def test_the_model_sees_a_grid_that_is_too_small() -> None:
    p, keys = shape("bitmask"), np.arange(500, dtype=np.uint16)
    plan = sort_of(p).plan
    cut = replace(plan, steps=tuple(changed(s, cap=1) if s.kernel == "windows" else s for s in plan.steps))
    with pytest.raises(Fault, match="some keys are in no window"):
        model.run(p, cut, keys, np.array([0, 500]), how=Options(segment_count=1))


def test_the_model_sees_a_segment_that_no_work_group_sorts() -> None:
    """Each listed segment has its own work-group, regardless of other kernels' sizes."""
    p, keys = shape("match_broadcast"), np.arange(2000, dtype=np.uint16)
    assert p.apart and not shape("bitmask").apart
    offsets = np.arange(0, 2001, 50)
    plan = sort_of(p).plan
    model.run(p, plan, keys, offsets, how=Options(segment_count=40))
    cut = replace(plan, steps=tuple(changed(s, cap=p.groups) if s.kernel == "alone" else s for s in plan.steps))
    with pytest.raises(Fault, match="some listed segments have no work-group"):
        model.run(p, cut, keys, offsets, how=Options(segment_count=40))


def test_lanes_hold_as_many_keys_as_compilers_have_registers_for() -> None:
    """Comparing lanes of Intel's GPUs, and ballot lanes of NVIDIA's before Volta; others are unchanged."""
    for name, key, value, most in [
        ("intel-gen12", "u32", "v16", 4),
        ("intel-gen12", "u8", "none", 3),
        ("intel-gen12", "u64", "v4", 4),  # 8 lanes
        ("intel-dg2", "u64", "none", 4),
        ("intel-dg2", "u64", "v4", 3),
        ("mali-valhall", "u8", "none", 4),
        ("nvidia-sm35", "u32", "v4", 8),
        ("nvidia-tegra", "u64", "none", 6),
        ("nvidia-sm90", "u32", "none", 32),
        ("amd-rdna", "u32", "none", 15),
    ]:
        p = target.find(name).sort("segmented_sort", key, Signature(value=value)).parts[0].params
        assert (p.rank.items, p.apart) == (most, name.startswith("intel")), (name, key)


@pytest.mark.parametrize("name", target.names())
def test_every_target_with_a_radix_sort_has_one(name: str) -> None:
    """For all widths that the device stores, all values, and both orders; scratch has room."""
    found = target.find(name)
    for key in KEYS:
        if not any(label.startswith("radix") for label in found.labels(key)):
            continue
        for value in ("none", "v4", "v8", "v16", "index"):
            sort = found.sort("segmented_sort", key, Signature(value=value, key_transform=True))
            p = sort.parts[0].params
            assert isinstance(p, segmented.Params) and sort.operation == "segmented_sort"
            assert p.serial or (p.window + p.small <= (p.capacity or p.tile) <= p.tile <= p.chunk)
            assert p.together == (name in LARGE), name
            assert bool(p.bin_items) == (name in (*LARGE, *PLACED)), name
            assert all(k.local_bytes(sort.key) <= found.device.local_bytes for k in sort.kernels)
            units = -(-sort.plan.max_n // p.tile)
            assert HEAD + units * layout(p).size < 2**31
            assert sort.plan.scratch.bytes(1000) >= 1000 * (sort.key.bytes + sort.signature.value_bytes)


@pytest.mark.parametrize("signature", [{"device_count": True}, {"value": "packed"}])
def test_other_forms_are_refused(signature: dict[str, Any]) -> None:
    with pytest.raises(Usage, match="no segmented_sort for u32 keys"):
        target.find("generic").sort("segmented_sort", "u32", Signature(**signature))


def test_lanes_that_walk_together_hold_tiles() -> None:
    """A radix sort whose subgroups walk chunks gives a segmented sort with match-by-ballot."""
    found = target.find("intel-gen8")
    p = IMPLICIT["segmented_sort"].specialize(
        {"radix": found.choices["radix-bits4", "u32"]}, KEYS["u32"], Signature(), found.device
    )
    assert (p.rank.ranker, p.rank.subgroup, p.rank.work_group) == ("match_ballot", 16, 16)


def test_rows_are_marked_by_a_flag_of_all_steps_but_one() -> None:
    sort = sort_of(shape("bitmask"))
    how = settled(sort, 600, Options(segment_count=3), {"source"})
    assert how.rows and not settled(sort, 600, Options(segment_count=3), {"source", "other"}).rows
    first, *rest = launches(sort.plan, 600, in_place=False, how=how)
    assert first.argument == 3 and rest and all(x.argument & ROWS for x in rest)
    with pytest.raises(Usage, match="equal rows"):
        settled(sort, 600, Options(segment_count=7), {"source"})
