"""The scratch of every sort that comes with hsgen: a second buffer for keys and values, 3 % more, and half a MiB."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

from hsgen.algorithms.radix.onesweep import Onesweep
from hsgen.algorithms.radix.words import Words, words
from hsgen.core.errors import Usage
from hsgen.core.interpreter import scratch_bytes
from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.core.scratch import scratch_limit
from hsgen.core.sort import Sort
from hsgen.targets import choices, target

FEATURES = ({}, {"bit_range": True}, {"device_count": True}, {"run_boundaries": True})
COUNTS = sorted({n for b in range(31) for n in (1 << b, (1 << b) - 1, (1 << b) + 1, 3 << b >> 1) if 0 < n <= 1 << 30})
CUB = json.loads((Path(__file__).parents[1] / "data/cub_scratch.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=target.names())
def sorts(request: pytest.FixtureRequest) -> list[Sort]:
    """The sorts of a target for any count, of every key width, value kind and feature that it serves."""
    found, out = target.find(request.param), []
    for key in KEYS:
        for value in VALUES:
            for features in FEATURES:
                with suppress(Usage):
                    out.append(found.default(key, Signature(value=value, **features)))
    return out


def counts(sort: Sort) -> list[int]:
    """Powers of two and their neighbours, and where the sort changes its way."""
    ends = {n for rule in sort.plan.scratch.rules for n in (rule.min_n, rule.min_n + 1, rule.max_n)}
    return [n for n in sorted({*COUNTS, *ends}) if 0 < n <= min(sort.plan.max_n, 1 << 30)]


def test_scratch_is_little_more_than_a_second_buffer(sorts: list[Sort]) -> None:
    found = 0
    for sort in sorts:
        item, least = sort.key.bytes + sort.signature.value_bytes, 0
        for n in counts(sort):
            need = scratch_bytes(sort, n)
            assert need <= scratch_limit(n, item), (sort.name, sort.signature, n)
            assert need >= least, (sort.name, n, "scratch for more keys must suffice for fewer")
            least, found = need, found + 1
    assert found > 1000


@pytest.mark.parametrize("name", ["nvidia-hopper", "nvidia-sm90", "nvidia-vulkan", "nvidia-sm35"])
@pytest.mark.parametrize(("key", "value"), [("u32", "none"), ("u64", "none"), ("u32", "v4"), ("u64", "v4")])
def test_scratch_is_not_more_than_that_of_cub(name: str, key: str, value: str) -> None:
    """As CUB's radix sorts report it on an H200, out of place."""
    sort = target.find(name).default(key, Signature(value=value))
    rows = CUB["bytes"][f"{key} {value}"]
    assert len(rows) >= 25
    for n, need in ((int(n), need) for n, need in rows.items()):
        assert scratch_bytes(sort, n) <= 1.02 * need + (256 << 10), (n, need)


@pytest.mark.parametrize("name", ["generic", "intel-gen8", "swiftshader"])
def test_merge_sorts_in_place_take_none(name: str) -> None:
    for key in ("u32", "u64"):
        sort = target.find(name).sort("bitonic", key)
        assert sort.plan.scratch.rules == ()


def test_a_sort_alone_of_merged_values_takes_their_copies_too() -> None:
    """What the limit is not for: an algorithm that was asked for by name."""
    sort = target.find("generic").sort("bitonic", "u32", Signature(value="v4"))
    assert scratch_bytes(sort, 1 << 24) > scratch_limit(1 << 24, 8)


def test_kernels_of_one_sort_agree_on_the_layout_of_scratch(sorts: list[Sort]) -> None:
    """Some have other tiles, such as those for crowded buckets."""
    several = 0
    for sort in sorts:
        of: dict[str, set[Words]] = {}
        for kernel in sort.kernels:
            if kernel.name.startswith("pair_bucket_rest"):
                continue  # it finds its words by the layout of pairs alone
            if isinstance(kernel.params, Onesweep) and not kernel.index64:
                of.setdefault(kernel.params.STRATEGY, set()).add(words(kernel.params))
        assert all(len(layouts) == 1 for layouts in of.values()), sort.name
        several += len({p.tile for k in sort.kernels if isinstance(p := k.params, Onesweep)}) > 1
    assert several > 10 or sorts[0].target != "nvidia-hopper"


def test_rows_end_at_one_key_where_no_count_fits_the_limit(unkept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sort whose tables alone exceed the limit, at the first place of a target without `ranges_values`."""
    monkeypatch.setattr(choices, "scratch_limit", lambda n, item: 0)
    found = target.find("generic").autos_valued["u32"]
    assert [top for _, top in found[:-1]] == [1]
