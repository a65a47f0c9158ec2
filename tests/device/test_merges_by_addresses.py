"""Merges by addresses enqueue the launches of `Merger`, and keep their descriptions when lengths change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_cuda import Array, Fake, Launched

from hsgen.core.errors import Usage
from hsgen.core.keys import VALUES
from hsgen.cuda import Merger
from hsgen.cuda.merges import Merges

KINDS = [("i32", None, "ascending"), ("f64", 8, "descending"), ("u8", 4, "ascending"), ("u64", 16, "ascending")]
LENGTHS = [(1, 1), (5, 3000), (7000, 1), (4096, 4096), (12345, 6789), (3, 2_000_000), (9, 2), (1_000_001, 2_000_003)]


def arrays_of(fake: Fake, merger: Merger, first: int, second: int) -> dict[str, Array]:
    """Return the arrays of a merge by their roles."""
    lengths = {"source": first, "other": second, "destination": first + second}
    arrays = {role: Array(fake, np.zeros(n, merger.dtype)) for role, n in lengths.items()}
    if item := VALUES[merger.value]:
        for role, n in zip(("values", "other_values", "values_out"), lengths.values(), strict=True):
            arrays[role] = Array(fake, np.zeros(n, "c16" if item == 16 else f"u{item}"))
    return arrays


def launched(fake: Fake, scratch: int) -> list[tuple[Any, ...]]:
    """Return the facts of all launches since the last call; offsets in scratch memory replace its addresses."""
    rows = [without_base(x, scratch) for x in fake.launched]
    fake.launched.clear()
    return rows


def without_base(x: Launched, scratch: int) -> tuple[Any, ...]:
    """Return the facts of a launch."""
    pointers = [p - scratch if scratch <= p < scratch + (1 << 32) else p for p in x.pointers]
    return x.kernel, x.grid, x.threads, x.shared, x.stream, pointers, x.scalars, x.cooperative


@pytest.mark.parametrize(("key", "value", "order"), KINDS)
@pytest.mark.parametrize("version", [13000, 12000])  # the older driver captures no early launches
def test_launches_are_those_of_a_merger(
    embedded: Any, monkeypatch: pytest.MonkeyPatch, key: str, value: int | None, order: str, version: int
) -> None:
    fake = Fake(embedded, version=version, runs=False).install(monkeypatch)
    merger, merges = Merger(key, value=value, order=order), Merges(key, value=value, order=order)
    kinds = set()
    for first, second in LENGTHS:
        arrays = arrays_of(fake, merger, first, second)
        moved = {role: x for role, x in arrays.items() if role not in ("source", "other", "destination")}
        named = {{"values": "a_values", "other_values": "b_values"}.get(role, role): x for role, x in moved.items()}
        merger(arrays["source"], arrays["other"], arrays["destination"], **named)
        expected = launched(fake, max(x for launch in fake.launched for x in launch.pointers))
        scratch = fake.allocate(merges.scratch_bytes(first + second))
        addresses = {role: x.address for role, x in arrays.items()} | {"scratch": scratch}
        merges.enqueue(addresses, first, second, 0)
        assert launched(fake, scratch) == expected
        kinds.add(tuple(row[0] for row in expected))
    assert len(merges._kept) == len(kinds)  # new lengths use the descriptions of earlier launches


def test_too_many_keys_are_one_line(embedded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Fake(embedded, runs=False).install(monkeypatch)
    merges = Merges("u32")
    with pytest.raises(Usage, match=r"^count \d+: this plan sorts 0 to \d+ keys$"):
        merges.enqueue({}, merges.max_n, 1, 0)
