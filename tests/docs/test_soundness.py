"""SOUNDNESS.md: every row of evidence leads to a test, a proof or a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "SOUNDNESS.md"
LINK = re.compile(r"\[[^\]]+\]\(([^)#]+)[^)]*\)")
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = [line for line in TEXT.partition("\n## ")[2].splitlines() if re.match(r"\| (?!promise|assumption)", line)]
"""The rows of the tables of evidence, without heads."""


def unsupported(row: str) -> list[str]:
    """Return the cells of evidence of a row that neither say "no" nor link an existing file."""
    cells = [cell.strip() for cell in row.strip("|").split(" | ")][1:]
    wrong = [c for c in cells if not re.match("no\\b", c) and not LINK.search(c)]
    wrong += [link for c in cells for link in LINK.findall(c) if not (ROOT / link).exists()]
    return wrong + ([row] if all(re.match("no\\b", c) and not LINK.search(c) for c in cells) else [])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:42])
def test_a_row_leads_to_its_evidence(row: str) -> None:
    assert unsupported(row) == []


@pytest.mark.parametrize(
    "row",
    ["| a promise | no | sampled |", "| a promise | no | no |", "| a promise | no | [gone](tests/unit/gone.py) |"],
)
def test_a_row_without_evidence_is_noticed(row: str) -> None:
    assert unsupported(row)


def test_the_page_has_all_tables_and_is_linked() -> None:
    assert len(ROWS) >= 30 and TEXT.count("\n## ") == 3
    for page in ("README.md", "docs/README.md"):
        assert "SOUNDNESS.md)" in (ROOT / page).read_text(encoding="utf-8")


def test_the_number_of_mutants_is_that_of_the_list() -> None:
    lines = (ROOT / "proofs/smt/merge_path_lines.py").read_text(encoding="utf-8")
    count = len(re.findall(r"^    Mutant\(", lines, re.M))
    assert f"refute {count} faults" in TEXT
    assert f"has {count} faults" in (ROOT / "docs/internals/correctness.md").read_text(encoding="utf-8")


def test_the_number_of_faults_of_the_c_runtime_is_that_of_the_list() -> None:
    cases = (ROOT / "proofs/cbmc/cases.py").read_text(encoding="utf-8")
    count = len(re.findall(r"^    Mutant\(", cases, re.M))
    assert f"CBMC must refute {count} faults" in TEXT
    assert f"CBMC refuses {count} faults" in (ROOT / "docs/internals/correctness.md").read_text(encoding="utf-8")
