"""The tables of tests that the fast and the nightly run thin name existing tests."""

from __future__ import annotations

import ast
from pathlib import Path

from fast import FAST
from night import NIGHT

TESTS = Path(__file__).resolve().parents[1]


def test_names_are_those_of_tests() -> None:
    for table, least in ((FAST, 50), (NIGHT, 20)):
        assert len(table) > least
        for module, numbers in table.items():
            tree = ast.parse((TESTS / module).read_text(encoding="utf-8"))
            there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert set(numbers) <= there, module
            assert all(number >= 0 for number in numbers.values()), module
