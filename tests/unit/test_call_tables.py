"""The tables of calls of all operations, and calls of the Python APIs that follow from a table."""

from __future__ import annotations

from dataclasses import fields

import pytest

from hsgen import operations
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options
from hsgen.core.plan import ROLES
from hsgen.operations.base import Operation
from hsgen.runners.named import NamedCalls

EVERY = [pytest.param(operation, id=name) for name, operation in operations.EVERY.items()]


@pytest.mark.parametrize("operation", EVERY)
def test_names_of_arguments_are_distinct_in_each_language(operation: Operation) -> None:
    table = operation.arguments
    passed, numbers = list(table.passed), list(table.numbers)
    for names in (
        [m.name for m in table.members],
        [b.in_python for b in passed if not b.columns] + [m.python or m.field for m in numbers if m.field],
        [b.in_javascript for b in passed] + [m.javascript for m in numbers if m.javascript],
    ):
        assert len(names) == len(set(names)) and all(names)


@pytest.mark.parametrize("operation", EVERY)
def test_roles_and_fields_exist(operation: Operation) -> None:
    table = operation.arguments
    roles = [b.role for b in table.buffers if not b.columns]
    assert len(roles) == len(set(roles)) and set(roles) <= set(ROLES)
    assert {m.field for m in table.numbers if m.field} <= {f.name for f in fields(Options)}
    assert all(b.comment for b in table.passed if b.in_javascript != "report")


@pytest.mark.parametrize("operation", EVERY)
def test_a_call_in_place_omits_its_destination(operation: Operation) -> None:
    (*destination,) = (b for b in operation.arguments.buffers if b.role == "destination")
    assert operation.arguments.in_place == any(b.optional for b in destination)


def test_an_unknown_operation_is_refused_with_all_names() -> None:
    with pytest.raises(Usage, match=r"^operation sorting: unknown; give digest, gather, .*, top_k$"):
        NamedCalls("sorting", "u32", None, "ascending")


def test_an_operation_whose_algorithms_need_tables_is_refused() -> None:
    with pytest.raises(Usage, match=r"^operation scan: every algorithm needs a table of a target; use the class"):
        NamedCalls("scan", "u32", None, "ascending")


def test_arguments_of_a_named_call_have_the_order_of_roles() -> None:
    calls = NamedCalls("top_k", "f32", "index", "descending")
    calls.max_n = 100
    keys, out = object(), object()
    arrays, numbers = calls.arguments(50, {"k": 3, "out": out, "keys": keys, "rows": 2})
    assert dict(zip(calls.roles, arrays, strict=True))["destination"] is out and arrays[0] is keys
    assert numbers == (50, (("take", 3), ("segment_count", 2)))
    with pytest.raises(TypeError, match=r"^shift: top_k has no such argument$"):
        calls.arguments(None, {"keys": keys, "shift": 1})
