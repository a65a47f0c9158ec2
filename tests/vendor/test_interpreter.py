"""The plan interpreters in C and in Python make the same launches and need the same scratch."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from building import CONSUMERS, WARNINGS, bundle, core, folder, need, program, run
from nightly import NIGHTLY, nightly
from shipped import sampled

from hsgen.bundle.manifest import COMPANIONS
from hsgen.core.errors import Usage
from hsgen.core.flags import DIRECT, PLACES, RANGES, REDO, REDUCTIONS
from hsgen.core.interpreter import PLAIN, Options, launches, offset
from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.core.plan import (
    ROLES,
    Argument,
    Binding,
    BitRange,
    CallNumber,
    DeviceStatus,
    Grid,
    Guard,
    IndirectGrids,
    Literal,
    Pass,
    PassCount,
    Plan,
    Step,
)
from hsgen.core.scratch import ANY_N, Scratch, ScratchRule
from hsgen.core.sort import Sort
from hsgen.emit import c_files
from hsgen.targets import target

COUNTS = 700 if NIGHTLY else 100
LIMITS = (65_535, 2**31 - 1, 2**32 - 1, 7)
TARGETS = sampled() if NIGHTLY else ["cpu", "generic", "nvidia-hopper", "nvidia-sm35", "swiftshader"]
"""The fast run covers chunks per lane, with and without subgroups, buckets and cooperative sorts, look-back, and pairs
of u32."""


def interpreter(place: Path) -> Path:
    """The program that prints launches, with all sorts of a bundle."""
    need("cc")
    files = [*core(place), place / "src/hs_targets.c", *sorted(place.glob("targets/*/*.c"))]
    return program("launches", "cc", "-std=c99", *WARNINGS, f"-I{place / 'include'}", CONSUMERS / "launches.c", *files)


@cache
def shipped() -> tuple[Path, list[Sort]]:
    """The program with all shipped sorts, and the sorts in the program's order."""
    path = interpreter(bundle(*TARGETS, apis=(), keys=()))
    rows = [line.split() for line in run(path).split("\n\n")[0].splitlines()]
    assert all(found == "found" for *_, found in rows)
    return path, [of_bundle(name, algorithm, key) for name, algorithm, key, _, _ in rows]


def of_bundle(name: str, algorithm: str, key: str) -> Sort:
    """A sort as bundles have it: its scratch suffices for the sort of first calls, too."""
    found = target.find(name)
    sort, label = found.sort(algorithm, key), found.firsts.get(found.keys_of(key))
    if not label or algorithm != found.default(key).algorithm or sort.plan.device_status:
        return sort
    first = found.sort(label, key)
    return replace(
        sort, plan=replace(sort.plan, scratch=Scratch((*sort.plan.scratch.rules, *first.plan.scratch.rules)))
    )


def made_up(numbers: random.Random, name: str) -> Sort:
    """A sort whose plan uses every feature of plans; its kernels never run."""
    sort = target.find("generic").sort("bitonic", "u32")
    first, bits = numbers.choice([(0, 32), (32, 32), (0, 8), (0, 64)])

    def some(*most: int) -> int:
        return numbers.choice([0, 1, *(numbers.randrange(m) for m in most)])

    def binding(role: str) -> Binding:
        return (
            Binding(
                role=role, plus=some(5000, 1 << 40), per_n=some(5, 30), max_n=numbers.choice([None, 1 + some(4000)])
            )
            if role == "scratch"
            else Binding(role=role)
        )

    def step() -> Step:
        kernel = numbers.choice(sort.kernels)
        low, above = some(3000, 1 << 33), some(2000)
        by_rows = numbers.random() < 0.2
        return Step(
            kernel=kernel.name,
            bindings=tuple(binding(numbers.choice(ROLES)) for _ in kernel.buffers),
            guard=Guard(
                min_n=low,
                max_n=low + 1 + some(5000, 1 << 34),
                place=numbers.choice(list(PLACES)),
                range=numbers.choice(list(RANGES)),
                at_zero=numbers.random() < 0.3,
                reduction=numbers.choice(list(REDUCTIONS)),
                x=numbers.choice(["n", "n", "length"]),
                min_take=above,
                max_take=numbers.choice([0, 0, above + 1 + some(2000, 1 << 31)]),
            ),
            grid=Grid(
                x="rows" if by_rows else numbers.choice(["n", "n", "number"]),
                add=numbers.choice([0, 63, -20, -(1 << 20)]),
                div=1 << 20 if by_rows else 1 + some(4096),  # the product with the number of rows fits 64 bits
                mul=1 + some(300),
                cap=numbers.choice([1, 1000, 2**32 - 1]),
            ),
            argument=given(),
        )

    def given() -> Argument:
        flags, bits = numbers.choice([0, DIRECT, REDO | DIRECT]), numbers.randrange(1, 12)
        passes = (Pass(number=number, bits=bits, flags=flags) for number in range(9))
        literal = Literal(value=numbers.choice([0, numbers.randrange(-(2**31), 2**31)]), flags=flags)
        others = (literal, BitRange(flags=flags), PassCount(bits=bits, flags=flags), CallNumber(), IndirectGrids())
        return numbers.choice([*others, *others, *passes])

    rules = (
        ScratchRule(
            min_n=(low := some(3000)),
            max_n=numbers.choice([ANY_N, low + 1 + some(5000, 1 << 34)]),
            plus=some(1 << 40),
            per_n=some(40),
            unit=1 + some(5000),
            per_unit=some(5000),
            units=some(1000, 1 << 30),
        )
        for _ in range(numbers.randrange(4))
    )
    device_status = DeviceStatus(binding=binding("scratch"), words=1 + some(30), min_n=some(3000))
    plan = Plan(
        steps=tuple(step() for _ in range(40)),
        first_bit=first,
        bits=bits,
        max_n=numbers.choice([1 << 20, 1 << 36]),
        scratch=Scratch(tuple(rules)),
        device_status=numbers.choice([None, device_status]),
    )
    signature = Signature(
        value=numbers.choice(["none", "v16", "index", "index64"]),
        key_transform=True,
        bit_range=some(2) == 1,
        device_count=some(2) == 1,
    )
    return replace(sort, target="crafted", algorithm=name, plan=plan, signature=signature)


def tables(sorts: Sequence[Sort]) -> Path:
    """The program with these sorts of one target, without kernels."""
    name = sorts[0].target
    place, found = folder(name), replace(target.find("generic"), name=name)
    named = c_files.Named(name=name, apis=(), sorts=tuple(s.file for s in sorts), spirv=())
    rows = [(s, None, False) for s in sorts]
    files = {f"targets/{name}/{name}.c": c_files.target_c(found, rows, "hs"), **c_files.common([named], "hs")}
    for path, data in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
    return interpreter(place)


@cache
def crafted() -> tuple[Path, list[Sort]]:
    """The program with synthetic sorts, and the sorts."""
    numbers = random.Random(1)
    sorts = [made_up(numbers, f"made-{i}") for i in range(12)]
    return tables(sorts), sorts


@cache
def specialize(name: str) -> tuple[Path, list[Sort]]:
    """The program with the sorts of a target for all signatures, and the sorts."""
    sorts = []
    for key in KEYS:
        for value in VALUES:
            try:
                signature = Signature(value=value, key_transform=True, bit_range=True, device_count=True)
                sorts.append(target.find(name).sort("auto", key, signature))
            except Usage:
                continue  # key-high u64 exist for 32-bit keys only
    return tables(sorts), sorts


def counts(sort: Sort, seed: int, some: int = COUNTS) -> list[int]:
    """Counts at and next to every limit of the plan, powers, and random ones, also beyond the capacity."""
    numbers = random.Random(seed)
    plan = sort.plan
    test_counts = (
        {x for s in plan.steps for x in (s.guard.min_n, s.guard.max_n)} | {1 << b for b in range(1, 33)} | {2**64 - 1}
    )
    test_counts |= {plan.max_n} | ({plan.device_status.min_n} if plan.device_status else set())
    for rule in plan.scratch.rules:
        test_counts |= {rule.min_n, rule.max_n, rule.unit * rule.units, *(rule.unit * i for i in range(1, 5))}
    chosen = {0, *(e + d for e in test_counts for d in (-1, 0, 1))}
    chosen |= {numbers.randrange(plan.max_n + 1) for _ in range(some // 2)}
    chosen |= {int(2 ** numbers.uniform(0, 31)) for _ in range(some // 2)}
    return sorted(n for n in chosen if 0 <= n < 2**64)


def some_options(sort: Sort, seed: int) -> Options:
    """Random options, most of them valid for the sort."""
    numbers = random.Random(seed)
    signature, bits = sort.signature, sort.plan.bits
    begin, end = sorted((numbers.randrange(bits + 1), numbers.randrange(1, bits + 2)))
    bit_range = signature.bit_range and numbers.random() < 0.6
    return Options(
        kind=numbers.randrange(3 if bits > 8 else 2) if signature.key_transform else 0,
        descending=signature.key_transform and numbers.random() < 0.5,
        begin=begin if bit_range else 0,
        end=end if bit_range else None,
        discard=signature.index and numbers.random() < 0.5,
        device_count=signature.device_count and numbers.random() < 0.5,
        capacity=numbers.choice([0, 1, 2**31 - 1, numbers.randrange(1 << 20)]),
        rows=numbers.random() < 0.3,
        take=numbers.choice([0, 1, numbers.randrange(4000), 1 << 31]),
    )


def expected(sort: Sort, n: int, limit: int, in_place: bool, how: Options = PLAIN) -> str:
    """The expected line of the program, by the Python interpreter."""
    plan = sort.plan
    if n > plan.max_n:
        return "count"
    scratch = plan.scratch.bytes(n)
    if how.discard and n:
        scratch = -(-scratch // 1024) * 1024 + n * sort.item_bytes
    reported = plan.device_status if plan.device_status and n > plan.device_status.min_n else None
    out = f"{scratch} {offset(reported.binding, n) if reported else 0}+{4 * reported.words if reported else 0}|"
    if how.end is not None and not how.begin <= how.end <= plan.bits:
        return "range"
    try:
        for x in launches(plan, n, limit, in_place=in_place, how=how):
            places = "".join(f" {ROLES.index(b.role)}@{offset(b, n)}" for b in x.step.bindings)
            out += f"{x.step.kernel} {x.argument} {x.groups} {x.grid[0]} {x.grid[1]}{places};"
    except Usage:
        out += "grid"
    return out


def test_every_sort_is_there() -> None:
    found = [target.find(name) for name in TARGETS]
    every = {
        (t.name, a, k) for t in found for k in {k for _, k in t.choices} for a in (t.default(k).algorithm, *COMPANIONS)
    } | {(t.name, label, k) for t in found for label, k in t.choices if t.firsts.get(t.keys_of(k)) == label}
    assert {(s.target, s.algorithm, s.key.name) for s in shipped()[1]} == every


def line(number: int, sort: Sort, n: int, limit: int, in_place: bool, how: Options) -> str:
    """A line of the program's input."""
    kind = sort.plan.bits // 8 << 4 | how.kind if how.kind else 0
    flags = f"{kind} {how.descending:d} {how.begin} {how.end or 0} {how.discard:d}"
    return f"{number} {n} {limit} {in_place:d} {how.device_count:d} {flags} {how.number} {how.rows:d} {how.take}\n"


def differences(
    path: Path, sorts: Sequence[Sort], limit: int, some: int = COUNTS
) -> list[tuple[str, int, bool, Options, str, str]]:
    """The differences between the program's output and Python's."""
    asked = [
        (i, n, in_place, how)
        for i, sort in enumerate(sorts)
        for n in counts(sort, 100 * i + LIMITS.index(limit), some)
        for in_place in (False, True)
        for how in {PLAIN, some_options(sort, hash((i, n, in_place)))}
    ]
    text = "".join(line(i, sorts[i], n, limit, in_place, how) for i, n, in_place, how in asked)
    printed = run(path, text=text).split("\n\n", 1)[1].splitlines()
    assert len(printed) == len(asked) > some * len(sorts) * 1.8
    lines = [
        (sorts[i].name, n, in_place, how, said, expected(sorts[i], n, limit, in_place, how))
        for (i, n, in_place, how), said in zip(asked, printed, strict=True)
    ]
    return [x for x in lines if x[-2] != x[-1]]


@pytest.mark.parametrize("limit", [LIMITS[0], nightly(LIMITS[1]), nightly(LIMITS[2]), LIMITS[3]])
def test_same_launches(limit: int) -> None:
    assert differences(*shipped(), limit)[:3] == []


@pytest.mark.parametrize("limit", [LIMITS[0], nightly(LIMITS[1]), nightly(LIMITS[2]), LIMITS[3]])
def test_same_launches_of_any_plan(limit: int) -> None:
    path, sorts = crafted()
    assert differences(path, sorts, limit)[:3] == []
    for place in PLACES:  # each distinguishes in-place sorting somewhere
        steps = [s for sort in sorts for s in sort.plan.steps if s.guard.place == place]
        assert len(steps) > 10
    assert sum(expected(s, 5000, limit, True) != expected(s, 5000, limit, False) for s in sorts) > 3
    bounded = [s for sort in sorts for s in sort.plan.steps if s.guard.max_take]
    assert len(bounded) > 50 and sum(s.grid.x == "rows" for sort in sorts for s in sort.plan.steps) > 50
    for kind in (Literal, BitRange, PassCount, Pass):
        assert any(isinstance(s.argument, kind) for sort in sorts for s in sort.plan.steps)


@pytest.mark.parametrize("name", [nightly("generic"), "nvidia-sm90"])
def test_same_launches_of_every_form(name: str) -> None:
    path, sorts = specialize(name)
    assert {s.signature.value for s in sorts} == set(VALUES) and {s.label for s in sorts} == set(KEYS)
    assert differences(path, sorts, LIMITS[0], 50)[:3] == []


def test_options_that_a_sort_does_not_take() -> None:
    """Ranges out of order or beyond the key, and options that the sort was not generated with."""
    path, sorts = crafted()
    rows: list[tuple[int, Options, str]] = []
    for i, sort in enumerate(sorts):
        bits, signature = sort.plan.bits, sort.signature
        rows += [(i, Options(begin=b, end=e), "range") for b, e in ((3, 2), (0, bits + 1), (bits + 1, None))]
        if not signature.bit_range:
            rows.append((i, Options(begin=1), "option"))
        if not signature.index:
            rows.append((i, Options(discard=True), "option"))
    text = "".join(line(i, sorts[i], 5000, 65_535, False, how) for i, how, _ in rows)
    said = run(path, text=text).split("\n\n", 1)[1].splitlines()
    assert said == [what for _, _, what in rows]
    assert len({what for _, _, what in rows}) == 2
