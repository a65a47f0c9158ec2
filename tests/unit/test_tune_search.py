"""The search for shapes, on a simulated device: it finds good ones, and failing shapes never win."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import numpy as np
import pytest
from simulated import SIZES, TOOK, Device, cost, faulty, hunting, never

from hsgen.targets import target
from hsgen.tools.tune.propose import Space, Table, name_of
from hsgen.tools.tune.search import BETTER, CANDIDATES, PATIENCE, Finish, Hunt, hunt, rungs, scores

BAD: dict[tuple[str, str], Table] = {
    ("nvidia-sm90", "bitonic"): {
        "subgroup": 1,
        "height": 2,
        "slabs": 1,
        "clean_slabs": 1,
        "local_scale": 1,
        "flip_scale": 1,
        "half_scale": 1,
        "stream_group": 16,
    },
    ("cpu", "radix"): {
        "bits": 4,
        "items": 1,
        "work_group": 32,
        "subgroup": 1,
        "ranker": "radix_split",
        "strategy": "reduce_scan",
        "groups": 16,
    },
    ("generic", "radix"): {
        "bits": 8,
        "items": 64,
        "work_group": 1,
        "subgroup": 1,
        "strategy": "per_thread",
        "groups": 1,
    },
}

SLOW = BAD["nvidia-sm90", "bitonic"]


def searched(it: Hunt, device: Device, races: int) -> list[str]:
    """Race at most this number of times; return the messages."""
    told: list[str] = []
    hunt(it, lambda some: device.races(some, lambda r, n, k, w: it.fail(r.number, r.tables[n], k, w)),
         lambda: races * TOOK - sum(r["took"] for r in it.races()), lambda x: told.append(x.best() or ""),
         device.at_once)  # fmt: skip
    return told


@cache
def best_drawn(label: str, name: str) -> float:
    """The lowest cost of 200 random shapes."""
    space = Space(label, "u32", target.find(name).device, None)
    rng = np.random.default_rng(99)
    found = (space.draw(i % len(space.boxes), rng) for i in range(200))
    return min(cost(label, t) for t in found if t is not None)


@pytest.mark.parametrize(("name", "label"), BAD)
def test_it_gets_near_the_best_from_a_bad_start(name: str, label: str) -> None:
    """Within 20 races, which try at most 160 shapes: within 5 % of the best of 200 random ones."""
    best = best_drawn(label, name)
    for seed in (1, 2, 3):
        it = hunting(label, name, BAD[name, label], seed=seed)
        searched(it, Device(), 20)
        lead = it.best()
        assert lead is not None
        assert cost(label, it.tables()[lead]) <= 1.05 * best, (seed, len(it.races()))
        assert cost(label, BAD[name, label]) > 1.5 * best, "the start is not bad"


def test_without_a_table_in_the_file() -> None:
    best = best_drawn("bitonic", "generic")
    it = hunting("bitonic", "generic", None)
    assert it.best() is None
    searched(it, Device(), 20)
    assert it.races()[0]["best"] is None
    assert cost("bitonic", it.tables()[str(it.best())]) <= 1.05 * best


def test_a_good_start_stays() -> None:
    """Unless another is better by more than noise."""
    it = hunting("bitonic", "nvidia-sm90", SLOW)
    searched(it, Device(noise=0.0), 25)
    lead = it.tables()[str(it.best())]
    again = hunting("bitonic", "nvidia-sm90", lead, seed=2)
    searched(again, Device(), 3)
    new = again.tables()[str(again.best())]
    assert cost("bitonic", new) <= cost("bitonic", lead)
    equal = {k: v for k, v in lead.items() if k != "subgroup"}
    board = again.board(complete=True)
    assert new == lead or board[name_of(new)] > BETTER, equal


def test_it_stops_without_improvement() -> None:
    it = hunting("bitonic", "generic", SLOW)
    searched(it, Device(noise=0.0), 10_000)
    races = it.races()
    assert PATIENCE < len(races) < 200 and it.stale()
    early, late = it.board(len(races) - PATIENCE, complete=True), it.board(complete=True)
    assert max(late.values()) - max(early.values()) <= BETTER


def test_failures_never_win_and_are_never_tried_again() -> None:
    """Even if a failing shape would be the fastest of all."""
    device = Device(fate=lambda label, table, n: ("crash", "planted") if table["height"] == 16 else None)
    it = hunting("bitonic", "nvidia-sm90", SLOW)
    told = searched(it, device, 15)
    failed = it.failures()
    assert failed and all(r["table"]["height"] == 16 for r in failed.values())
    assert set(device.failures.values()) == {1}, "tried again"
    assert not set(told) & set(failed) and not set(it.board()) & set(failed)
    assert it.tables()[str(it.best())]["height"] != 16
    assert all(c["table"]["height"] != 16 for r in it.races() for c in r["candidates"])


@pytest.mark.parametrize("seed", [1, 2])
def test_every_shape_is_tried_in_one_race_only(seed: int) -> None:
    device = Device(fate=faulty)
    it = hunting("radix", "cpu", None, seed=seed)
    led = {*searched(it, device, 12), *(r["best"] for r in it.races())}
    again = {name for name, times in Counter(device.tried).items() if times > 1}
    assert again and again <= led, "except the best so far, and shapes that link races"
    kinds = Counter(r["kind"] for r in it.failures().values())
    assert len(kinds) >= 4 and sum(kinds.values()) > 15


def test_a_start_that_fails() -> None:
    """It is dropped, alone or as the best of a race."""
    start = SLOW
    device = Device(fate=lambda label, table, n: ("hang", "planted") if table == start else None)
    it = hunting("bitonic", "nvidia-sm90", start)
    searched(it, device, 6)
    assert list(it.failures()) == [name_of(start)] and it.failures()[name_of(start)]["kind"] == "hang"
    assert it.races()[0]["best"] == name_of(start) and it.races()[1]["best"] not in (None, name_of(start))
    assert cost("bitonic", it.tables()[str(it.best())]) < cost("bitonic", start)


def test_all_of_a_race_fail() -> None:
    it = hunting("bitonic", "nvidia-sm90", None)
    device = Device(fate=lambda *at: ("build", "planted") if device.calls <= 2 else None)
    searched(it, device, 4)
    assert [len(r["candidates"]) for r in it.races()][:2] == [0, 0]
    assert len(it.failures()) == 2 * CANDIDATES and it.best() is not None


def test_a_space_that_is_exhausted() -> None:
    """Nearly every shape of a small box is tried, once, and the search ends long before its time limit."""
    it = hunting("radix", "generic", None)
    box = {"ranker": ("bitmask",), "bits": (4, 5, 6), "subgroup": (1,), "items": (4, 8), "work_group": (64,)}
    it.space.boxes = ({**box, "strategy": ("reduce_scan",), "groups": (64, 256)},)
    device = Device(noise=0.0)
    searched(it, device, 1000)
    assert 10 <= len(it.tables()) <= 12 and 2 <= len(it.races()) < 10
    assert it.race() is None and not it.stale()
    found = it.tables()[str(it.best())]
    assert [found[k] for k in ("bits", "items", "groups")] == [6, 8, 256]


def test_two_races_at_once_share_no_shape() -> None:
    """As on a cluster; results are entered in the order of their numbers."""
    it = hunting("bitonic", "nvidia-sm90", SLOW)
    searched(it, Device(at_once=2), 10)
    races = it.races()
    assert [r["number"] for r in races] == list(range(len(races))) and len(races) == 10
    seen = {name_of(SLOW)}
    for first, second in zip(races[::2], races[1::2], strict=True):
        names = [{name_of(c["table"]) for c in r["candidates"]} for r in (first, second)]
        assert first["best"] == second["best"] and names[0] & names[1] <= seen and all(x - seen for x in names)
        seen |= names[0] | names[1]


def test_the_same_seed_does_the_same_and_another_does_not() -> None:
    found = []
    for seed in (1, 1, 2):
        it = hunting("radix", "cpu", None, seed=seed)
        searched(it, Device(fate=faulty), 5)
        found.append(json.dumps([it.races(), list(it.failures().values())]))
    assert found[0] == found[1] != found[2]


def test_times_by_chance_do_not_decide() -> None:
    """With noise of 10 % the leader is still near the best."""
    best = best_drawn("bitonic", "nvidia-sm90")
    it = hunting("bitonic", "nvidia-sm90", SLOW, seed=5)
    searched(it, Device(noise=0.1), 20)
    assert cost("bitonic", it.tables()[str(it.best())]) <= 1.10 * best


@pytest.mark.parametrize("candidates", [1, 2, 3, 9])
@pytest.mark.parametrize("sizes", [[7], [5, 9], list(SIZES), [1 << b for b in range(10, 24, 2)]])
def test_rungs_take_each_count_once_and_halve_the_field(sizes: list[int], candidates: int) -> None:
    made = rungs(sizes, candidates)
    assert sorted(n for r in made for n in r.sizes) == sorted(sizes)
    assert all(r.sizes and r.rounds >= 3 for r in made)
    keeps = [r.keep for r in made]
    assert keeps == sorted(keeps, reverse=True) and keeps[-1] >= 1
    assert candidates < 9 or keeps[0] < candidates


def test_scores_are_means_of_logarithms_over_common_counts() -> None:
    times = {"a": {1: [2.0], 2: [8.0]}, "b": {1: [1.0, 1.0, 50.0]}}
    assert scores(times, ["a", "b"], "a") == {"a": 0.0, "b": pytest.approx(np.log(2))}


def test_races_without_a_common_best_are_compared_by_their_times() -> None:
    """Such as joined journals that began without a table: the slower race's winner does not lead."""
    it = hunting("bitonic", "nvidia-sm90", None)
    tables = [dict(SLOW, height=h) for h in (2, 4, 6, 8)]
    for pair, scale in ((tables[:2], 4.0), (tables[2:], 1.0)):
        race = next(iter([it.race()]))
        assert race is not None
        named = {name_of(t): t for t in pair}
        times = {x: {1024: [scale * (1 + i)]} for i, x in enumerate(named)}
        alone = type(race)(label="bitonic", key="u32", number=race.number, tables=named, best=None, rungs=race.rungs)
        it.enter(alone, Finish(seconds=times, reached=dict.fromkeys(named, 0)))
    board = it.board()
    assert sorted(board, key=lambda x: -board[x]) == [name_of(tables[i]) for i in (2, 3, 0, 1)]
    assert board[name_of(tables[2])] - board[name_of(tables[0])] == pytest.approx(np.log(4), abs=1e-3)
    assert never("bitonic", tables[0], 1) is None
