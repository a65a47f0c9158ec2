"""Cooperative radix sorts without a device: the plan, the numpy model, and refused tables.

- The model sorts keys and values, in and out of place, with every signature, at counts around every change of grid and
  rows.
- Launching fewer work-groups, or for more keys than they hold, is noticed.
- Scratch holds the launch's bindings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models.radix.model import Fault, run
from models.radix.shapes import made, table
from nightly import thinned
from sorts import ROOMY, radix_params, sort_by
from steps import changed

from hsgen.algorithms import radix
from hsgen.algorithms.radix import cooperative, floats
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, launches, offset, options
from hsgen.core.keys import KEYS, TYPES, Signature
from hsgen.core.plan import Literal
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.targets import target
from hsgen.tools.validate.cases import around

DEVICE = replace(ROOMY, subgroups=(1, 8), work_group=1024, local_bytes=1 << 16, cooperative=True)


def shape(key: str = "u32", **values: Any) -> radix.Params:
    """Return a shape of 8 lanes with 4 keys, in up to 5 work-groups of 2 keys a lane or more: up to 160 keys."""
    small = {"bits": 8, "items": 4, "work_group": 8, "subgroup": 8, "groups": 5, "least": 2, "single": 20}
    return made(key, {"ranker": "match_ballot", "coordination": "grid", **small, **values})


def sort_of(p: radix.Params) -> Sort:
    """Return the sort of a shape alone."""
    return sort_by("radix", p, p.signature)


def keys_of(rng: np.random.Generator, n: int, key: str) -> list[np.ndarray[Any, Any]]:
    """Random keys, few distinct ones, and some with constant digits: all, the first, the last."""
    dtype = np.dtype(f"u{KEYS[key].bytes}")
    top = int(np.iinfo(dtype).max)
    keys = rng.integers(0, top, n, dtype, endpoint=True)
    return [keys & dtype.type(mask) for mask in (top, 3, 0, top & ~0x3FF, top >> 9)]


WAYS = [Options(), Options(kind=2, descending=True, begin=3, end=20), Options(begin=8, end=16), Options(begin=5, end=5)]
"""Options of supported calls; as many passes as digits, odd numbers of them, and an empty bit range."""


CASES = [
    (*x, value) for x in [("u32", 8), ("u32", 5), ("u64", 11), ("u16", 3)] for value in ("none", "v4", "v16", "index")
]


def check(p: Any, sort: Sort, keys: Any, how: Options, rng: np.random.Generator) -> None:
    """Check that the model sorts keys and values, in place and out of place."""
    n = len(keys)
    values, order = oracle.values_for(rng, n, sort), oracle.permutation(keys, sort, how)
    for in_place in (False, True):
        out = run(p, sort.plan, keys, values, in_place=in_place, how=how)
        assert np.array_equal(out.keys, keys[order]), (n, how, in_place)
        expected = oracle.values_expected(values, order, sort)
        assert expected is None or np.array_equal(out.values, expected), (n, how, in_place)


@pytest.mark.parametrize(("key", "bits", "value"), thinned(CASES, 3))
def test_the_model_sorts(key: str, bits: int, value: str) -> None:
    p = shape(key, bits=bits, signature=Signature(value=value, key_transform=True, bit_range=True))
    assert radix.problems(p, DEVICE) == []
    sort, rng = sort_of(p), np.random.default_rng(1)
    for n in sorted(around([0, 20, 32, 64, 80, 81, 120, 160], 160)):
        for keys in keys_of(rng, n, key):
            for how in (w if w.end is None or w.end <= p.key.bits else Options() for w in WAYS):
                check(p, sort, keys, how, rng)


@pytest.mark.parametrize("value", ["none", "v4", "v16", "index"])
def test_the_model_deals_keys_out(value: str) -> None:
    """Even keys are partitioned, uneven ones sorted by all digits; both also where a sample must find out."""
    p = shape(items=20, bins=64, signature=Signature(value=value, key_transform=True))
    assert p.partitioned and radix.problems(p, DEVICE) == []
    sort, rng = sort_of(p), np.random.default_rng(4)
    for n in (1, 21, 60, 160, 500, 800):
        for keys in keys_of(rng, n, "u32"):
            for how in (Options(), Options(kind=1, descending=True)):
                check(p, sort, keys, how, rng)


@pytest.mark.parametrize("value", ["none", "v4", "index"])
@pytest.mark.parametrize(("key", "name"), [("u32", "f32"), ("u64", "f64")])
def test_the_model_deals_uneven_keys_out_by_a_sample(key: str, name: str, value: str) -> None:
    """Normal floats go to one work-group each, and to no pass."""
    p = shape(key, items=40, bins=256, quantiles=True, signature=Signature(value=value, key_transform=True))
    assert p.quantiles and radix.problems(p, DEVICE) == []
    sort, rng = sort_of(p), np.random.default_rng(7)
    for n in (21, 100, 300, 700, 1000, 1600):
        keys = rng.standard_normal(n).astype(TYPES[name].numpy).view(f"u{p.key.bytes}")
        for some in (keys, *keys_of(rng, n, key)):
            for how in (options(name), options(name, "descending")):
                check(p, sort, some, how, rng)


def test_a_sample_needs_places_for_all_digits() -> None:
    assert cooperative.uneven(shape(items=40, bins=256)).quantiles
    assert not cooperative.uneven(shape(items=40, bins=128)).quantiles  # fewer places than digits
    assert not cooperative.uneven(shape(items=20, bins=256)).quantiles  # more than a tile
    assert not cooperative.uneven(shape(items=40)).quantiles
    sort = sort_of(shape(items=34, bins=256, signature=Signature(value="index")))
    room = max(k.local_bytes(sort.key) for k in sort.kernels)
    assert floats.uneven(sort, room) == sort  # the curve takes more local memory
    changed = floats.uneven(sort, room + 4 * 257)
    assert [k.name for k in changed.kernels] == [k.name for k in sort.kernels] and changed.plan == sort.plan
    assert changed.parts[0].params == cooperative.uneven(radix_params(sort))
    larger = shape(items=40, bins=256, signature=Signature(value="index"))
    assert cooperative.uneven(larger).items == 34 and floats.uneven(sort_of(larger), 1 << 20) == sort_of(larger)
    other = sort_by("radix", made("u32", {"bits": 8, "items": 4, "work_group": 8, "groups": 4, "ranker": "bitmask"}))
    assert floats.uneven(other, 1 << 20) == other and floats.raw(other) is None


def test_a_count_on_the_device_takes_part_of_the_grid() -> None:
    p = shape(signature=Signature(value="v4", device_count=True))
    sort, rng = sort_of(replace(p, signature=Signature(value="v4"))), np.random.default_rng(2)
    keys = rng.integers(0, 1 << 32, 160, np.uint32)
    values = np.arange(160, dtype=np.uint32).reshape(160, 1)
    for count in (0, 1, 21, 33, 100, 160):
        plan = radix.plan(p)
        out = run(p, plan, keys, values, how=Options(device_count=True), count=count)
        order = oracle.permutation(keys[:count], sort, Options())
        assert np.array_equal(out.keys[:count], keys[order]) and out.values is not None
        assert np.array_equal(out.values[:count], values[order])


def test_the_plan_has_one_row_after_the_single_one() -> None:
    p = shape()
    plan = radix.plan(p)
    assert [(s.kernel, s.guard.min_n, s.guard.max_n) for s in plan.steps] == [("single", 0, 20), ("grid", 20, 160)]
    assert [x.groups for n in (21, 32, 33, 64, 65, 160) for x in launches(plan, n, in_place=True)] == [2, 2, 3, 4, 5, 5]
    assert {k.name: k.cooperative for k in radix.kernels(p)} == {"single": False, "grid": True}
    assert [s.kernel for s in radix.plan(shape(single=0)).steps] == ["grid"]
    assert {20, 32, 80, 81, 120, 160} <= set(around(radix.test_counts(p, 160), 160))


@pytest.mark.parametrize("value", ["none", "v8", "index64"])
def test_scratch_holds_the_counts_and_the_values(value: str) -> None:
    for key in ("u32", "u64"):
        p = shape(key, groups=300, bits=7, signature=Signature(value=value))
        plan = radix.plan(p)
        assert plan.scratch.bytes(20) == 0
        for n in (21, 1000, plan.max_n):
            (launch,) = launches(plan, n, in_place=False)
            kernel = radix.kernels(p)[1]
            at = {b.name: offset(w, n) for b, w in zip(kernel.buffers, launch.step.bindings, strict=True)}
            counts = 2 * 4 * p.radix * p.groups
            assert at["words"] + counts <= at.get("values_tmp", plan.scratch.bytes(n))
            assert "values_tmp" not in at or at["values_tmp"] + n * p.signature.value_bytes <= plan.scratch.bytes(n)


@pytest.mark.parametrize(
    "change", [{"cap": 4}, {"add": 0}, {"max_n": 161}, {"argument": Literal()}], ids=["cap", "add", "max_n", "argument"]
)
def test_a_wrong_row_is_noticed(change: dict[str, Any]) -> None:
    p = shape(signature=Signature(bit_range=True))
    plan = radix.plan(p)
    single, row = plan.steps
    wrong = replace(plan, steps=(single, changed(row, **change)), max_n=161)
    noticed = False
    for n in (41, 150, 161):
        keys = np.arange(n, dtype=np.uint32)[::-1].copy()
        try:
            noticed = noticed or not np.array_equal(run(p, wrong, keys).keys, np.sort(keys))
        except Fault:
            noticed = True
    assert noticed


MISTAKES = [
    ({}, {"cooperative": False}, "", "device.cooperative = true"),
    ({"ranker": "bitmask", "subgroup": 1}, {}, "ranker", "the ranker bitmask cannot"),
    ({"least": 5}, {}, "least", "a lane holds 4 keys"),
    ({"large": True}, {}, "large", "is no key of the strategy cooperative"),
    ({"coordination": "scan"}, {}, "least", "is no key of the strategy reduce_scan"),
]


@pytest.mark.parametrize(("values", "device", "key", "what"), MISTAKES)
def test_a_mistake_is_named_once(values: dict[str, Any], device: dict[str, Any], key: str, what: str) -> None:
    here = replace(DEVICE, **device)
    own = table({"ranker": "match_ballot", "coordination": "grid", "least": 2, **values})
    ((found, said, _),) = [*radix.problems(shape(**values), here), *radix.alone(own, here)]
    assert found == key and what in said


TEXT = """schema = 3
name = "one"
summary = "one launch"
apis = [%s]

[device]
subgroups = [32]
shuffle = true
work_group = 1024
groups = 2147483647
local_bytes = 49152
int64 = true
storage8 = true
storage16 = true
binding_bytes = 4294967295
progress = "started"
cooperative = true

[radix.u32.reduce_scan]
bits = 8
items = 8
work_group = 256
subgroup = 32
ranker = "match_ballot"
groups = 64

[radix.u32.grid.cooperative]
bits = 8
items = 16
work_group = 256
subgroup = 32
ranker = "match_ballot"
groups = 64
least = 4

[sort.u32]
ranges = [
    { to = %d, use = "radix-grid-cooperative" },
    { use = "radix-reduce_scan" },
]
"""


def test_targets_of_cuda_alone_have_it_up_to_what_it_holds() -> None:
    assert target.parse(TEXT % ('"cuda"', 262144), "one", "one.toml").autos["u32"][0] == ("radix-grid", 262144)
    with pytest.raises(Usage) as e:
        target.parse(TEXT % ('"cuda"', 262145), "one", "one.toml")
    assert e.value.lines == ("one.toml: sort.u32.ranges: radix sorts up to 262144 keys; give no crossover beyond it",)
    with pytest.raises(Usage) as e:
        target.parse(TEXT % ('"cuda", "vulkan"', 262144), "one", "one.toml")
    where, what = "radix.u32.grid.cooperative", "only CUDA launches grids whose work-groups wait for each other"
    assert e.value.lines == (f'one.toml: {where}: {what}; give apis = ["cuda"]',)
