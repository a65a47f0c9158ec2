"""The tables of tests that the fast and the nightly run thin name existing tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from fast import FAST
from night import NIGHT

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("table", "module"),
    [(table, module) for table in (FAST, NIGHT) for module in table],
    ids=[*FAST, *(f"{m}-night" for m in NIGHT)],
)
def test_names_are_those_of_tests(table: dict[str, dict[str, int]], module: str) -> None:
    tree = ast.parse((TESTS / module).read_text(encoding="utf-8"))
    there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert set(table[module]) <= there
    assert all(number >= 0 for number in table[module].values())
