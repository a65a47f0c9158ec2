"""The choice of algorithms by count, compared with an exhaustive search."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsgen.tools.tune.crossover import PRICE, Cut, between, cut, refined
from hsgen.tools.tune.final import gain, rows, serving, which

COUNTS = [1 << b for b in range(8, 14)]


@st.composite
def tables(draw: st.DrawFn, labels: int = 3) -> dict[str, dict[int, float]]:
    """Times of up to three labels at up to six counts."""
    counts = COUNTS[: draw(st.integers(1, len(COUNTS)))]
    number = st.floats(1e-6, 1e-3, allow_nan=False)
    names = "abc"[: draw(st.integers(1, labels))]
    return {x: {n: draw(number) for n in counts} for x in names}


def price_of(times: dict[str, dict[int, float]], found: Cut) -> float:
    """The cost of a cut."""
    counts = sorted(next(iter(times.values())))
    total = sum(math.log(times[serving(found, n)][n]) for n in counts)
    return total + PRICE * len(counts) * (len(found) - 1)


def every_cut(times: dict[str, dict[int, float]]) -> list[Cut]:
    """All ways to divide the counts."""
    counts = sorted(next(iter(times.values())))
    out: list[Cut] = []
    for k in range(1, len(times) + 1):
        for order in permutations(times, k):
            for ends in combinations(range(1, len(counts)), k - 1):
                out.append([(x, counts[e - 1]) for x, e in zip(order, [*ends, len(counts)], strict=True)])
    return out


@settings(max_examples=60, deadline=None)
@given(tables())
def test_a_cut_is_the_cheapest_of_all(times: dict[str, dict[int, float]]) -> None:
    found = cut(times)
    best = min(every_cut(times), key=lambda c: price_of(times, c))
    assert price_of(times, found) == pytest.approx(price_of(times, best))
    assert len({x for x, _ in found}) == len(found)
    ends = [n for _, n in found]
    assert ends == sorted(set(ends)) and ends[-1] == max(next(iter(times.values())))


@pytest.mark.parametrize("saved", [0.9 * PRICE, 1.1 * PRICE])
def test_another_algorithm_must_save_its_price(saved: float) -> None:
    """At half of the counts it saves twice as much, on average over all counts exactly this."""
    counts = COUNTS[:4]
    a = dict.fromkeys(counts, 1.0)
    b = {n: math.exp(-2 * saved) if n > counts[1] else 2.0 for n in counts}
    expected = [("a", counts[1]), ("b", counts[3])] if saved > PRICE else [("a", counts[3])]
    assert cut({"a": a, "b": b}) == expected


def test_counts_that_not_all_were_timed_at_do_not_count() -> None:
    assert cut({"a": {1: 1.0, 2: 1.0, 4: 9.0}, "b": {1: 2.0, 2: 2.0}}) == [("a", 2)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0.5, 2.0), st.floats(0.5, 2.0)), min_size=1, max_size=7))
def test_a_refined_crossover_is_the_best_of_all(pairs: list[tuple[float, float]]) -> None:
    counts = [1000 + 100 * i for i in range(1, len(pairs) + 1)]
    low = {n: a for n, (a, _) in zip(counts, pairs, strict=True)}
    high = {n: b for n, (_, b) in zip(counts, pairs, strict=True)}

    def total(upto: int) -> float:
        return sum(math.log(low[n] if n <= upto else high[n]) for n in counts)

    found = refined(1000, low, high)
    assert found in (1000, *counts)
    assert total(found) == pytest.approx(min(total(n) for n in (1000, *counts)))
    assert refined(1000, low, low) == 1000, "no more than was measured before without a reason"


def test_between() -> None:
    """Seven counts in equal steps between the last of one label and the first of the next."""
    assert between([("a", 1024), ("b", 4096)], [512, 1024, 2048, 4096]) == [
        ("a", "b", [1152, 1280, 1408, 1536, 1664, 1792, 1920])
    ]
    assert between([("a", 4096)], [1024, 4096]) == []


def rounds(start: list[float] | None, best: list[float] | None) -> dict[str, dict[int, list[float]]]:
    found = {"x start": start, "x best": best}
    return {k: {1024: v, 2048: [2 * t for t in v]} for k, v in found.items() if v is not None}


@pytest.mark.parametrize(
    ("start", "best", "taken"),
    [
        ([1.0] * 9, [0.9] * 9, "best"),
        ([1.0] * 9, [0.995] * 9, "start"),  # by less than 1 %
        ([1.0] * 9, [1.1] * 9, "start"),
        ([1.0] * 9, [0.9] * 5 + [1.2] * 4, "start"),  # possibly by chance
        ([1.0], [0.5] * 9, "best"),  # the start was so slow that it was timed once
        (None, [1.0] * 9, "best"),
        ([1.0] * 9, None, "start"),
    ],
)
def test_a_table_is_replaced_by_what_is_certainly_better(
    start: list[float] | None, best: list[float] | None, taken: str
) -> None:
    assert which(rounds(start, best), "x", [1024, 2048]) == taken


def test_gain_is_that_of_rounds_over_counts() -> None:
    middle, least = gain(rounds([2.0] * 9, [1.0] * 9), "x", [1024, 2048])
    assert middle == pytest.approx(math.log(2)) and least == pytest.approx(math.log(2))


def test_rows_compare_what_serves_a_count_before_and_after() -> None:
    times = {
        "a start": {256: [4.0] * 9, 512: [4.0] * 9},
        "b start": {256: [8.0] * 9, 512: [3.0] * 9},
        "b best": {256: [6.0] * 9, 512: [2.0] * 9},
    }
    made = rows("u32", times, [("a", 2**63 - 1)], [("a", 256), ("b", 512)], {"a": "start", "b": "best"})
    assert [(r.n, r.before, r.after, r.ratio, r.low, r.high) for r in made] == [
        (256, "a", "a", 1.0, 1.0, 1.0),
        (512, "a", "b", 2.0, 2.0, 2.0),
    ]
    assert [r.rate_after for r in made] == [round(256 / 4 / 1e6, 3), round(512 / 2 / 1e6, 3)]


def test_rows_omit_counts_of_a_sort_that_was_not_tuned() -> None:
    times = {"a start": {256: [4.0] * 9, 512: [4.0] * 9}, "a best": {256: [2.0] * 9, 512: [2.0] * 9}}
    auto = [("a", 256), ("b", 2**63 - 1)]
    assert [(r.n, r.before, r.after, r.ratio) for r in rows("u32", times, auto, auto, {"a": "best"})] == [
        (256, "a", "a", 2.0)
    ]
    assert rows("u32", times, [], [], {"a": "best"}) == []
