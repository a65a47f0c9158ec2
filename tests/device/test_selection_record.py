"""Validations of selections in pieces: a later run goes on with the seed and the results of the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from selection_cases import Record


def test_a_later_run_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, ran = str(tmp_path / "record"), list[str]()

    def validate(name: str) -> Any:
        return lambda: [ran.append(name), {"cases": 7, "failures": 0, "features": []}][1:]

    for run in range(3):
        record = Record(file, 5 + run, 1)
        assert record.seed == 5
        results = [record.of(name, validate(name)) for name in ("a", "b", "c")]
        assert [x is not None for x in results] == [run >= i for i in range(3)]
    assert ran == ["a", "b", "c"] and capsys.readouterr().out.count(": 7 cases, 0 failures") == 3
    assert Record(None, 9, -1).of("a", validate("a")) is not None
