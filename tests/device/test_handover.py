"""What work-groups hand over within a launch: CUDA's and HIP's text on fibers of the host, with a model of memory.

- No kernel races: lanes of a work-group, and work-groups of a launch, see what others have stored only by the words of
  the dialect that order it.  The model (memory_on_host.cpp) also makes stores visible late, and keeps lines.
- Buffers are `coherent` where lanes load what others have stored.
- Without any fence of `hs_publish`, `hs_await` or a barrier of the grid, there is a race; late stores then make results
  wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_shapes import BUCKETED, FEW, OVER, SORTED, TABLES, grouping, raw
from every import LANES, sort_of
from grouping_faults import SECTIONS, small
from host_engine import DEVICE, GROUP, HostEngine, LaunchedKernels
from nightly import NIGHTLY, nightly, nightly_except
from selections import sort_of as selection
from sorts import grid_sort, sort_by

from hsgen.algorithms import IMPLICIT, scan
from hsgen.core import buffers
from hsgen.core.errors import Usage, Wrong
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.operations import oracle
from hsgen.operations.calls import Call
from hsgen.operations.reduce_by_key import COUNTS, FIRSTS, number
from hsgen.operations.top_k import selected
from hsgen.targets import target
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

PAIRS = Signature(value="v4")
PLACES: dict[str, Any] = {"bits": 4, "items": 5, "bins": 64}


def scanned(coordination: str, **values: Any) -> Sort:
    """Return prefix sums of one launch."""
    shape = {"items": 4, "work_group": 64, "groups": 8, "subgroup": 32, **values}
    return sort_by("scan", scan.Params(key=KEYS["u32"], columns=1, exclusive=True, coordination=coordination, **shape))


SORTS: dict[str, Callable[[], Sort]] = {
    "partition": lambda: sort_of("partition8.toml", "radix-few", "u32", PLAIN),
    "partition of pairs": lambda: sort_of("partition8.toml", "radix-few", "u32", PAIRS),
    "partition of u64": lambda: sort_of("partition8.toml", "radix", "u64", PAIRS),
    "grid": grid_sort,
    "grid of pairs": lambda: grid_sort(signature=PAIRS),
    "grid by places": lambda: grid_sort(**PLACES),
    "grid of pairs by places": lambda: grid_sort(signature=PAIRS, **PLACES),
    "look-back": lambda: sort_of("several8.toml", "radix", "u32", PAIRS),
    "bounded look-back": lambda: sort_of("radix8.toml", "radix", "u32", PAIRS),
    "pieces": lambda: sort_of("pieces8.toml", "radix", "u32", PLAIN),
    "pieces of pairs": lambda: sort_of("pieces8.toml", "radix", "u32", PAIRS),
    "scan": lambda: scanned("lookback"),
    "scan in sections": lambda: scanned("sections"),
    "reduction": lambda: small("u32"),
    "reduction in sections": lambda: small("u32", **SECTIONS),
    "selection": lambda: selection("u32", "v4"),
}
"""Sorts of each way in which work-groups of a launch wait for, or look at, others; and one that shares long rows."""
QUICK = ("partition of pairs", "grid of pairs by places", "look-back", "scan in sections", "reduction in sections")


def pairs_of(sort: Sort, count: int, most: int = 600) -> list[tuple[int, str]]:
    """Return some counts and kinds of keys of a validation, the greatest count with all keys of one digit."""
    every = [p for p in validation.plan_cases(sort, full=False, seed=1) if p[0] <= min(most, sort.plan.max_n)]
    return [*every[:: max(1, len(every) // count)], max(every), (max(every)[0], "few distinct")]


def check(engine: HostEngine, pairs: Iterable[tuple[int, str]]) -> None:
    """Validate, and compare what was handed over with what buffers are declared to be."""
    kinds = set(validation.operations.of(engine.sort).kinds)
    report = validation.run(engine, [p for p in pairs if p[1] in kinds], 1)
    assert report.cases and not report.failed, report.failures
    declared(engine)


def declared(engine: HostEngine) -> None:
    """Buffers are `coherent` where lanes of any kernel have loaded what others stored."""
    for (name, buffer), seen in engine.handed.items():
        coherent = next(b.coherent for b in engine.sort.kernel(name).buffers if b.name == buffer)
        needed = buffers.DEVICE if seen & DEVICE else buffers.GROUP if seen & GROUP else ""
        assert coherent == needed or coherent == buffers.DEVICE or not needed, f"{name}: {buffer} is {needed}"


@pytest.mark.parametrize("name", nightly_except(SORTS, QUICK))
def test_what_is_handed_over_is_ordered(name: str, tmp_path: Path) -> None:
    engine = HostEngine(SORTS[name](), tmp_path, late=50)
    check(engine, pairs_of(engine.sort, 24 if NIGHTLY else 4))
    if any(k.handover for k in engine.sort.kernels):
        assert engine.late_stores and any(seen & DEVICE for seen in engine.handed.values())


@pytest.mark.parametrize("name", [nightly("partition"), "partition of pairs", nightly("pieces")])
def test_hip_orders_it_too(name: str, tmp_path: Path) -> None:
    engine = HostEngine(SORTS[name](), tmp_path, late=50, api="hip")
    check(engine, pairs_of(engine.sort, 12 if NIGHTLY else 2))


GROUPS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "tables": ("digits", {"rounds": TABLES["rounds"], "collisions": TABLES["collisions"]}),
    "buckets": ("digits", {"random": BUCKETED["random"], "crowded": BUCKETED["crowded"]}),
    "passes": ("digits", {"uneven": SORTED["uneven"], "two": SORTED["two"], "last digit": SORTED["last digit"]}),
    "few": ("both", {**{name: FEW[name] for name in ("hundred", "some and the greatest")}, **OVER}),
    "all": ("both", {**TABLES, **BUCKETED, **SORTED, **FEW, **OVER}),
}
"""Keys of each way of a grouping, and the shape of its tables."""


@pytest.mark.parametrize("name", nightly_except(GROUPS, ("few",)))
def test_groupings_hand_over_in_order(name: str, tmp_path: Path) -> None:
    shape, makes = GROUPS[name]
    engine, n = HostEngine(grouping(shape), tmp_path, late=50), 6000 if NIGHTLY else 3000
    frame, rng = Frame(engine, n), np.random.default_rng(3)
    for i, make in enumerate(makes.values()):
        how = Options(reduction=number(("sum", "min", "max")[i % 3], "u32") | COUNTS | FIRSTS)
        call = validation.call(engine.sort, raw(make(rng, n), how), how, in_place=False, count=None, rng=rng)
        assert frame.run(call) is None
    declared(engine)


def labels(file: str) -> list[str]:
    """Return the algorithms of a test target, and those that every target has."""
    return list(dict.fromkeys(["auto", *(x for x, _ in target.find(str(LANES / file)).choices), *IMPLICIT]))


LARGER = {"reduce_by_key": (2817, "all different"), "group_by": (2817, "entropy 0.34"), "radix": (8193, "organ pipe")}
"""A count and keys for kernels of an algorithm that no count up to 450 runs."""


def small_cases(sort: Sort) -> list[tuple[int, str]]:
    """Return few counts and keys with which calls run the kernels of a sort."""
    cases = [(1, next(iter(validation.operations.of(sort).kinds))), *pairs_of(sort, 3, 450)]
    for algorithm, case in LARGER.items():
        names = {k.template.rpartition(":")[2] for k in sort.kernels if k.algorithm == algorithm}
        if (algorithm != "radix" and names) or "scan" in names:
            cases.append(case)
    return cases


def launching(sort: Sort, cases: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the cases that launch kernels which no earlier case launches."""
    launched, chosen = LaunchedKernels(sort), []
    for case in cases:
        before = len(launched.names)
        if case[1] in validation.operations.of(sort).kinds:
            validation.run(launched, [case], 1)
        if len(launched.names) > before:
            chosen.append(case)
    return chosen


COVERING = [
    ("pieces8.toml", "auto", "v4"),
    ("simd32.toml", "bitonic", "v4"),
    ("waitless8.toml", "auto", "v4"),
    ("partition8.toml", "auto", "v4"),
    ("partition8.toml", "auto", "none"),
    ("buckets8.toml", "auto", "none"),
    ("buckets8.toml", "digest", "v4"),
    ("first8.toml", "segmented_sort", "none"),
    ("radix16.toml", "segmented_sort", "none"),
    ("buckets8.toml", "merge_path", "none"),
    ("scans.toml", "scan-look", "none"),
    ("scans.toml", "scan-wide", "none"),
    ("pieces8.toml", "group_by", "none"),
    ("buckets8.toml", "gather", "none"),
    ("buckets8.toml", "pack", "none"),
    ("forms1.toml", "radix-serial", "none"),
    ("forms8.toml", "radix-walk", "none"),
    ("pairs8.toml", "auto", "v4"),
    ("buckets8.toml", "reduce_by_key", "none"),
    ("buckets8.toml", "radix_select", "none"),
]
"""Sorts that have every kernel of every strategy and operation, but for selections of long rows."""
OTHERS = [
    nightly(file.name, label, value)
    for file in sorted(LANES.glob("*.toml"))
    for label in labels(file.name)
    for value in ("none", "v4")
    if (file.name, label, value) not in COVERING
]


@pytest.mark.parametrize(("file", "label", "value"), COVERING)
def test_no_kernel_of_any_algorithm_races(file: str, label: str, value: str, tmp_path: Path) -> None:
    """Every kernel of every strategy in small shapes; the fast run takes only cases that launch further kernels."""
    sort = sort_of(file, label, "u32", Signature(value=value))
    cases = small_cases(sort)
    check(HostEngine(sort, tmp_path, late=200), cases if NIGHTLY else launching(sort, cases))


SELECTIONS = ((3, 8, 2), (2, 30, 2), (2, 100, 16), (1, 33000, 2), (2, 400, 100))
"""Rows, lengths and k of each way of a selection: few keys of short rows, chunks, one work-group, a sample, passes."""


def selecting(engine: HostEngine | LaunchedKernels, rows: int, length: int, k: int) -> str | None:
    """Select k of each row of even keys; return what is wrong."""
    sort, rng = engine.sort, np.random.default_rng(k)
    keys, options = rng.integers(0, 1 << 32, rows * length, np.uint32), Options(segment_count=rows, take=k)
    values = oracle.values_for(rng, len(keys), sort)
    expected, after = selected(sort, keys, values, options)
    call = Call(
        n=len(keys), keys=keys, expected=expected, in_place=False, values=values, values_expected=after, how=options
    )
    return Frame(engine, len(keys)).run(call)


def test_no_way_of_a_selection_races(tmp_path: Path) -> None:
    engine = HostEngine(SORTS["selection"](), tmp_path, late=200)
    for shape in SELECTIONS:
        assert selecting(engine, *shape) is None, shape
    declared(engine)


@pytest.mark.parametrize(("file", "label", "value"), OTHERS)
def test_no_other_sort_races(file: str, label: str, value: str, tmp_path: Path) -> None:
    """The same kernels in other shapes."""
    try:
        sort = sort_of(file, label, "u32", Signature(value=value))
        render(sort, "cuda")
    except Usage as e:
        pytest.skip(str(e))
    check(HostEngine(sort, tmp_path, late=200), small_cases(sort))


def templates(sort: Sort) -> set[str]:
    """Return the algorithm and the template of each kernel of a sort."""
    return {f"{k.algorithm} {k.template}" for k in sort.kernels}


@pytest.mark.nightly
def test_the_cases_above_run_every_kernel() -> None:
    """With those of tables of few groups."""
    known: set[str] = set()
    run: set[str] = set()
    for file, label, value in [*COVERING, *(case.values for case in OTHERS)]:
        with suppress(Usage):
            known |= templates(sort_of(file, label, "u32", Signature(value=value)))
    engines = []
    for file, label, value in COVERING:
        engines.append(LaunchedKernels(sort_of(file, label, "u32", Signature(value=value))))
        validation.run(engines[-1], launching(engines[-1].sort, small_cases(engines[-1].sort)), 1)
    engines.append(LaunchedKernels(SORTS["selection"]()))
    for shape in SELECTIONS:
        selecting(engines[-1], *shape)
    for engine in engines:
        run |= {f"{k.algorithm} {k.template}" for k in engine.sort.kernels if k.name in engine.names}
    assert known - run == {f"group_by group_by/tables:{name}" for name in ("few_tables", "few_close")}


PUBLISH = "{ __syncthreads(); if (threadIdx.x == 0) { __threadfence(); atomicAdd(&(word), y); } }"
AWAIT = "{ if (threadIdx.x == 0) { while ((int)hs_atomic_load(word) < (sum)) {} __threadfence(); } __syncthreads(); }"
ARRIVE, WAIT = "__threadfence(), was = atomicAdd", "now = hs_atomic_load(*hs_grid_word()), __threadfence();"
BARRIER, ADD, LOCAL_ADD = "#define hs_barrier()", "#define hs_atomic_add(x, y)", "#define hs_local_atomic_add(x, y)"
PLAIN_ADD = "({ const hs_u32 was_ = (x); (x) = was_ + (y); was_; })"
CLEARED = "words[HS_TILE_STATES + i] = 0u;\n    hs_barrier();"
LAUNCHED = "hs_wait_for_kernels();\n"
MUTANTS = {
    "publish without a release": ("partition of pairs", PUBLISH, PUBLISH.replace("__threadfence();", "")),
    "publish before all have stored": ("partition of pairs", PUBLISH, PUBLISH.replace("__syncthreads();", "")),
    "await without an acquire": ("partition of pairs", AWAIT, AWAIT.replace("__threadfence();", "")),
    "a pass without await": ("partition of pairs", "if (pass > 1) hs_await(words[HS_DONE + pass - 1], tiles);", ""),
    "arrive without a release": ("grid of pairs", ARRIVE, ARRIVE.replace("__threadfence(), ", "")),
    "wait without an acquire": ("grid of pairs", WAIT, WAIT.replace(", __threadfence();", ";")),
    "no barrier of work-groups": ("look-back", f"{BARRIER} __syncthreads()", f"{BARRIER} ((void)0)"),
    "counts are cleared while others add": ("look-back", CLEARED, CLEARED.replace("hs_barrier();", "")),
    "a plain addition in local memory": ("look-back", f"{LOCAL_ADD} atomicAdd(&(x), y)", f"{LOCAL_ADD} ((x) += (y))"),
    "a plain addition in a buffer": ("look-back", f"{ADD} atomicAdd(&(x), y)", f"{ADD} {PLAIN_ADD}"),
    "no wait for launches ahead": ("look-back", f"    {LAUNCHED}", ""),
    "one lane does not wait for launches ahead": ("look-back", LAUNCHED, f"if (threadIdx.x) {LAUNCHED}"),
    "a word is read before the wait": ("look-back", LAUNCHED, f"if (words[0] == 77u) n -= 1;\n    {LAUNCHED}"),
}
"""Faults of words and of one use: the sort, and the text before and after.  The barrier of `hs_await` has none here:
where it is used, another barrier precedes the loads."""


FOUND = ("publish without a release", "no wait for launches ahead")
"""The faults of the fast run: one of words, and one of early launches."""


@pytest.mark.parametrize("name", nightly_except(MUTANTS, FOUND))
def test_without_order_there_is_a_race(name: str, tmp_path: Path) -> None:
    subject, before, after = MUTANTS[name]

    def change(text: str) -> str:
        assert before in text and before != after
        return text.replace(before, after)

    engine = HostEngine(SORTS[subject](), tmp_path, change)
    with pytest.raises(Wrong, match="race in"):
        for seed in range(20):
            validation.run(engine, [(600, "random"), (700, "few distinct"), (768, "all equal")], seed)


def test_late_stores_without_order_make_results_wrong(tmp_path: Path) -> None:
    """As on a GPU: groups were lost, when one warp's stores became visible after their tile was handed over."""
    failed = 0
    for seed in range(20):
        engine = HostEngine(
            SORTS["partition of pairs"](),
            tmp_path,
            lambda text: text.replace(PUBLISH, PUBLISH.replace("__threadfence();", "")),
            late=20,
            races=False,
            seed=seed,
        )
        failed += validation.run(engine, [(600, "few distinct"), (600, "random")], seed).failed
        if failed:
            return
    pytest.fail("no late store was noticed")
