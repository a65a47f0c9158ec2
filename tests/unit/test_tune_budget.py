"""A tuning ends within its budget and one validation, by a clock that only simulated work moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from simulated import SMALL, Device, cost, head_of

from hsgen.cli import main, tune
from hsgen.core.errors import Wrong
from hsgen.core.keys import PLAIN, Signature
from hsgen.engines.hosts import Host
from hsgen.targets import target
from hsgen.tools.tune import journal, spread
from hsgen.tools.tune.final import Result
from hsgen.tools.tune.request import Request
from hsgen.tools.tune.run import Tuning
from hsgen.tools.tune.runner import Entry
from hsgen.tools.tune.search import Finish, Race, Rung

SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 20)
PAIRS = 2500  # of a complete validation, about


@dataclass
class Slow(Device):
    """A device that takes its time: seconds to compile a shape, to validate a case, and for a count of a race."""

    compile: float = 3.0
    case: float = 0.02
    count: float = 1.0
    time: float = 0.0
    validated: list[str] = field(default_factory=list)

    def races(
        self, some: Sequence[Race], failed: Callable[[Race, str, str, str], None], seconds: float = math.inf
    ) -> list[Finish]:
        return [self._within(super(Slow, self).races([it], failed)[0], seconds, list(it.tables), 320) for it in some]

    def run(
        self,
        entries: Mapping[str, Entry],
        key: str,
        rungs: Sequence[Rung],
        failed: Callable[[str, str, str], None],
        *,
        signature: Signature = PLAIN,
        cases: int = 0,
        seconds: float = math.inf,
    ) -> Finish:
        finish = super().run(entries, key, rungs, failed, signature=signature, cases=cases)
        if not rungs:
            self.validated += entries
        return self._within(finish, seconds, list(entries), cases * 2 or 2 * PAIRS)

    def _within(self, finish: Finish, seconds: float, names: list[str], cases: int) -> Finish:
        """What of a race fits into seconds: shapes in order, then counts in order."""
        left, ready = seconds, []
        for name in names:
            if self.compile + cases * self.case <= left * (1.0 if len(names) == 1 else 0.7):
                left -= self.compile + cases * self.case
                ready.append(name)
        finish.late = [x for x in names if x not in ready]
        counts = min(int(max(left, 0.0) / self.count), len(next(iter(finish.seconds.values()), {})))
        finish.seconds = {x: dict(list(t.items())[:counts]) for x, t in finish.seconds.items() if x in ready and counts}
        finish.cases = {x: n for x, n in finish.cases.items() if x in ready}
        finish.case = dict.fromkeys(finish.cases, self.case)
        finish.took = min(seconds, seconds - left + counts * self.count)
        self.time += finish.took
        return finish


def tuned(device: Slow, budget: float, book: journal.Journal | None = None) -> tuple[Result, list[tuple[str, str]]]:
    """Tune the small target within a budget; return the result, and the phases that were shown with their texts."""
    shown: list[tuple[str, str]] = []
    request = Request(budget=budget, sizes=SIZES)
    book = book or journal.Journal(None, head_of(SMALL, request))

    def show(phase: str, text: str, left: float) -> None:
        shown.append((phase, text))
        assert left <= 1.2 * budget + 2 * PAIRS * device.case

    found = target.parse(SMALL, "small", "small.toml")
    return Tuning(SMALL, found, request, book, device, show, clock=lambda: device.time).perform(), shown


@pytest.mark.parametrize(
    ("budget", "case"), [(60.0, 0.0005), (60.0, 0.02), (180.0, 0.0005), (600.0, 0.005), (600.0, 0.02)]
)
def test_it_ends_within_the_budget_and_one_validation(budget: float, case: float) -> None:
    device = Slow(case=case)
    try:
        result, _ = tuned(device, budget)
    except Wrong as e:
        assert "no shapes were compared in this time; allow more than --budget" in str(e) and budget < 200
        result = None
    assert device.time <= 1.2 * budget + 1.5 * 2 * PAIRS * case + device.compile
    if case < 0.001 and budget > 150:
        assert result is not None and set(result.tables) == {("bitonic", "u32"), ("radix", "u32")}
        assert "u32" in result.evidence


def test_a_validation_that_exceeds_the_budget_is_skipped_with_a_word() -> None:
    """The file's shapes stay, there is no evidence, and a greater budget validates the same winners."""
    request = Request(budget=600.0, sizes=SIZES)
    book = journal.Journal(None, head_of(SMALL, request))
    device = Slow(case=0.2, compile=0.01)
    result, shown = tuned(device, 600.0, book)
    assert result.tables == {} and result.evidence == {} and result.notes == {}
    assert "bitonic" not in device.validated  # the radix sort may be validated, if it is the file's
    words = [text for phase, text in shown if phase == "skip"]
    assert any("a validation takes about " in x and x.endswith("; a greater --budget continues here") for x in words)
    again, shown = tuned(Slow(case=0.2, compile=0.01), 600.0, book)
    assert again == result and not any(phase in ("race", "compare", "validate") for phase, _ in shown)
    more, shown = tuned(device, 7200.0, book)
    assert set(more.tables) == {("bitonic", "u32"), ("radix", "u32")} and set(device.validated) == {"bitonic", "radix"}
    assert all(cost(label, table) < cost_of_the_file(label) for (label, _), table in more.tables.items())


def cost_of_the_file(label: str) -> float:
    start = head_of(SMALL, Request(sizes=SIZES))["start"][f"{label} u32"]
    return cost(label, start)


def test_phases_are_shown_in_order() -> None:
    _, shown = tuned(Slow(case=0.0005), 600.0)
    phases = list(dict.fromkeys(phase for phase, _ in shown if phase != "skip"))
    assert phases == ["race", "found", "compare", "validate", "crossover"]


def test_a_race_that_does_not_fit_is_not_recorded() -> None:
    request = Request(budget=60.0, sizes=SIZES)
    book = journal.Journal(None, head_of(SMALL, request))
    with pytest.raises(Wrong, match="or name one --key and --algorithm"):
        tuned(Slow(compile=100.0), 60.0, book)
    assert not list(book.of("race")) and not list(book.of("failed"))
    result, _ = tuned(Slow(compile=0.1, case=0.0005), 600.0, book)
    assert result.tables


def test_new_tables_state_their_measurement() -> None:
    result, _ = tuned(Slow(case=0.0005), 600.0)
    for label, note in ((at[0], note) for at, note in result.notes.items()):
        rows = [row for row in result.rows if row.after == label]
        assert note.split(" at ")[1].split(",")[0] == f"2^{max(r.n for r in rows).bit_length() - 1}"
        assert ", was " in note


def test_a_small_budget_is_for_the_first_tables() -> None:
    device = Slow(case=0.0005, compile=0.2)
    result, shown = tuned(device, 60.0)
    assert {text.split(",")[0] for phase, text in shown if phase == "race"} == {"bitonic u32"}
    assert ("skip", "radix u32: a race needs 30s; allow more time, or name it with --key and --algorithm") in shown
    assert set(result.tables) <= {("bitonic", "u32")}


def test_journals_with_damaged_budgets_are_refused(tmp_path: Any) -> None:
    head = head_of(SMALL, Request(sizes=SIZES))
    assert journal._problem({"what": "journal", **head}, first=True) is None
    record = {"what": "checked", "key": "u32", "label": "radix", "table": {}, "cases": 0, "budget": "much"}
    assert journal._problem(record, first=False) == "budget"
    assert journal._problem({**record, "budget": 3.0, "case": {"a": "b"}}, first=False) == "case"


def test_the_command_that_a_small_budget_advises(
    embedded: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The journal that the first command leaves stops none of those that its message names."""
    device = Slow(compile=100.0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tune, "Tuning", partial(tune.Tuning, clock=lambda: device.time))
    monkeypatch.setattr(spread, "Here", lambda field, beat: device)
    given = ["tune", "-t", "cpu", "--key", "u32", "--device", embedded.platform, "--sizes", "2^10,2^12"]
    assert main([*given, "--budget", "60s"]) == 1
    err = capsys.readouterr().err
    first = "skip: --budget 60s: is too small for 2 tables, for which --budget 100s would do"
    assert first in err.splitlines()[1]
    assert "allow more than --budget 60s, such as 2m with this journal, or name one --key and" in err
    device.compile, device.case = 0.05, 0.0005
    assert main([*given, "--budget", "2m"]) == 0
    assert main([*given, "--algorithm", "radix", "--budget", "60s"]) == 0
    out, err = capsys.readouterr()
    assert "would do" not in err and "u32" in out
    assert sorted(x.name for x in tmp_path.iterdir()) == [
        "tune-cpu-opencl-u32-radix.jsonl",
        "tune-cpu-opencl-u32.jsonl",
    ]
