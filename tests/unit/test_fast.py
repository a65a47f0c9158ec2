"""The table of thinned tests names existing tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from fast import FAST

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("module", FAST)
def test_names_are_those_of_tests(module: str) -> None:
    tree = ast.parse((TESTS / module).read_text(encoding="utf-8"))
    there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert set(FAST[module]) <= there
    assert all(number >= 0 for number in FAST[module].values())
