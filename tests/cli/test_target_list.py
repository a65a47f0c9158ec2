"""`hsgen targets`: a line for each target on a terminal, and all columns by an option or in a pipe."""

from __future__ import annotations

import pytest
from terminals import ESCAPE, shown

from hsgen.cli import main
from hsgen.targets import target


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_terminal_shows_a_line_for_each_target(columns: int) -> None:
    code, text = shown(columns, "targets")
    lines = [ESCAPE.sub("", line).rstrip("\r") for line in text.splitlines()]
    assert code == 0 and [line.split()[0] for line in lines if line] == target.names()
    assert all(len(line) <= columns for line in lines)


def test_details(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = shown(80, "targets", "--details")
    assert (
        code == 0 and "auto/u8,u16,u32,u64" in text.replace("\r", "").replace("\n", "") and len(text.splitlines()) > 60
    )
    assert main(["targets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(target.names()) + 1 and " auto/" in lines[1], "a pipe gets all columns"
    assert main(["targets", "--details"]) == 0
    assert capsys.readouterr().out.splitlines() == lines
