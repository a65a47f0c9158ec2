"""One sort for any count: its table in a target, its assembly from parts, and the results for users.

- ``[sort.K]``: every mistake is named; labels, variants and the default follow from the file.
- In the assembled sort, exactly one part's launches sort each count, in the scratch memory of that part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from nightly import thinned
from steps import changed
from target_head import target_head

from hsgen.algorithms import bitonic, radix
from hsgen.algorithms.radix.per_thread import PerThread
from hsgen.algorithms.radix.tile import recast
from hsgen.bundle import manifest
from hsgen.core.errors import Usage
from hsgen.core.interpreter import launches
from hsgen.core.keys import KEYS
from hsgen.core.plan import Step
from hsgen.core.scratch import Scratch
from hsgen.core.sort import Part, Sort
from hsgen.emit.kernels import render
from hsgen.targets import assembly, target
from hsgen.targets.target import Target
from hsgen.tools.validate.cases import around

HEAD = target_head(
    "two",
    "a device of tests",
    subgroups=[8, 16],
    shuffle=True,
    local_bytes=65536,
    binding_bytes=4294967295,
    progress="started",
)
MERGE = """
[bitonic.u32]
subgroup = 8
height = 4
slabs = 4
clean_slabs = 4
local_scale = 2
flip_scale = 2
half_scale = 2
stream_group = 32
"""
RADIX = """
[radix.u32{variant}.{strategy}]
bits = 8
items = 4
work_group = 64
subgroup = {subgroup}
ranker = "{ranker}"
groups = 16
"""
LAST = '{ use = "radix-reduce_scan" }'
ROWS = f'ranges = [{{ to = 5000, use = "bitonic" }}, {LAST}]'
SORT = f"\n[sort.u32]\n{ROWS}\n"


def table(variant: str = "", subgroup: int = 1, ranker: str = "bitmask", strategy: str = "reduce_scan") -> str:
    """Return the text of a table of radix sorts."""
    return RADIX.format(variant=variant, subgroup=subgroup, ranker=ranker, strategy=strategy)


TEXT = HEAD + MERGE + table() + table(".bits4").replace("bits = 8", "bits = 4") + SORT


def parsed(text: str = TEXT) -> Target:
    return target.parse(text, "two", "two.toml")


def errors(text: str) -> list[str]:
    with pytest.raises(Usage) as caught:
        parsed(text)
    return list(caught.value.lines)


def test_labels_and_the_default() -> None:
    found = parsed()
    assert found.labels("u32") == ["auto", "bitonic", "radix", "radix-bits4"] and found.labels("u64") == []
    assert found.labels("f32") == found.labels("u32") and found.labels("i64") == []
    assert found.labels("u8") == found.labels("f16") == found.labels("bf16") == ["auto", "radix", "radix-bits4"]
    assert found.autos == {"u32": (("bitonic", 5000), ("radix", 2**63 - 1))}
    assert found.default("u32").algorithm == "auto" and found.default("u32").file == "auto_u32"
    assert found.sort("radix-bits4", "u32").file == "radix-bits4_u32"
    assert found.sort("radix-bits4", "u32").parts[0].params.bits == 4
    alone = parsed(HEAD + MERGE + table())
    assert alone.labels("u32") == ["bitonic", "radix"] and alone.default("u32").algorithm == "bitonic"
    assert parsed(HEAD + table(".a1") + table(".b2")).labels("u32") == ["radix-a1", "radix-b2"]


@pytest.mark.parametrize(
    ("label", "key"), [("auto", "u64"), ("radix-bits2", "u32"), ("bitonic", "u64"), ("quick", "u32")]
)
def test_a_sort_that_a_target_does_not_have(label: str, key: str) -> None:
    with pytest.raises(Usage) as caught:
        parsed().sort(label, key)
    (line,) = caught.value.lines
    assert line.startswith(
        f"target two: no {label} for {key} keys; it has auto u8, radix u8, radix-bits4 u8, auto u16,"
    )
    assert line.endswith("auto u32, bitonic u32, radix u32, radix-bits4 u32")


def test_a_default_for_keys_that_a_target_does_not_sort() -> None:
    with pytest.raises(Usage, match=r"target two: no auto for u64 keys; it has auto u8, .*, auto u32"):
        parsed().default("u64")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            LAST,
            '{ use = "radix-bits2" }',
            'sort.u32.ranges: "radix-bits2" has no table for u32; name some of: bitonic, radix, radix-bits4',
        ),
        (
            '"bitonic" }',
            '"quick" }',
            'sort.u32.ranges: "quick" has no table for u32; name some of: bitonic, radix, radix-bits4',
        ),
        (ROWS, "ranges = []", "sort.u32.ranges: is not a list of rows; write rows such as [{ to ="),
        (ROWS, 'ranges = "bitonic"', "sort.u32.ranges: is not a list of rows"),
        ("to = 5000, ", "", "sort.u32.ranges[0].to: missing; give the greatest count of the row"),
        (LAST, LAST.replace("{", "{ to = 9000,"), "sort.u32.ranges[1].to: bounds the last row; leave it out"),
        ("5000", "0", "sort.u32.ranges[0].to: 0 is not between 1 and"),
        (ROWS, "", "sort.u32.ranges: missing; write rows such as"),
        ("[sort.u32]", "[sort.u33]", "sort.u33: unknown key; did you mean u32?"),
        ("[sort.u32]", "[sort.u64]", 'sort.u64.ranges: "bitonic" has no table for u64; name some of: none'),
        (ROWS, ROWS + "\nrangs = 1", "sort.u32.rangs: unknown key; did you mean ranges?"),
        (
            LAST,
            '{ to = 5000, use = "radix" }, { use = "bitonic" }',
            "sort.u32.ranges: [5000, 5000] does not ascend; give the crossovers in ascending order",
        ),
        (
            LAST,
            '{ to = 400, use = "radix" }, { use = "bitonic" }',
            "sort.u32.ranges: [5000, 400] does not ascend; give the crossovers in ascending order",
        ),
        (
            ROWS,
            'ranges = [{ to = 100, use = "bitonic" }, { to = 5000, use = "bitonic-low" }, { use = "radix" }]\n'
            + MERGE.replace("bitonic.u32", "bitonic.u32.low").replace("height = 4", "height = 2"),
            "sort.u32.ranges: two of the algorithms have a kernel block_sort_4; give them the same shape",
        ),
        (
            "[radix.u32.bits4.reduce_scan]",
            "[radix.u32.Bits-4.reduce_scan]",
            "radix.u32.Bits-4: cannot name a variant; use up to 32 lower-case letters",
        ),
        (
            "[radix.u32.bits4.reduce_scan]\nbits = 4",
            "[radix.u32.bits4.reduce_scan]\nbits = 12",
            "radix.u32.bits4.reduce_scan.bits: 12 is not between 1 and",
        ),
        ("[sort.u32]\n", "sort = 3\n[other]\n", "sort: is not a table; write it as [sort]"),
    ],
)
def test_each_mistake_is_named(old: str, new: str, expected: str) -> None:
    assert TEXT.count(old) == 1
    text = TEXT.replace(old, new)
    if new.startswith("sort = 3"):  # before any table
        text = "sort = 3\n" + TEXT.replace(SORT, "")
    found = errors(text)
    assert any(line.startswith(f"two.toml: {expected}") for line in found), found


def test_algorithms_of_two_subgroup_widths_do_not_go_together() -> None:
    text = HEAD + MERGE + table(subgroup=16, ranker="match_ballot") + SORT
    assert errors(text) == [
        "two.toml: sort.u32.ranges: its algorithms use subgroups of 8 and of 16 lanes; give them one width"
    ]
    assert parsed(text.replace("subgroup = 16", "subgroup = 8")).default("u32").lanes == 8


def test_a_mistake_in_a_part_is_not_repeated_for_the_whole() -> None:
    assert len(errors(TEXT.replace("items = 4\nwork_group = 64", "items = 65\nwork_group = 64", 1))) == 1


def test_a_part_below_its_crossover_leaves_no_gap() -> None:
    """Merge sorts end at 2^29: a larger crossover would leave a gap."""
    (line,) = errors(TEXT.replace("5000", f"{2**29 + 1}"))
    assert "sort.u32" in line and str(2**29) in line
    assert parsed(TEXT.replace("5000", f"{2**29}")).default("u32").plan.max_n > 2**29


def test_choosing_by_label() -> None:
    found = parsed()
    assert manifest.choose(found, (), (), ()).algorithms == ("auto",)
    assert manifest.choose(found, (), (), ["radix-bits4", "bitonic"]).algorithms == ("bitonic", "radix-bits4")
    assert manifest.choose(found, ["u32"], ["opencl"], ["radix", "auto"]).algorithms == ("auto", "radix")
    with pytest.raises(
        Usage, match="target two: has no algorithm radix-bits2; it has auto, bitonic, radix, radix-bits4"
    ):
        manifest.choose(found, (), (), ["radix-bits2"])
    types = "u8, u16, u32, i8, i16, i32, f16, bf16, f32, bool"
    with pytest.raises(Usage, match=f"target two: has no key u64; it has {types}$"):
        manifest.choose(found, ["u64"], (), ())
    some = manifest.choose(found, (), (), ["bitonic"])
    assert manifest.widened(some, None, found) == some
    more = manifest.widened(some, manifest.choose(found, (), (), ["auto", "radix-bits4"]), found)
    assert more.algorithms == ("auto", "bitonic", "radix-bits4")
    without = parsed(TEXT.replace(table(".bits4").replace("bits = 8", "bits = 4"), ""))
    assert manifest.widened(some, more, without).algorithms == ("auto", "bitonic")


def parts(*rows: tuple[str, Any, int]) -> Sort:
    """Return the sort of (algorithm, parameters, greatest count), in ascending order."""
    low, placed = 0, []
    for name, params, top in rows:
        placed.append(Part(algorithm=name.split("-")[0], label=name, params=params, min_n=low, max_n=top))
        low = top
    kernels, plan, whole = assembly.assemble(placed, "here")
    return Sort(target="t", algorithm="auto", key=KEYS["u32"], kernels=kernels, plan=plan, parts=whole)


def found(label: str, text: str = TEXT) -> Any:
    return parsed(text).choices[label, "u32"]


RANKED = TEXT.replace("reduce_scan", "onesweep")
EVER = 2**63 - 1


def wholes() -> dict[str, Sort]:
    """Return sorts of one, two and three parts."""
    base, look = found("radix"), found("radix", RANKED)
    mid, low = replace(look, items=2, bits=7), replace(base, bits=4)
    walking = recast(base, PerThread, work_group=1, items=64, single=300, stream_from=9000)
    return {
        "bitonic": parts(("bitonic", found("bitonic"), EVER)),
        "merge, radix": parts(("bitonic", found("bitonic"), 5000), ("radix", base, EVER)),
        "merge, lookback": parts(("bitonic", found("bitonic"), 130), ("radix", look, EVER)),
        "merge, large": parts(("bitonic", found("bitonic"), 5000), ("radix", replace(look, large=True), EVER)),
        "radix, merge": parts(("radix", base, 3000), ("bitonic", found("bitonic"), EVER)),
        "radix, merge, radix": parts(("radix", base, 200), ("bitonic", found("bitonic"), 3000), ("radix", base, EVER)),
        "several": parts(
            ("bitonic", found("bitonic"), 130),
            ("radix-mid", mid, 900),
            ("radix-bits4", low, 5000),
            ("radix", look, EVER),
        ),
        "walking": parts(("radix", walking, EVER)),
        "merge, walking": parts(("bitonic", found("bitonic"), 100), ("radix", walking, EVER)),
    }


TAILS = {"several": ("_radix_bits4", "_radix")}
"""The suffixes of kernel names of later radix sorts in a sort."""


def unnamed(whole: Sort, step: Step) -> Step:
    """Return a step as the plan of its algorithm has it."""
    tails = TAILS["several"] if any(p.label == "radix-mid" for p in whole.parts) else ()
    return replace(step, kernel=next((step.kernel[: -len(x)] for x in tails if step.kernel.endswith(x)), step.kernel))


@pytest.mark.parametrize("name", thinned(wholes(), 2))
def test_each_count_is_sorted_by_one_part_in_the_scratch_that_it_needs(name: str) -> None:
    """The launches are those of the count's part, with guards cut at the crossovers."""
    whole = wholes()[name]
    top = whole.plan.max_n
    ends = [p.max_n for p in whole.parts]
    test_counts = assembly.test_counts(whole, 1 << 18)
    assert {p.min_n for p in whole.parts} <= set(test_counts) and test_counts == sorted(set(test_counts))
    counts = {*around([*ends, *test_counts, 1 << 20, (1 << 30) - 1, top], top), *range(0, 700, 7)}
    for n in counts:
        part = next((p for p in whole.parts if p.min_n < n <= p.max_n), whole.parts[0])
        made = {"bitonic": bitonic, "radix": radix}[part.algorithm]
        plan = made.plan(part.params)
        for in_place in (False, True):
            mine = [
                unnamed(whole, changed(x.step, min_n=0, max_n=0)) for x in launches(whole.plan, n, in_place=in_place)
            ]
            alone = [changed(x.step, min_n=0, max_n=0) for x in launches(plan, n, in_place=in_place)]
            assert mine == alone and bool(mine) == (n > 0)
        assert whole.plan.scratch.bytes(n) >= plan.scratch.bytes(n)
        reported = whole.plan.device_status
        if reported is not None and plan.device_status is not None and n > plan.device_status.min_n:
            assert n > reported.min_n and (reported.binding, reported.words) == (
                plan.device_status.binding,
                plan.device_status.words,
            )


def test_scratch_is_empty_if_no_part_needs_any() -> None:
    for name, least in (("bitonic", EVER), ("merge, radix", 5000), ("radix, merge", 256), ("merge, lookback", 256)):
        whole = wholes()[name]
        assert all(whole.plan.scratch.bytes(n) == 0 for n in range(0, min(least, 9000) + 1, 50))
        assert (whole.plan.scratch.bytes(least + 1) > 0) == (name != "bitonic")
    assert wholes()["bitonic"].plan.scratch == Scratch()


def test_the_status_has_a_meaning_only_with_look_back() -> None:
    assert wholes()["merge, radix"].plan.device_status is None
    reported = wholes()["merge, lookback"].plan.device_status
    assert reported is not None and (reported.words, reported.min_n) == (4, 256)
    assert wholes()["merge, large"].plan.device_status == replace(reported, min_n=5000)


def test_a_status_that_not_every_count_has_is_omitted() -> None:
    """From the first part with a status on, all must have one: its u32 are shared, and other parts do not clear
    them."""
    base, look = found("radix"), found("radix", RANKED)
    other = replace(look, items=2)
    reported = parts(("radix", other, 3000), ("radix-b", look, EVER)).plan.device_status
    assert reported is not None and (reported.words, reported.min_n) == (4, 128)
    assert wholes()["several"].plan.device_status is None  # the middle one has none
    assert parts(("radix", look, 3000), ("bitonic", found("bitonic"), EVER)).plan.device_status is None
    ends = parts(("radix", base, 3000), ("radix-b", look, EVER)).plan.device_status
    assert ends is not None and ends.min_n == 3000


def test_kernels_of_later_radix_sorts_have_their_labels_as_suffixes() -> None:
    whole = wholes()["several"]
    names = [k.name for k in whole.kernels]
    assert len(set(names)) == len(names) and {"onesweep", "count_radix_bits4", "onesweep_radix"} <= set(names)
    assert {s.kernel for s in whole.plan.steps} == set(names)
    assert not [n for n in names if n.startswith("single")]  # merges sort the counts of a single work-group
    assert not whole.kernel("begin_radix").always and whole.kernel("begin").always
    for n in (900, 901, 5001, 1 << 20):
        part = next(p for p in whole.parts if p.min_n < n <= p.max_n)
        plain = radix.plan(part.params)
        assert assembly.traffic(whole, n) == sum(
            radix.moved(part.params, x.step, n) for x in launches(plain, n, in_place=False)
        )
    notes = dict(assembly.notes(whole))
    assert notes["radix-mid"] == "131 to 900 keys" and notes["radix-bits4"] == "901 to 5000 keys"


def test_shared_constants_suit_all_radix_sorts_of_a_text() -> None:
    """If all digits have one width it is a constant, otherwise kernels read it from their argument."""
    for name, fixed in (("merge, radix", True), ("several", False)):
        text = render(wholes()[name], "opencl").text
        assert ("#define hs_digit_mask() 255\n" in text) == fixed


def test_kernels_that_no_row_uses_are_left_out() -> None:
    names = {k.name for k in wholes()["merge, radix"].kernels}
    assert "single" not in names and {"count", "rows", "scatter", "copy", "clean"} <= names
    assert {k.name for k in wholes()["merge, walking"].kernels} >= {"scatter_lines", "single"}
    assert len(names) == len(wholes()["merge, radix"].kernels)


def test_validation_is_dense_around_the_first_part_and_reaches_the_last() -> None:
    whole = wholes()["radix, merge, radix"]
    assert assembly.block(whole) == radix.block(whole.parts[0].params)
    assert assembly.row_test_counts(whole, 1 << 16)
    assert {200, 3000} <= set(assembly.test_counts(whole, 1 << 16))


def test_notes_name_the_counts_of_each_part() -> None:
    notes = assembly.notes(wholes()["merge, radix"])
    assert ("bitonic", "1 to 5000 keys") in notes and ("radix", f"5001 to {2**30 - 1} keys") in notes
    assert notes.index(("bitonic", "1 to 5000 keys")) < notes.index(("radix", f"5001 to {2**30 - 1} keys"))
    assert not [name for name, _ in assembly.notes(wholes()["walking"]) if name == "radix"]


def test_traffic_is_the_sum_of_the_launches_out_of_place() -> None:
    whole = wholes()["merge, radix"]
    for n in (0, 1, 5000, 5001, 1 << 20):
        each = [assembly.moved(whole, x.step, n) for x in launches(whole.plan, n, in_place=False)]
        assert assembly.traffic(whole, n) == sum(each)
    assert assembly.traffic(whole, 0) == 0
    n = 1 << 20
    keys = 4 * n
    assert 4 * 3 * keys <= assembly.traffic(whole, n) < 4 * 3 * keys + 4 * 5 * 4 * 256 * 16
    look = wholes()["merge, lookback"]
    states = 4 * 12 * 256 * (n // 256)
    assert 9 * keys + states <= assembly.traffic(look, n) < 9 * keys + 2 * states
    assert assembly.traffic(whole, 128) == 2 * 4 * 128  # a single work-group


def test_shipped_targets_sort_any_count_with_one_function() -> None:
    for name in target.names():
        t = target.find(name)
        for key in t.autos:
            whole = t.default(key)
            assert whole.algorithm == "auto" and len(whole.parts) == len(t.autos[key])
            assert whole.parts[0].min_n == 0 and whole.plan.max_n >= 2**29
            for before, after in zip(whole.parts, whole.parts[1:], strict=False):
                assert before.max_n == after.min_n
            for n in around([p.max_n for p in whole.parts if p.max_n < 2**29] + [1, 2, 1 << 20], 1 << 29):
                assert bool(list(launches(whole.plan, n, in_place=True))) == (n > 0)
