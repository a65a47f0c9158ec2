"""Shapes drawn from the search spaces of algorithms that need no table, and at their bounds: all results are right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import every
import numpy as np
import pytest

from hsgen.algorithms import OPTIONAL, operation
from hsgen.core.records import changed
from hsgen.engines.hosts import Host
from hsgen.targets import target
from hsgen.targets.optional import replaced
from hsgen.tools.tune.checking import cases
from hsgen.tools.tune.detected import limited
from hsgen.tools.tune.propose import Space
from hsgen.tools.tune.request import derived
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device

KEYS = {"radix_select": ["u32", "u64", "u8"], "reduce_by_key": ["u32", "u64", "u16"], "gather": ["u32"]}
EDGES: list[tuple[str, dict[str, Any]]] = [
    ("radix_select", {"work_group": 1, "items": 2, "capacity": 4, "bits": 4, "groups": 1}),
    ("radix_select", {"work_group": 64, "items": 1023, "capacity": 128, "bits": 13, "row_limit": 16384}),
    ("radix_select", {"work_group": 32, "capacity": 128, "items": 1, "bin_sort": True}),
    ("radix_select", {"chunk.lanes": 1, "chunk.items": 32, "chunk.take": 1, "short.items": 1, "short.rows": 1}),
    ("radix_select", {"chunk.lanes": 256, "chunk.items": 3, "chunk.take": 128, "short.items": 16}),
    ("reduce_by_key", {"work_group": 1, "items": 1, "groups": 1}),
    ("reduce_by_key", {"work_group": 16, "items": 31, "groups": 3}),
    ("gather", {"work_group": 7, "tile": 1}),
    ("pack", {"work_group": 7, "tile": 5}),
]
CASES = [
    ("cpu", label, key, seed) for seed in range(4) for label in OPTIONAL for key in KEYS.get(label, ["u32", "u64"])
]
CASES += [("generic", label, key, seed) for seed in range(4) for label in OPTIONAL for key in ["u32"]]


def right(host: Host, name: str, label: str, key: str, table: dict[str, Any], count: int = 60) -> None:
    """Validate a table of a target on the embedded device."""
    found = target.find(name)
    found = replace(found, **replaced(found.choices, {}, label, key, table))
    sort = found.sort(label, key, operation(label).tuned)
    report = validation.run(every.direct(host, sort), cases(sort, 3, count), 3, stop=1)
    assert report.cases >= count and report.failures == [], table


@pytest.mark.parametrize(("name", "label", "key", "seed"), CASES)
def test_drawn_shapes_are_right(embedded: Host, name: str, label: str, key: str, seed: int) -> None:
    """`generic` has tiles in local memory, and lanes that move values of items together."""
    found = target.find(name)
    base = derived(found, label, key)
    space = Space(label, key, limited(found.device, embedded), {}, 1 << 22, base)
    table = space.draw(seed % len(space.boxes), np.random.default_rng([seed, *label.encode(), *key.encode()]))
    assert table
    right(embedded, name, label, key, table)


@pytest.mark.parametrize(("label", "table"), EDGES, ids=[f"{label}-{i}" for i, (label, _) in enumerate(EDGES)])
def test_shapes_at_their_bounds_are_right(embedded: Host, label: str, table: dict[str, Any]) -> None:
    found = target.find("cpu")
    assert OPTIONAL[label].problems(changed(derived(found, label, "u32"), table), found.device) == []
    right(embedded, "cpu", label, "u32", table)
