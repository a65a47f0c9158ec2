"""Tables on terminals: never wider than the terminal, with every word whole where it can be, and nothing lost."""

from __future__ import annotations

import random
import sys

import pytest
from terminals import Terminal, lines

from hsgen.cli import output, tables

HEAD = ["target", "found", "Mkeys/s", "ratio"]
ROWS = [
    ["cpu", "Intel(R) OpenCL with subgroups of 4, 8, 16, 32, 64 lanes", "1234.5", "0.35 x"],
    ["generic", "-", "17", "-"],
    ["cpu", "a driver", "8.25", "12.00 x"],
]


def table(head: list[str] = HEAD, rows: list[list[str]] = ROWS) -> tables.Table:
    return tables.Table(head, rows, output._numeric, {})


def printed(columns: int, monkeypatch: pytest.MonkeyPatch, **more: object) -> list[str]:
    """The lines of a table on a terminal of this width."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    output.emit_table(HEAD, ROWS, **more)  # type: ignore[arg-type]
    return lines(terminal.getvalue())


def test_a_table_that_fits_keeps_its_widths() -> None:
    assert table().widths(90, 2, 30) == [7, 56, 7, 7]
    assert table().widths(83, 2, 30) == [7, 56, 7, 7]


def test_texts_are_folded_and_numbers_are_not() -> None:
    assert table().widths(82, 2, 30) == [7, 55, 7, 7]
    assert table().widths(50, 2, 30) == [7, 23, 7, 7]
    assert table().widths(40, 2, 30) is None  # a text of less than 16 characters a line


@pytest.mark.parametrize("seed", range(20))
def test_widths_suffice_for_words(seed: int) -> None:
    dice = random.Random(seed)
    words = ["x" * dice.randrange(1, 12) for _ in range(40)]
    rows = [[" ".join(dice.choices(words, k=dice.randrange(1, 9))) for _ in range(4)] for _ in range(5)]
    for total in range(20, 300, 7):
        found = table([*"abcd"], rows).widths(total, 2, 30)
        natural = [max(map(len, column)) for column in zip([*"abcd"], *rows, strict=True)]
        if found is None:
            assert total < sum(natural) + 6
            continue
        assert sum(found) + 6 <= total and all(w <= n for w, n in zip(found, natural, strict=True))
        assert all(len(word) <= w for row in rows for cell, w in zip(row, found, strict=True) for word in cell.split())


@pytest.mark.parametrize("columns", [200, 80, 60, 40, 30, 20])
def test_nothing_is_lost_or_wider_than_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = printed(columns, monkeypatch)
    assert max(map(len, found)) <= columns
    text = "".join("".join(found).split())
    for word in {word for row in ROWS for cell in row for word in cell.split()}:
        assert word in text, word


def test_a_row_that_cannot_fit_is_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    found = printed(34, monkeypatch)
    assert found[0] == "cpu" and "  ratio    0.35 x" in found
    assert found.count("generic") == 1 and found.count("") == 3  # between blocks, and at the end


def test_equal_first_cells_become_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [["nvidia-hopper-and-later", "kernel", str(i), str(i)] for i in range(3)]
    monkeypatch.setattr(sys.modules[__name__], "ROWS", rows)
    assert printed(34, monkeypatch) == [
        "nvidia-hopper-and-later",
        "  found   Mkeys/s  ratio",
        "  kernel        0      0",
        "  kernel        1      1",
        "  kernel        2      2",
        "",
    ]


def test_off_a_terminal_a_row_is_a_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    output.emit_table(HEAD, ROWS, {"found": lambda _: "red"})
    output.emit_text(" ".join(["text"] * 50), 2)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 5 and out[2] == f"generic{'-':>58}       17        -"
    assert out[0] == "target   found                                                     Mkeys/s  ratio"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb"), ("", "")])
def test_colours(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if name:
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    output.emit_table(["target", "failures"], [["cpu", "0"], ["generic", "3"]], {"failures": output.fault})
    assert ("\x1b" in terminal.getvalue()) == (not name)
    assert name or ("\x1b[32m" in terminal.getvalue() and "\x1b[1;31m" in terminal.getvalue())


def test_a_table_without_rows_has_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROWS", [])
    assert printed(80, monkeypatch) == ["target  found  Mkeys/s  ratio", ""]


def test_texts_are_not_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROWS", [["[red]cpu[/]", ":smile:", "1", "\x1b[31m"]])
    assert "[red]cpu[/]  :smile:" in printed(80, monkeypatch)[1] and "\\x1b[31m" in printed(80, monkeypatch)[1]
