"""A tuning resumes from its journal, truncated anywhere, with the same results as an uninterrupted one."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from simulated import SMALL, Device, Fate, cost, faulty, head_of, never, seconds

from hsgen.core.errors import Wrong
from hsgen.targets import target
from hsgen.targets.tables import table_of
from hsgen.tools.tune import journal
from hsgen.tools.tune.final import Result
from hsgen.tools.tune.propose import Table, name_of
from hsgen.tools.tune.request import Request
from hsgen.tools.tune.run import Tuning

REQUEST = Request(budget=106.0, sizes=(1 << 10, 1 << 14, 1 << 18, 1 << 20))  # four races per label


def tuned(
    path: Path | None, device: Device, request: Request = REQUEST, text: str = SMALL, seed: int = 1
) -> tuple[Result, journal.Journal]:
    """Tune the small target, resuming from the journal at `path` if it exists."""
    book = journal.opened(path, head_of(text, request, seed=seed))
    found = target.parse(text, "small", "small.toml")
    return Tuning(text, found, request, book, device, lambda *told: None).perform(), book


class Killed(BaseException):
    """Ends a run."""


@cache
def whole(fate: Fate) -> tuple[Result, tuple[str, ...]]:
    """An uninterrupted tuning: its result, and the lines of its journal."""
    result, book = tuned(None, Device(fate=fate))
    return result, tuple(json.dumps(x) + "\n" for x in (book.head, *book.records))


def late(label: str, table: Table, n: int) -> tuple[str, str] | None:
    """The winner of the merge sorts' races fails at counts that only the final comparison has."""
    if label == "bitonic" and n > 1 << 20 and table["height"] == whole(never)[0].tables["bitonic", "u32"]["height"]:
        return "crash", "planted"
    return None


FATES = {"none": never, "faulty": faulty, "late": late}


@pytest.mark.parametrize("fate", FATES.values(), ids=FATES)
def test_a_tuning_chooses_the_better(fate: Fate) -> None:
    result, lines = whole(fate)
    kinds = Counter(json.loads(x)["what"] for x in lines)
    assert kinds["race"] == 8 and kinds["final"] >= 3 and kinds["checked"] == 2
    assert (kinds["failed"] > 0) == (fate is not never)
    assert set(result.tables) == {("bitonic", "u32"), ("radix", "u32")}
    old = target.parse(SMALL, "small", "small.toml")
    for (label, _), table in result.tables.items():
        assert fate(label, table, 1 << 22) is None
        assert cost(label, table) < 0.8 * cost(label, old_table(label)), old.name
    rows, valued = result.autos["u32"]["ranges"], result.autos["u32"]["ranges_values"]
    radix = f"radix-{result.tables['radix', 'u32']['strategy']}"
    assert [row["use"] for row in rows] == [row["use"] for row in valued] == ["bitonic", radix]
    between = crossing(result.tables)
    assert between / 1.15 <= rows[0]["to"] <= between * 1.15
    assert valued[0]["to"] < rows[0]["to"]
    assert all(row.ratio is None or row.ratio > 0.97 for row in result.rows)
    assert [row.n for row in result.rows] == [1 << b for b in range(8, 23)]


def old_table(label: str) -> dict[str, Any]:
    found = table_of(tomllib.loads(SMALL), label, "u32")
    assert found is not None
    return found


def crossing(tables: dict[tuple[str, str], Table]) -> int:
    """The count up to which the merge sort takes less time by the formula."""
    merge, radix = tables["bitonic", "u32"], tables["radix", "u32"]
    return max(n for n in range(256, 1 << 20, 64) if seconds("bitonic", merge, n) <= seconds("radix", radix, n))


@pytest.mark.parametrize("fate", FATES.values(), ids=FATES)
def test_a_journal_cut_anywhere_gives_the_same_result(fate: Fate, tmp_path: Path) -> None:
    """After any record, and in the middle of any line: the same records follow, byte for byte."""
    result, lines = whole(fate)
    path = tmp_path / "journal.jsonl"
    for count in range(1, len(lines) + 1):
        torn = lines[count][: len(lines[count]) // 2] if count < len(lines) else '{"what": "ra'
        path.write_text("".join(lines[:count]) + torn, encoding="utf-8")
        device = Device(fate=fate)
        again, _ = tuned(path, device)
        assert path.read_text(encoding="utf-8") == "".join(lines), f"cut after {count} of {len(lines)} lines"
        assert again == result
        assert set(device.failures.values()) <= {1}
        known = {name_of(r["table"]) for r in map(json.loads, lines[1:count]) if r["what"] == "failed"}
        assert not known & set(device.tried), "a failure was tried again"
        assert device.calls or not any(json.loads(x)["what"] in ("race", "final", "checked") for x in lines[count:])


def test_a_complete_journal_needs_no_device(tmp_path: Path) -> None:
    result, lines = whole(faulty)
    path = tmp_path / "journal.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    device = Device()
    assert tuned(path, device)[0] == result and device.calls == 0
    assert path.read_text(encoding="utf-8") == "".join(lines)


@pytest.mark.parametrize("kills", [1, 3])
def test_killed_in_the_middle_of_races(kills: int, tmp_path: Path) -> None:
    """Each run but the last ends after its third failure."""
    result, lines = whole(faulty)
    path = tmp_path / "journal.jsonl"
    for _ in range(kills):
        seen: set[str] = set()

        def dying(label: str, table: Table, n: int, seen: set[str] = seen) -> tuple[str, str] | None:
            if len(seen) >= 3:
                raise Killed
            if found := faulty(label, table, n):
                seen.add(name_of(table))
            return found

        with pytest.raises(Killed):
            tuned(path, Device(fate=dying))
        assert "".join(lines).startswith(path.read_text(encoding="utf-8"))
    assert tuned(path, Device(fate=faulty))[0] == result
    assert path.read_text(encoding="utf-8") == "".join(lines)


def test_more_time_continues_the_search(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    tuned(path, Device())
    before = path.read_text(encoding="utf-8")
    device = Device()
    _, book = tuned(path, device, Request(budget=190.0, sizes=REQUEST.sizes))
    assert path.read_text(encoding="utf-8").startswith(before)
    assert sum(1 for _ in book.of("race")) == 12 and device.calls > 4


def test_the_journals_of_two_seeds_are_joined(tmp_path: Path) -> None:
    """The better champion is chosen, in either order of the journals."""
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    each = [tuned(p, Device(fate=faulty), seed=seed)[0].tables for seed, p in enumerate(paths, start=1)]
    assert each[0] != each[1]
    found = []
    for number, order in enumerate((paths, paths[::-1], [*paths, paths[0]])):
        into = tmp_path / f"joined{number}.jsonl"
        journal.merged(order, into)
        device = Device(fate=faulty)
        result, book = tuned(into, device)
        assert not set(device.tried) & {name_of(r["table"]) for r in book.of("failed") if r["number"] < 4}
        assert {r["what"] for r in book.records} >= {"race", "final", "checked"}
        found.append((result, into.read_text(encoding="utf-8")))
    assert found[0] == found[1] == found[2]
    for at, table in found[0][0].tables.items():
        assert cost(at[0], table) <= 1.02 * min(cost(at[0], t[at]) for t in each)


def test_joined_journals_of_a_table_that_was_not_there(tmp_path: Path) -> None:
    """Their races have no shape in common; the better champion is still chosen."""
    text = SMALL[: SMALL.index("[radix.u32.")]
    request = Request(labels=("radix",), budget=53.0, sizes=REQUEST.sizes)
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    each = [tuned(p, Device(), request, text, seed)[0].tables["radix", "u32"] for seed, p in enumerate(paths, start=3)]
    journal.merged(paths, tmp_path / "joined.jsonl")
    result, _ = tuned(tmp_path / "joined.jsonl", Device(), request, text)
    assert cost("radix", result.tables["radix", "u32"]) <= 1.02 * min(cost("radix", t) for t in each)


def test_one_label_alone_leaves_the_crossover_as_it_is() -> None:
    """Without times of the other label it cannot be determined; a label without a table gets one."""
    result, _ = tuned(None, Device(), Request(labels=("radix",), budget=53.0, sizes=REQUEST.sizes))
    assert set(result.tables) == {("radix", "u32")} and result.autos == {}
    result, _ = tuned(None, Device(), Request(labels=("radix-new",), budget=53.0, sizes=REQUEST.sizes))
    assert set(result.tables) == {("radix-new", "u32")} and result.autos == {}
    rows = result.rows
    assert rows and all(row.before is None and row.ratio is None and row.after == "radix-new" for row in rows)


def test_an_algorithm_that_does_not_pay_is_left_out() -> None:
    """A sort that is slower at every count is not used for any count."""

    class Slow(Device):
        def _seconds(self, entry: Any, n: int, number: int, valued: bool) -> float:
            return super()._seconds(entry, n, number, valued) * (50 if entry.label == "bitonic" else 1)

    result, _ = tuned(None, Slow())
    strategy = result.tables["radix", "u32"]["strategy"]
    assert result.autos == {"u32": {"ranges": [{"use": f"radix-{strategy}"}]}}
    assert {row.after for row in result.rows} == {"radix"}


def test_start_tables_that_fail_are_replaced() -> None:
    starts = [name_of(old_table(x)) for x in ("bitonic", "radix")]
    device = Device(fate=lambda label, table, n: ("wrong", "planted") if name_of(table) in starts else None)
    result, book = tuned(None, device)
    assert len(result.tables) == 2 and {name_of(r["table"]) for r in book.of("failed")} == set(starts)
    assert all(row.before is None for row in result.rows)


def test_nothing_runs() -> None:
    with pytest.raises(Wrong, match="target small: no shape for u32 keys runs; the journal says why"):
        tuned(None, Device(fate=lambda *at: ("device", "none fits")))


def test_two_at_a_time(tmp_path: Path) -> None:
    """Like a cluster of two workers."""
    path = tmp_path / "journal.jsonl"
    result, book = tuned(path, Device(fate=faulty, at_once=2))
    assert len(result.tables) == 2
    numbers: dict[str, Sequence[int]] = {}
    for record in book.of("race"):
        numbers[record["label"]] = [*numbers.get(record["label"], []), record["number"]]
    assert numbers == {"bitonic": [0, 1, 2, 3], "radix": [0, 1, 2, 3]}
    assert tuned(path, (again := Device(at_once=2)))[0] == result and again.calls == 0
