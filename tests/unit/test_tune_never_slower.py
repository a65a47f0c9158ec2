"""A tuning never writes what is slower anywhere than what the file had, on devices whose times are planted."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from simulated import SMALL, Device, head_of, seconds

from hsgen.targets import target
from hsgen.targets.choices import algorithm
from hsgen.targets.tables import changed, table_of
from hsgen.targets.target import Target
from hsgen.tools.tune import edit, journal
from hsgen.tools.tune.crossover import ALL, priced, raised, serving, within
from hsgen.tools.tune.final import NOISE, Result
from hsgen.tools.tune.propose import Table, name_of
from hsgen.tools.tune.request import Request
from hsgen.tools.tune.run import Tuning
from hsgen.tools.tune.runner import Entry

SIZES = (1 << 10, 1 << 12, 1 << 14, 1 << 16)
COUNTS = [1 << b for b in range(8, 19)]
Times = Callable[[str, bool, int, bool], float]
"""The seconds of a label, of the file's table or another, for a count, without or with values."""


def table_in(text: str, label: str) -> Table:
    found = table_of(tomllib.loads(text), label, "u32")
    assert found is not None
    return found


@dataclass
class Planted(Device):
    """A device on which each label has one time for the file's table and one for all others."""

    times: Times = lambda label, new, n, valued: 1e-9 * n
    text: str = SMALL
    noise: float = 0.002
    compared: list[list[str]] = field(default_factory=list)

    def _seconds(self, entry: Entry, n: int, number: int, valued: bool) -> float:
        assert entry.table is not None
        noise = super()._seconds(entry, n, number, valued) / seconds(entry.label, entry.table, n, valued)
        new = name_of(entry.table) != name_of(table_in(self.text, entry.label))
        return noise * self.times(algorithm(entry.label), new, n, valued)

    def run(self, entries: Mapping[str, Entry], *at: Any, **more: Any) -> Any:
        self.compared.append([name_of(e.table or {}) + e.label for e in entries.values()])
        return super().run(entries, *at, **more)


def tuned(device: Device, text: str = SMALL, **more: Any) -> tuple[Result, Target]:
    """Tune a text; return the result, and the target that would be written."""
    request = Request(**{"sizes": SIZES, "budget": 106.0, **more})
    found = target.parse(text, "small", "small.toml")
    book = journal.Journal(None, head_of(text, request))
    result = Tuning(text, found, request, book, device, lambda *told: None).perform()
    return result, written(text, result)


def written(text: str, result: Result) -> Target:
    return target.parse(edit.applied(text, "small.toml", result.tables, result.autos, []), "small", "small.toml")


def slower(device: Planted, result: Result, after: Target, counts: list[int]) -> list[tuple[int, bool, float]]:
    """The counts at which the written target is slower, without or with values, and by how much."""
    before = target.parse(device.text, "small", "small.toml")
    new = {label for label, _ in result.tables}
    out = []
    for valued in (False, True):
        old_ranges, ranges = ((x.autos_valued if valued else x.autos)["u32"] for x in (before, after))
        for n in counts:
            old, now = serving(list(old_ranges), n), serving(list(ranges), n)
            loss = device.times(now, now in new, n, valued) / device.times(old, False, n, valued)
            if loss > 1.011:
                out.append((n, valued, loss))
    return out


def merge(n: int) -> float:
    return 1e-5 + 2e-9 * n


FILE = SMALL.replace("to = 1000,", "to = 65536,")


def test_a_crossover_does_not_move_where_a_count_becomes_slower() -> None:
    """The radix sort is better at most counts below the crossover, but has 0.73 of the rate at 4096."""

    def times(label: str, new: bool, n: int, valued: bool) -> float:
        return merge(n) * (1 if label == "bitonic" else 1 / 0.73 if n == 4096 else 0.5)

    device = Planted(times=times, text=FILE)
    result, after = tuned(device, FILE)
    assert not slower(device, result, after, COUNTS)
    assert [serving(list(after.autos["u32"]), n) for n in (2048, 4096, 8192)] == ["radix", "bitonic", "radix"]
    assert min(row.ratio for row in result.rows if row.ratio is not None) > 0.98


@pytest.mark.parametrize("sizes", [(1 << 10,), (1 << 10, 1 << 12)])
def test_counts_that_were_not_compared_are_served_as_before(sizes: tuple[int, ...]) -> None:
    """Up to four times the greatest count the merge sort is better; above, the file uses the radix sort."""

    def times(label: str, new: bool, n: int, valued: bool) -> float:
        return merge(n) if label == "bitonic" else 4 * merge(n) if n <= 1 << 14 else merge(n) / 8

    device = Planted(times=times, text=FILE)
    result, after = tuned(device, FILE, sizes=sizes)
    assert not slower(device, result, after, COUNTS)
    assert after.autos["u32"][-1] == ("radix", ALL)


def test_small_counts_are_served_as_before_unless_they_were_compared() -> None:
    """The radix sort is better at 256 keys and above only."""

    def times(label: str, new: bool, n: int, valued: bool) -> float:
        return merge(n) if label == "bitonic" else merge(n) * (0.5 if n >= 256 else 3)

    device = Planted(times=times, text=FILE)
    result, after = tuned(device, FILE)
    assert not slower(device, result, after, [1, 16, 100, 255, *COUNTS])
    assert after.autos["u32"] == (("bitonic", 255), ("radix", ALL))


@pytest.mark.parametrize("label", ["bitonic", "radix"])
def test_a_table_that_is_slower_at_one_count_is_not_written(label: str) -> None:
    """It is better on average, by far; the other label's is written."""

    def times(it: str, new: bool, n: int, valued: bool) -> float:
        base = merge(n) * (1 if (it == "bitonic") == (n <= 65536) else 20)
        if not new:
            return base
        return base * (1.1 if it == label and n == (8192 if it == "bitonic" else 1 << 18) else 0.5)

    device = Planted(times=times, text=FILE)
    result, after = tuned(device, FILE)
    assert set(result.tables) == {("radix" if label == "bitonic" else "bitonic", "u32")}
    assert not slower(device, result, after, COUNTS)


def test_a_table_that_is_slower_with_values_is_not_written() -> None:
    def times(label: str, new: bool, n: int, valued: bool) -> float:
        base = merge(n) * (1 if (label == "bitonic") == (n <= 65536) else 20)
        return base * ((1.3 if valued and label == "bitonic" else 0.5) if new else 1)

    device = Planted(times=times, text=FILE)
    result, after = tuned(device, FILE)
    assert set(result.tables) == {("radix", "u32")}
    assert not slower(device, result, after, COUNTS)


def test_ranges_with_values_stay_where_these_were_not_compared() -> None:
    """A sort that serves all keys alone does not take over the pairs, if there is no time to compare them."""
    text = FILE.replace("] # a guess\n", '] # a guess\nranges_values = [{ to = 2048, use = "bitonic" }, '
                        '{ use = "radix-reduce_scan" }]\n')  # fmt: skip

    class Hurried(Planted):
        def run(self, entries: Any, key: str, rungs: Any, failed: Any, *, signature: Any, **more: Any) -> Any:
            finish = super().run(entries, key, rungs, failed, signature=signature, **more)
            if signature.value != "none":
                finish.seconds, finish.late = {}, list(entries)
            return finish

    def times(label: str, new: bool, n: int, valued: bool) -> float:
        return merge(n) * (1 if label == "bitonic" else 5)

    result, after = tuned(Hurried(times=times, text=text), text)
    assert result.autos and after.autos["u32"] == (("bitonic", 1 << 18), ("radix", ALL))
    assert after.autos_valued["u32"] == (("bitonic", 2048), ("radix", ALL))


def test_between_two_powers_of_two() -> None:
    """The new merge sort is slow just above the crossover, where the next measured count is the radix sort's."""

    def times(label: str, new: bool, n: int, valued: bool) -> float:
        if label == "radix":
            return merge(n) * (0.4 if n >= 1 << 17 else 30)
        return merge(n) * (0.5 if new and (n & (n - 1) == 0 or n < 65536) else 2 if new else 1)

    device = Planted(times=times, text=FILE.replace("to = 65536,", "to = 131071,"))
    result, after = tuned(device, device.text)
    assert not slower(device, result, after, [*COUNTS, *range(65536, 131072, 8192)])


@pytest.mark.parametrize("seed", range(12))
def test_random_times(seed: int) -> None:
    """Times that are drawn for each label, table and count; nothing that was measured becomes slower."""
    rng = random.Random(seed)
    factors: dict[tuple[str, bool, int, bool], float] = {}

    def times(label: str, new: bool, n: int, valued: bool) -> float:
        at = label, new, n.bit_length(), valued
        return merge(n) * factors.setdefault(at, rng.choice([0.6, 0.8, 1.0, 1.0, 1.3, 2.0]))

    for label in ("bitonic", "radix"):
        for n in COUNTS:
            for at in ((label, new, n, valued) for new in (False, True) for valued in (False, True)):
                times(*at)
    device = Planted(times=times, text=FILE)
    result, after = tuned(device, FILE)
    assert not slower(device, result, after, COUNTS)
    assert all(row.ratio is None or row.ratio > 1 - NOISE for row in result.rows)


def test_another_operation_whose_table_is_slower_at_one_count() -> None:
    text = SMALL + "\n[radix_select.u32]\nitems = 2\nwork_group = 32\n"

    class Selecting(Device):
        def _seconds(self, entry: Entry, n: int, number: int, valued: bool) -> float:
            new = name_of(entry.table or {}) != name_of(table_in(text, "radix_select"))
            return merge(n) * ((1.2 if n == 2048 else 0.3) if new else 1.0)

    found = target.parse(text, "small", "small.toml")
    assert "radix_select" in found.implicit("u32")
    result, _ = tuned(Selecting(), text, labels=("radix_select",))
    assert result.tables == {} and result.rows


def test_a_file_that_changed_since_the_journal_began(tmp_path: Path) -> None:
    """What it has now is compared too, before it is replaced."""
    other = {**table_in(SMALL, "bitonic"), "stream_group": 32}

    class Better(Device):
        """The new table of the file is the best of all."""

        def _seconds(self, entry: Entry, n: int, number: int, valued: bool) -> float:
            best = name_of(entry.table or {}) == name_of(other)
            return super()._seconds(entry, n, number, valued) * (0.01 if best else 1)

    request = Request(sizes=SIZES, budget=106.0)
    book = journal.opened(tmp_path / "j", head_of(SMALL, request))
    text = edit.applied(SMALL, "small.toml", {("bitonic", "u32"): other}, {}, [])
    assert table_of(changed(tomllib.loads(SMALL), "bitonic", "u32", other), "bitonic", "u32") == other
    found = target.parse(text, "small", "small.toml")
    result = Tuning(text, found, request, book, Better(), lambda *told: None).perform()
    assert ("bitonic", "u32") not in result.tables


def test_no_sort_is_compared_with_itself() -> None:
    """Not even one whose table is written in another way: values that are defaults say nothing new."""
    text = SMALL.replace("stream_group = 16\n", "stream_group = 16\nbank_pad = 1\n")

    def times(label: str, new: bool, n: int, valued: bool) -> float:
        return merge(n) * (1 if (label == "bitonic") == (n <= 1000) else 20) * (1.2 if new else 1)

    device = Planted(times=times, text=text)
    result, _ = tuned(device, text)
    assert result.tables == {} and all(row.same for row in result.rows)
    assert all(len(set(names)) == len(names) for names in device.compared)
    found = target.parse(text, "small", "small.toml")
    tuning = Tuning(text, found, Request(sizes=SIZES), journal.Journal(None, head_of(text, Request(sizes=SIZES))),
                    device, lambda *told: None)  # fmt: skip
    table = table_in(text, "bitonic")
    plain = {k: v for k, v in table.items() if k != "bank_pad"}
    assert tuning._same("u32", "bitonic", table, plain) and not tuning._same(
        "u32", "bitonic", table, {**table, "stream_group": 32}
    )


def test_ranges_outside_of_a_comparison() -> None:
    before = [("a", 100), ("b", 5000), ("c", ALL)]
    assert within([("c", 1000)], before, 256, 1000) == [("a", 100), ("b", 255), ("c", 1000), ("b", 5000), ("c", ALL)]
    assert within([("b", 1000)], before, 1, 1000) == [("b", 5000), ("c", ALL)]
    assert within([("a", 500), ("b", 1000)], [], 1, 1000) == [("a", 500), ("b", ALL)]
    assert within([("c", 9000)], before, 256, 9000) == [("a", 100), ("b", 255), ("c", ALL)]


def test_counts_between_measured_ones_are_served_as_before() -> None:
    before = [("a", 1500), ("b", ALL)]
    assert raised([("a", 1024), ("b", 4096)], before, [512, 1024, 2048, 4096]) == [("a", 1500), ("b", 4096)]
    assert raised([("a", 512), ("b", 4096)], before, [512, 1024, 2048, 4096]) == [("a", 1023), ("b", 4096)]
    assert raised([("b", 512), ("a", 4096)], before, [512, 1024, 2048, 4096]) == [("b", 512), ("a", 4096)]


def test_several_ranges_only_where_one_is_not_allowed() -> None:
    times = {"a": {1: 1.0, 2: 1.0, 4: 1.0, 8: 1.0}, "b": {1: 0.5, 2: 2.0, 4: 0.5, 8: 0.5}}
    assert priced(times)[1] == [("b", 8)]
    assert priced(times, {("b", 2)})[1] == [("b", 1), ("a", 2), ("b", 8)]
    assert priced(times, {("b", 2), ("a", 2)})[1] == []
