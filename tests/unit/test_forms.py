"""Guarantees of sorts in every signature, for any algorithm: bits, types, scratch, device-side counts, targets' shapes.

- Digits cover every bit range exactly; keys of every type are sorted in numpy's order.
- Parts of scratch never overlap and lie within it, for every target, signature and count.
- With a device-side count, the table of grids equals the interpreter's for each real count, and every step that a real
  count needs is launched for the capacity.
- A bit range is sorted by the radix sorts of "auto", for any count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import nightly_except
from scratch_parts import FORMS, layout, part_of, parts_of_scratch, shipped
from shipped import sampled
from steps import changed

from hsgen.algorithms import ALGORITHMS, bitonic
from hsgen.core.errors import Usage
from hsgen.core.flags import DESCENDING, DEVICE_COUNT, DIRECT, DISCARD, FLOAT, SIGNED
from hsgen.core.interpreter import (
    Options,
    argument,
    bit_range,
    digit,
    groups,
    launches,
    options,
    passes,
    scratch_bytes,
    spare_at,
)
from hsgen.core.keys import KEYS, ORDERS, TYPES, Signature
from hsgen.core.plan import BitRange, Grid, Guard, Pass, PassCount, Plan, Step, fixed
from hsgen.core.scratch import Scratch
from hsgen.core.sort import Part, Sort
from hsgen.operations import oracle
from hsgen.targets import assembly, target
from hsgen.tools.validate.cases import around

FAST = ("apple-m1", "cpu", "generic", "nvidia-hopper", "swiftshader")
"""Targets whose sorts the fast run checks in every signature."""

SAMPLED = nightly_except(sampled(), FAST)


@given(st.integers(0, 64), st.integers(0, 64), st.integers(1, 11))
def test_digits_cover_a_range_exactly(begin: int, length: int, bits: int) -> None:
    end = min(64, begin + length)
    count = passes(begin, end, bits)
    found = [digit(begin, end, bits, number) for number in range(count)]
    assert [shift for shift, _ in found] == [begin + sum(w for _, w in found[:i]) for i in range(count)]
    assert sum(width for _, width in found) == end - begin
    widths = [width for _, width in found]
    assert max(widths) <= bits and max(widths) - min(widths) <= 1 and widths == sorted(widths, reverse=True)
    assert count == max(1, -(-(end - begin) // bits))  # no empty digit, except for an empty range
    assert passes(begin, end, bits) <= passes(0, 64, bits)


STEP = Step(kernel="k", bindings=(), guard=Guard(max_n=100), grid=Grid(cap=9), argument=Pass(number=0, bits=8))
EVERY, LAST = BitRange(), PassCount(bits=8)
PLAN = Plan(steps=(STEP,), max_n=100, first_bit=32, bits=32)


def test_arguments_of_single_passes_and_of_all() -> None:
    given_ = [argument(PLAN, changed(STEP, number=q), Options(), in_place=False) for q in range(5)]
    assert given_ == [q | (32 + 8 * q) << 8 | 8 << 16 for q in range(4)] + [None]
    part = Options(begin=3, end=20)
    given_ = [argument(PLAN, changed(STEP, number=q), part, in_place=False) for q in range(4)]
    assert given_ == [0 | 35 << 8 | 6 << 16, 1 | 41 << 8 | 6 << 16, 2 | 47 << 8 | 5 << 16, None]
    assert argument(PLAN, changed(STEP, argument=EVERY), part, in_place=False) == 52 | 35 << 8
    assert argument(PLAN, changed(STEP, argument=LAST), part, in_place=False) == 3
    assert argument(PLAN, changed(STEP, argument=LAST), Options(begin=5, end=5), in_place=False) == 1
    assert argument(PLAN, changed(STEP, number=0), Options(begin=5, end=5), in_place=False) == 37 << 8


def test_only_an_odd_number_of_passes_before_the_end_is_direct_and_only_out_of_place() -> None:
    for count in range(1, 5):
        for q in range(count):
            step, how = changed(STEP, number=q, flags=DIRECT), Options(end=8 * count)
            out, inside = (argument(PLAN, step, how, in_place=place) for place in (False, True))
            assert out is not None and inside is not None and not inside & DIRECT
            assert bool(out & DIRECT) == ((count - q) % 2 == 1)
    every = changed(STEP, argument=BitRange(flags=DIRECT))
    for in_place in (False, True):
        found = argument(PLAN, every, Options(), in_place=in_place)
        assert found is not None and bool(found & DIRECT) == (not in_place)


def test_flags_of_types_orders_counts_and_unwanted_keys() -> None:
    expected = {"u32": 0, "i32": SIGNED, "f32": SIGNED | FLOAT}
    for key, flags in expected.items():
        for order, more in zip(ORDERS, (0, DESCENDING), strict=True):
            for given_ in (STEP.argument, EVERY, LAST):
                how = options(key, order)
                found = argument(PLAN, changed(STEP, argument=given_), how, in_place=True)
                plain = argument(PLAN, changed(STEP, argument=given_), Options(), in_place=True)
                assert found is not None and plain is not None and found == plain | flags | more
    how = Options(discard=True, device_count=True)
    for given_ in (*(Pass(number=q, bits=8) for q in range(4)), EVERY, LAST):
        found = argument(PLAN, changed(STEP, argument=given_), how, in_place=False)
        assert found is not None and found & DEVICE_COUNT
        assert bool(found & DISCARD) == (not isinstance(given_, Pass) or given_.number == 3)


@pytest.mark.parametrize(("begin", "end"), [(-1, 3), (5, 4), (0, 33), (33, 33)])
def test_bit_ranges_that_keys_do_not_have_are_refused(begin: int, end: int) -> None:
    with pytest.raises(Usage, match=f"bits {begin} to {end}: give a range in order, within 0 to 32"):
        bit_range(PLAN, Options(begin=begin, end=end))
    with pytest.raises(Usage):
        list(launches(PLAN, 0, in_place=True, how=Options(begin=begin, end=end)))


def sample(name: str, n: int) -> np.ndarray:
    """Return keys of a numpy type, including the least, the greatest, zeros of both signs and infinities."""
    if name == "bf16":
        return (bits_of(sample("f32", n)) >> 16).astype(np.uint16)
    t, rng = TYPES[name], np.random.default_rng(n)
    dtype = np.dtype(t.numpy)
    greatest = 1 if t.name == "bool" else KEYS[t.key].greatest
    keys = rng.integers(0, greatest, n, np.dtype(f"u{dtype.itemsize}"), endpoint=True).view(dtype)
    if t.kind == 2:
        keys = keys[~np.isnan(keys)]
        more = [0.0, -0.0, np.inf, -np.inf, np.finfo(dtype).tiny / 2, -np.finfo(dtype).max]
    else:
        more = [0, 1] if t.name == "bool" else [0, 1, np.iinfo(dtype).max, np.iinfo(dtype).min]
    return np.concatenate([keys, np.array(more, dtype), keys[:50]])


def bits_of(keys: np.ndarray) -> np.ndarray:
    return keys.view(np.dtype(f"u{keys.dtype.itemsize}"))


def numbers(keys: np.ndarray, name: str) -> np.ndarray:
    """Return keys as what numpy compares: bfloat16 as the upper halves of 32-bit floats."""
    return (keys.astype(np.uint32) << 16).view(np.float32) if name == "bf16" else keys


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", TYPES)
def test_keys_of_every_type_are_in_numpys_order(name: str, order: str) -> None:
    """Numbers ascend or descend, and zeros: -0 before +0, or after it."""
    keys = sample(name, 3000)
    by = oracle.ordered(bits_of(keys), TYPES[name].kind, descending=order == "descending")
    made = numbers(keys[np.argsort(by, kind="stable")], name)
    right = np.sort(numbers(keys, name))
    assert (made == (right if order == "ascending" else right[::-1])).all()
    assert len(np.unique(by)) == len(np.unique(bits_of(keys)))
    if TYPES[name].kind == 2:
        zeros = np.signbit(made[made == 0])
        assert (zeros == sorted(zeros, reverse=order == "ascending")).all() and len(set(zeros.tolist())) == 2


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_floats_that_are_no_numbers_lie_outside_by_their_bits(name: str) -> None:
    dtype = np.dtype(TYPES[name].numpy)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    mantissa, sign = 7 if name == "bf16" else np.finfo(dtype).nmant, 8 * dtype.itemsize - 1
    infinity = ((1 << (sign - mantissa)) - 1) << mantissa
    ascending = [1 << sign | infinity | (1 << mantissa) - 1, 1 << sign | infinity | 1, 1 << sign | infinity, 1 << sign]
    ascending += [0, infinity, infinity | 1, infinity | 1 << (mantissa - 1), infinity | (1 << mantissa) - 1]
    keys = np.array(ascending, unsigned)
    assert np.isnan(numbers(keys.view(dtype), name)).tolist() == [
        True,
        True,
        False,
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    assert (np.diff(np.argsort(oracle.ordered(keys, 2, descending=False))) == 1).all()
    assert (np.diff(np.argsort(oracle.ordered(keys, 2, descending=True))) == -1).all()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", TYPES)
def test_the_kernels_rule_turns_keys_as_the_oracle_does_and_back(name: str, order: str) -> None:
    """The transform of ``templates/keys.j2`` in Python: all keys of 16 bits and less, limits and others of wider
    ones."""
    t, flags = TYPES[name], options(name, order).flags
    bits = KEYS[t.key].bits
    sign, every = 1 << (bits - 1), (1 << bits) - 1

    flips = (sign if flags & SIGNED else 0) ^ (every if flags & DESCENDING else 0)
    more, same = (every ^ sign if flags & FLOAT else 0), 0 if flags & DESCENDING else 1

    def turned(key: int, first: int) -> int:
        return key ^ flips ^ (more if key >> (bits - 1) != first else 0)

    keys = np.arange(1 << bits).astype(f"u{bits // 8}") if bits <= 16 else bits_of(sample(name, 500))
    by = oracle.ordered(keys, t.kind, descending=order == "descending").tolist()
    assert [turned(key, 0) for key in keys.tolist()] == by
    assert [turned(key, same) for key in by] == keys.tolist()


@pytest.mark.parametrize("name", nightly_except(sampled(), ("generic", "nvidia-hopper")))
def test_parts_of_scratch_never_overlap(name: str) -> None:
    """Two algorithms share memory: with a device-side count both may be launched, one after the other."""
    for sort in shipped(name):
        top = sort.plan.max_n
        test_counts = [p.max_n for p in sort.parts if p.max_n <= top] + [
            *(r.min_n + 1 for r in sort.plan.scratch.rules),
            min((1 << 29) - 1, top),
            top - 1,
        ]
        for n in {*test_counts, *(e + 1 for e in test_counts if e < top), 1000}:
            for in_place in (False, True):
                how = Options(discard=sort.signature.index and not in_place, device_count=sort.signature.device_count)
                grids = [s for s in sort.plan.steps if s.indirect]
                steps = grids * how.device_count + [x.step for x in launches(sort.plan, n, in_place=in_place, how=how)]
                for kind in {layout(sort, s) for s in steps if s not in grids}:
                    mine = [s for s in steps if s in grids or layout(sort, s) == kind]
                    check_apart(sort, mine, n, how)


def check_apart(sort: Sort, steps: list[Step], n: int, how: Options) -> None:
    """Check that parts are disjoint and within scratch, and that discarded keys come after all of them."""
    found: dict[str, tuple[int, int]] = {}
    for step in steps:
        for name, begin, size in parts_of_scratch(sort, step, n):
            part = part_of(sort, step, name, begin)
            assert found.setdefault(part, (begin, size))[0] == begin, (sort.name, part)
            found[part] = begin, max(size, found[part][1])
    placed = sorted(found.values())
    for (begin, size), (other, _) in pairwise(placed):
        assert begin + size <= other, (sort.name, n, found)
    end = sum(placed[-1]) if placed else 0
    whole = scratch_bytes(sort, n, how)
    assert end <= sort.plan.scratch.bytes(n) <= whole, (sort.name, n)
    if how.discard:
        assert end <= spare_at(sort, n) and spare_at(sort, n) + n * sort.key.bytes <= whole


def limited(sort: Sort) -> Sort:
    """Return a sort whose scratch rule lacks the needs of its second parts."""
    return replace(
        sort,
        plan=replace(
            sort.plan, scratch=Scratch(tuple(replace(r, plus=0, per_unit=0) for r in sort.plan.scratch.rules))
        ),
    )


def test_too_little_scratch_is_noticed() -> None:
    sort = target.find("cpu").sort("radix", "u32", Signature(value="v4"))
    steps = [x.step for x in launches(sort.plan, 5000, in_place=False)]
    check_apart(sort, steps, 5000, Options())
    with pytest.raises(AssertionError):
        check_apart(limited(sort), steps, 5000, Options())
    nearer = [replace(s, bindings=tuple(replace(b, per_n=0) if b.per_n == 4 else b for b in s.bindings)) for s in steps]
    with pytest.raises(AssertionError):
        check_apart(sort, nearer, 5000, Options())


Command = tuple[int, int, int]


def wrapped(x: int) -> int:
    """A number as a signed 32-bit integer."""
    return (x + 2**31) % 2**32 - 2**31


def grids(sort: Sort, capacity: int, count: int, limit: int) -> list[Command]:
    """Return the output of the kernel grids: a command for each step; ``templates/grids.j2`` in Python."""
    (first,) = [s for s in sort.plan.steps if s.indirect]
    kernel = sort.kernel(first.kernel)
    rows, written = kernel.data, {}
    assert isinstance(rows, tuple)
    live = count if capacity > count else capacity
    for step in range(first.grid.cap * kernel.work_group):
        guard, grid = rows[step - 1] if 1 <= step <= len(rows) else (Guard(max_n=0), fixed(0))
        low = -1 if guard.at_zero else guard.min_n
        add, div, mul = (0, 1, 0) if grid.fixed else (grid.add, grid.div, grid.mul)
        high, cap = min(guard.max_n, 2**31 - 1), min(grid.cap, 2**31 - 1)
        if live <= low or live > high:
            wanted = 0
        elif mul == 0:
            wanted = cap
        else:
            assert wrapped(live + add) == live + add and wrapped((live + add) // div * mul) == (live + add) // div * mul
            wanted = min((live + add) // div * mul, cap)
        height = wrapped(wanted + limit - 1) // limit
        if step <= len(rows):
            written[step] = ((wanted + height - 1) // height if height > 0 else 0, max(height, 1), 1)
    assert sorted(written) == list(range(len(rows) + 1))  # the step's own argument is unused
    return [written[i] for i in range(len(sort.plan.steps))]


COUNTED_SORTS = [
    ("cpu", "auto", "u32", "none"),
    ("intel-gen8", "auto", "u64", "v8"),
    ("nvidia-sm90", "auto", "u32", "index"),
    ("generic", "auto", "u32", "packed"),
    ("lavapipe", "auto", "u8", "none"),
    ("swiftshader", "bitonic", "u32", "v4"),
]


@pytest.mark.parametrize("limit", [1 << 30, 65535, 300])
@pytest.mark.parametrize(("name", "label", "key", "value"), COUNTED_SORTS)
def test_grids_are_those_of_the_real_count(name: str, label: str, key: str, value: str, limit: int) -> None:
    signature = Signature(value=value, device_count=True, bit_range=label == "auto", key_transform=True)
    sort = target.find(name).sort(label, key, signature)
    always = {k.name for k in sort.kernels if k.always}
    test_counts = {e for s in sort.plan.steps for e in (s.guard.min_n, s.guard.max_n)} | {5, 1000, 70001, 1 << 25}
    for count in sorted(around([e for e in test_counts if e <= sort.plan.max_n], sort.plan.max_n)):
        for capacity in {count, min(2 * count + 1, sort.plan.max_n)} - {0}:
            made = grids(sort, capacity, count, limit)
            for step, (x, y, z) in list(zip(sort.plan.steps, made, strict=True))[1:]:
                both = [groups(changed(step, place="any"), count, in_place=place) for place in (False, True)]
                wanted = max(both, default=0)
                if step.kernel in always:
                    wanted = step.grid.cap if count <= step.guard.max_n else 0
                if wanted > limit * limit:
                    continue  # refused beforehand
                rows = -(-wanted // limit)
                assert (x, y, z) == ((-(-wanted // rows), rows, 1) if rows else (0, 1, 1)), (step.kernel, count)


def test_more_keys_than_the_capacity_are_the_capacity() -> None:
    sort = target.find("cpu").sort("auto", "u32", Signature(device_count=True))
    assert grids(sort, 5000, 2**32 - 1, 65535) == grids(sort, 5000, 5000, 65535)


@pytest.mark.parametrize(("name", "label", "key", "value"), COUNTED_SORTS)
def test_every_step_of_a_real_count_is_launched_for_the_capacity(name: str, label: str, key: str, value: str) -> None:
    """In the same order with no fewer work-groups; guards of rows decide which of them work."""
    sort = target.find(name).sort(label, key, Signature(value=value, device_count=True))
    tops = [p.max_n for p in sort.parts if p.max_n < 1 << 24] + [7, 5000, 1 << 20]
    for capacity in around(tops, sort.plan.max_n) - {0}:
        for in_place in (False, True):
            how = Options(device_count=True)
            whole = list(launches(sort.plan, capacity, in_place=in_place, how=how))
            assert [x.step for x in whole] == [s for s in sort.plan.steps if s in [x.step for x in whole]]
            found = {id(x.step): x for x in whole}
            assert all(not x.step.indirect for x in whole)
            for count in {0, 1, capacity // 3, capacity - 1, capacity}:
                for x in launches(sort.plan, count, in_place=in_place):
                    more = found[id(x.step)]
                    assert more.groups >= x.groups and more.argument == x.argument | DEVICE_COUNT
                mine = [x for x in whole if x.step.guard.min_n < count <= x.step.guard.max_n]
                assert mine == [found[id(x.step)] for x in launches(sort.plan, count, in_place=in_place)]


def bare(found: Iterator[Step]) -> list[Step]:
    """Return steps without their guards."""
    return [changed(s, min_n=0, max_n=0, range="any") for s in found]


@pytest.mark.parametrize("name", target.names())
def test_a_bit_range_is_sorted_by_radix_for_any_count(name: str) -> None:
    t = target.find(name)
    for key in t.autos:
        sort = t.sort("auto", key, Signature(bit_range=True))
        check_ranges(sort, [2, 33, 1000, 1 << 20])


def check_ranges(sort: Sort, counts: list[int]) -> None:
    """Check that each count's launches are those of one part, and for a bit range those of a radix part."""
    plans = [(p, ALGORITHMS[p.algorithm].plan(p.params)) for p in sort.parts]
    top = min(plan.max_n for _, plan in plans)
    for n in around([*counts, *(p.max_n for p in sort.parts if p.max_n < 1 << 29)], top) - {0}:
        own = next((p, plan) for p, plan in plans if p.min_n < n <= p.max_n)
        others = [(p, plan) for p, plan in plans if p.algorithm == "radix"]
        for in_place in (False, True):
            for how in (Options(), Options(begin=3), Options(end=7), Options(begin=4, end=4)):
                found = bare(x.step for x in launches(sort.plan, n, in_place=in_place, how=how))
                whole = how == Options()
                fitting = [own] if whole or own[0].algorithm == "radix" else others
                expected = [
                    [replace(s, kernel=s.kernel + assembly.suffix(sort.parts, part)) for s in steps]
                    for part, plan in fitting
                    for steps in [bare(x.step for x in launches(plan, n, in_place=in_place, how=how))]
                ]
                assert found and found in expected, (sort.name, n, how)
                if fitting != [own]:
                    assert sort.plan.scratch.bytes(n) >= min(p.scratch.bytes(n) for _, p in fitting)


def test_a_part_of_the_bits_finds_a_radix_sort_on_either_side() -> None:
    """Between two radix sorts, and with the merge sort last."""
    t = target.find("generic")
    signature = Signature(bit_range=True)
    params = {
        a: ALGORITHMS[a].specialize({"u32": t.choices[a, "u32"]}, KEYS["u32"], signature, t.device)
        for a in ("bitonic", "radix")
    }
    for order, tops in (
        (("radix", "bitonic", "radix"), (200, 3000)),
        (("radix", "bitonic"), (200,)),
        (("bitonic", "radix"), (70,)),
    ):
        parts, low = [], 0
        for name, top in zip(order, [*tops, 2**63 - 1], strict=True):
            parts.append(Part(algorithm=name, params=params[name], min_n=low, max_n=top))
            low = top
        kernels, plan, placed = assembly.assemble(parts, "here", signature)
        made = Sort(
            target="t", algorithm="auto", key=KEYS["u32"], kernels=kernels, plan=plan, parts=placed, signature=signature
        )
        check_ranges(made, [2, 33, 1000, 1 << 20])


@pytest.mark.parametrize("name", target.names())
def test_shapes_of_targets_fit_their_device_in_every_form(name: str) -> None:
    t = target.find(name)
    for signature in FORMS:
        for label in {a for a, _ in t.choices}:
            made = ALGORITHMS[target.algorithm(label)]
            have = {k: p for (a, k), p in t.choices.items() if a == label}
            for key in KEYS.values():
                p = made.specialize(have, key, signature, t.device)
                if p is None:
                    continue
                assert made.problems(p, t.device) == [], (label, key.name, signature)
                assert all(k.local_bytes(key) <= t.device.local_bytes for k in made.kernels(p))
                assert all(len(k.buffers) <= 10 for k in made.kernels(p))


@pytest.mark.parametrize("name", SAMPLED)
def test_what_auto_serves(name: str) -> None:
    """Every type in every signature if the device supports its elements; 64-bit integers for key-high u64."""
    t = target.find(name)
    for signature in FORMS:
        for key, each in TYPES.items():
            held = {"u8": t.device.storage8, "u16": t.device.storage16}.get(each.key, True)
            if signature.value == "packed":
                held = each.key == "u32"
            if not t.autos or not held:
                with pytest.raises(Usage):
                    t.sort("auto", key, signature)
                continue
            sort = t.sort("auto", key, signature)
            assert sort.signature.key_transform == (signature.key_transform or each.kind > 0)
            value = "" if signature.value == "none" else f"_{signature.value}"
            assert sort.file == f"auto_{each.key}{value}" and sort.plan.bits == KEYS[each.key].bits
            assert sort.plan.first_bit == (32 if signature.value == "packed" else 0)
            assert any(p.algorithm == "radix" for p in sort.parts)
            assert sort.plan.steps[0].indirect == signature.device_count
            assert {k.name for k in sort.kernels} == {s.kernel for s in sort.plan.steps}
            merged = [p for p in sort.parts if isinstance(p.params, bitonic.Params)]
            assert not (merged and signature.value == "packed")


def test_values_and_ranges_that_a_sort_cannot_have() -> None:
    t = target.find("generic")
    with pytest.raises(Usage, match="value packed: goes with keys of 32 bits, not with u64"):
        t.sort("auto", "u64", Signature(value="packed"))
    with pytest.raises(Usage, match="no bitonic for u32 keys with a bit range; radix sorts serve every form"):
        t.sort("bitonic", "u32", Signature(bit_range=True))
    with pytest.raises(Usage, match="no bitonic for u8 keys"):
        t.sort("bitonic", "u8")
