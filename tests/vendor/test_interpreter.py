"""The interpreter of plans in C and the one in Python make the same launches."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from building import CONSUMERS, WARNINGS, bundle, need, program, run

from hsgen import target
from hsgen.errors import Usage
from hsgen.plan import launches
from hsgen.spec import Sort

COUNTS = 700
LIMITS = (65_535, 2**31 - 1, 2**32 - 1, 7)


@cache
def interpreter() -> Path:
    """The program that prints launches, with all sorts that come with hsgen."""
    need("cc")
    place = bundle(*target.names(), apis=(), keys=())
    files = [place / "src/hs.c", place / "src/hs_targets.c", *sorted(place.glob("targets/*/*.c"))]
    return program("launches", "cc", "-std=c99", *WARNINGS, f"-I{place / 'include'}", CONSUMERS / "launches.c", *files)


@cache
def sorts() -> list[Sort]:
    """The sorts in the order in which the program has them."""
    rows = (line.split() for line in run(interpreter()).split("\n\n")[0].splitlines())
    return [target.find(name).sort("merge", key) for name, key in rows]


def counts(sort: Sort, seed: int) -> list[int]:
    """Counts at and beside every edge of the plan, powers, and others at random, also beyond what it sorts."""
    numbers = random.Random(seed)
    greatest = sort.plan.max_n
    edges = {x for s in sort.plan.steps for x in (s.min_n, s.max_n)} | {1 << b for b in range(1, 33)} | {2**64 - 1}
    chosen = {0, *(e + d for e in edges for d in (-1, 0, 1))}
    chosen |= {numbers.randrange(greatest + 1) for _ in range(COUNTS // 2)}
    chosen |= {int(2 ** numbers.uniform(0, 31)) for _ in range(COUNTS // 2)}
    return sorted(n for n in chosen if 0 <= n < 2**64)


def expected(sort: Sort, n: int, limit: int) -> str:
    """The program's line, by the Python interpreter."""
    out = ""
    if n > sort.plan.max_n:
        return "count"
    try:
        for x in launches(sort.plan, n, limit):
            out += f"{x.step.kernel} {x.step.argument} {x.groups} {x.grid[0]} {x.grid[1]};"
    except Usage:
        out += "grid"
    return out


def test_every_sort_is_there() -> None:
    every = {(t, k) for t in target.names() for _, k in target.find(t).choices}
    assert {(s.target, s.key.name) for s in sorts()} == every


@pytest.mark.parametrize("limit", LIMITS)
def test_same_launches(limit: int) -> None:
    asked = [(i, n) for i, sort in enumerate(sorts()) for n in counts(sort, 100 * i + LIMITS.index(limit))]
    text = "".join(f"{i} {n} {limit}\n" for i, n in asked)
    printed = run(interpreter(), text=text).split("\n\n", 1)[1].splitlines()
    assert len(printed) == len(asked) > COUNTS * len(sorts()) * 0.9
    wrong = [
        (sorts()[i].name, n, line)
        for (i, n), line in zip(asked, printed, strict=True)
        if line != expected(sorts()[i], n, limit)
    ]
    assert not wrong, wrong[:3]
