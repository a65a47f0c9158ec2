"""Loops in kernel text: what `unroll`, `batches` and `repeated` write says the same as statements written out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsgen.core.networks import bitonic_merge, halves, layered, sorting
from hsgen.emit.repeated import LEAST, Numbers, pieces, repeated
from hsgen.emit.unroll import Index, batches, constants, unroll, written_out

TOKENS = re.compile(
    r"\s*(?:HS_UNROLL for \(int (?P<name>\w+) = (?P<begin>\d+); \w+ < (?P<end>\d+); \w+\+\+\)|(?P<do>do)\b"
    r"|if \((?P<test>[^)]*)\) (?:(?P<leave>break);)?|f\((?P<call>.*)\);|(?P<open>\{)"
    r"|(?P<close>\}(?: while \(false\);)?))"
)


class Left(Exception):
    """A `break`."""


def run(text: str, **names: Any) -> list[tuple[int, ...]]:
    """Return the arguments of each call of `f` that a text of loops, blocks and breaks makes, in order."""
    calls: list[tuple[int, ...]] = []

    def statement(at: int, act: bool) -> int:
        """Perform the statement at `at`, if `act`; return its end."""
        token = TOKENS.match(text, at)
        assert token, text[at:]
        if token["name"]:
            end = statement(token.end(), False)
            try:
                for value in range(int(token["begin"]), int(token["end"])) if act else ():
                    names[token["name"]] = value
                    statement(token.end(), True)
            except Left:
                pass
            return end
        if token["do"]:
            try:
                return statement(token.end(), act)
            except Left:
                return statement(token.end(), False)
        if token["open"]:
            at = token.end()
            while not (close := TOKENS.match(text, at)) or not close["close"]:
                at = statement(at, act)
            return close.end()
        if token["test"]:
            holds = act and eval(token["test"], {}, names)
            if not token["leave"]:
                return statement(token.end(), holds)
            if holds:
                raise Left
        if token["call"] and act:
            calls.append(tuple(eval(f"({token['call']},)", {}, names)))
        return token.end()

    at = 0
    while at < len(text):
        at = statement(at, True)
        at += len(text[at:]) - len(text[at:].lstrip())
    return calls


@pytest.mark.parametrize("out", [False, True])
@pytest.mark.parametrize("end", [0, 1, 2, 5, 17])
@pytest.mark.parametrize("begin", [0, 1, 3])
def test_a_loop_has_each_index_once(begin: int, end: int, out: bool) -> None:
    with written_out(out):
        text = unroll(end, begin, caller=lambda i: f"f({i}, {i * 3}, {(i + 2) * 5});\n")
    assert run(text) == [(i, 3 * i, 5 * (i + 2)) for i in range(begin, end)]
    assert ("HS_UNROLL" in text) == (not out and end - begin > 1)


@pytest.mark.parametrize(("out", "folds"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 11])
def test_batches_have_each_index_once(count: int, out: bool, folds: bool) -> None:
    with written_out(out, folds):
        text = batches(count, 4, caller=lambda b: b.each(caller=lambda i: f"f({i}, {i * 7});\n"))
    assert run(text) == [(i, 7 * i) for i in range(count)]
    assert not (folds and not out) or text.count("for (int b") <= 1


def test_the_last_batch_of_a_loop_ends_early() -> None:
    with written_out(False, folds=True):
        text = batches(11, 4, caller=lambda b: b.each(caller=lambda i: f"f({i}, 1);\nf({i}, 2);\n"))
        ends = batches(11, 4, caller=lambda b: f"f({b.begin}, {b.end});\n")
    assert run(text) == [(i, x) for i in range(11) for x in (1, 2)]
    whole = re.sub(r"\((b \* 4 \+ 4) < 11 \? \1 : 11\)", r"min(\1, 11)", ends)
    assert whole != ends and run(whole, min=min) == [(0, 4), (4, 8), (8, 11)]


@pytest.mark.parametrize("folds", [False, True])
def test_constants_are_a_loop_where_they_may_be(folds: bool) -> None:
    with written_out(False, folds):
        text = constants(8, "b", caller=lambda b: f"f({b});\n")
    assert run(text) == [(b,) for b in range(8)] and text.count("HS_UNROLL") == folds


def test_a_batch_can_be_left() -> None:
    def body(rows: object) -> str:
        assert hasattr(rows, "begin")
        return f"if ({rows.begin} > limit) break;\nf({rows.begin});\n"

    for out in (False, True):
        with written_out(out):
            assert run(batches(16, 4, caller=body), limit=5) == [(0,), (4,)]


def test_sums_and_products_of_an_index_are_grouped() -> None:
    i = Index("i")
    assert [str(x) for x in (i * 1, i + 0, i * 4, (i + 1) * 4, i * 4 + 1)] == [
        "i",
        "i",
        "i * 4",
        "(i + 1) * 4",
        "i * 4 + 1",
    ]


def expanded(items: list[Numbers]) -> list[Numbers]:
    """Return what the pieces of `items` say."""
    found: list[Numbers] = []
    for p in pieces(tuple(items)):
        places = [()] if not p.counts else [(i,) for i in range(p.counts[0])]
        if len(p.counts) == 2:
            places = [(i, j) for i in range(p.counts[0]) for j in range(p.counts[1])]
        for at in places:
            found.append(
                tuple(x + sum(s[k] * i for s, i in zip(p.steps, at, strict=True)) for k, x in enumerate(p.first))
            )
    return found


@settings(deadline=None, max_examples=200)
@given(items=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=24))
def test_pieces_are_the_items_in_order(items: list[Numbers]) -> None:
    assert expanded(items) == items
    calls = run(repeated(items, LEAST, caller=lambda a, b: f"f({a}, {b});\n"))
    assert calls == items


@pytest.mark.parametrize("network", [halves, sorting, bitonic_merge])
def test_networks_are_a_few_loops(network: Callable[[int], list[Numbers]]) -> None:
    items = list(network(16))
    assert expanded(items) == items
    assert len(pieces(tuple(items))) <= len(items) // 4


def test_small_arrays_are_written_out() -> None:
    text = repeated([(i,) for i in range(8)], LEAST - 1, caller=lambda i: f"f({i});\n")
    assert "HS_UNROLL" not in text and run(text) == [(i,) for i in range(8)]


def test_layers_keep_the_order_of_comparators_that_share_a_value() -> None:
    for n in range(2, 20):
        before, after = sorting(n), layered(sorting(n))
        assert sorted(before) == sorted(after)
        for i in range(n):
            assert [c for c in before if i in c] == [c for c in after if i in c]
