"""Selections without a device: plans, scratch and parameters of every target; what the oracle expects.

- Every target that sorts has a selection, whose kernels fit its local memory, for all keys and values.
- The length of a row and k decide which kernels run; one kernel stores the result.
- Scratch holds what kernels address, for random shapes.
- A sampled bound lists k keys and few more, by a model of the kernels that sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models import sampled_bound
from nightly import NIGHTLY
from numpy.typing import NDArray
from shipped import sampled

from hsgen import operations
from hsgen.algorithms import radix_select
from hsgen.algorithms.radix_select.params import MAX_N, WHOLE
from hsgen.core.buffers import pair_bytes
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, launches, offset
from hsgen.core.keys import KEYS, Signature
from hsgen.core.plan import Step
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.operations.oracle import ordered, unordered
from hsgen.operations.top_k import Rows, of_rows, positions, selected, sorted_up_to
from hsgen.targets import target
from hsgen.targets.optional import replaced
from hsgen.tools.tune.propose import Space
from hsgen.tools.tune.request import derived

FEW_LANES = Path(__file__).parents[1] / "data/few_lanes/few-lanes-device.toml"


@pytest.mark.parametrize("name", target.names())
def test_every_target_selects(name: str) -> None:
    found = target.find(name)
    for key in ("u8", "u16", "f32", "u64"):
        wide = {"u8": found.device.storage8, "u16": found.device.storage16}.get(key, True)
        if not found.autos or not wide:
            with pytest.raises(Usage):
                found.sort("radix_select", key)
            continue
        for value in ("none", "v16", "index", "index64"):
            sort = found.sort("radix_select", key, Signature(value=value))
            p = sort.parts[0].params
            assert sort.signature == Signature(value=value, key_transform=True, rows=True) and sort.operation == "top_k"
            assert all(k.local_bytes(sort.key) <= found.device.local_bytes for k in sort.kernels)
            assert max(k.local_bytes(sort.key) for k in sort.kernels) == p.local_bytes() and p.capacity >= 512
            assert all(len(k.buffers) <= 10 and k.work_group <= found.device.work_group for k in sort.kernels)
            assert p.tile < 1 << 16, "counts of a tile share a word"


def test_what_a_selection_does_not_serve() -> None:
    found = target.find("generic")
    for more in ({"value": "packed"}, {"bit_range": True}, {"device_count": True}, {"run_boundaries": True}):
        with pytest.raises(Usage):
            found.sort("radix_select", "u32", Signature(**more))  # type: ignore[arg-type]


def launched(key: str, n: int, rows: int, take: int, name: str = "generic") -> list[str]:
    """Return the kernels that a selection launches, in order."""
    sort = target.find(name).sort("radix_select", key)
    return [x.step.kernel for x in launches(sort.plan, n, in_place=False, how=Options(segment_count=rows, take=take))]


CHUNKS, SAMPLED = ["chunks", "merge"], ["sample", "collect", "finish"]
DIGITS = ["clear", "count", "count", "count", "sift", "spine", "place", "order"]
WAYS: dict[tuple[int, int], list[str]] = {
    (1, 1): ["short_rows"],
    (256, 32): ["short_rows"],
    (256, 33): ["small_row"],
    (256, 256): ["small_row"],
    (257, 33): ["middle_row"],
    (1024, 1024): ["middle_row"],
    (1025, 33): ["short_row"],
    (1025, 129): ["long_row"],
    (2048, 2048): ["long_row"],
    (2049, 129): ["row"],
    (257, 1): ["short_row"],
    (4096, 128): ["short_row"],
    (4096, 129): ["row"],
    (4097, 1): CHUNKS,
    (4097, 128): CHUNKS,
    (1 << 20, 16): CHUNKS,
    ((1 << 20) + 1, 16): SAMPLED,
    (1 << 18, 17): CHUNKS,
    (1 << 18, 64): CHUNKS,
    ((1 << 18) + 1, 64): SAMPLED,
    (1 << 17, 65): CHUNKS,
    ((1 << 17) + 1, 128): SAMPLED,
    (1 << 15, 512): ["row"],
    ((1 << 15) + 1, 129): SAMPLED,
    (1 << 16, 513): ["row"],
    ((1 << 16) + 1, 2048): SAMPLED,
    (1 << 17, 2049): ["row"],
    (1 << 17, 1 << 17): ["row"],
    ((1 << 17) + 1, 2049): DIGITS,
    (1 << 22, 2048): SAMPLED,
    ((1 << 22) + 1, 2048): ["sample_long", "collect", "finish"],
    (1 << 27, 2048): ["sample_long", "collect", "finish"],
    ((1 << 27) + 1, 2048): DIGITS,
    ((1 << 27) + 1, 1): DIGITS,
}
"""The kernels of `generic` for u32 keys, by the length of a row and k."""


@pytest.mark.parametrize(("length", "take"), WAYS)
def test_the_length_of_a_row_and_k_decide_what_runs(length: int, take: int) -> None:
    for rows in (1, 7, 300):
        if rows * length <= MAX_N:
            assert launched("u32", rows * length, rows, take) == WAYS[length, take]


def test_digits_of_other_keys_and_no_keys() -> None:
    length, take = (1 << 17) + 1, 2049
    assert launched("u32", 0, 1, 1) == []
    assert launched("u8", length, 1, take) == ["clear", "count", *DIGITS[4:]]
    assert len(launched("u64", length, 1, take)) == 8 + 5


LAST = {"short_rows", "short_row", *WHOLE, "merge", "finish", "row", "order"}
"""The kernels that store a result: the last of each way."""


def selections() -> Iterator[Sort]:
    """Yield the selections of targets, of devices of a few lanes, and of drawn shapes."""
    for found in map(target.find, sampled()):
        for key in ("u16", "u32", "u64") if NIGHTLY else ("u32", "u64"):
            with suppress(Usage):
                yield found.sort("radix_select", key, Signature(value="index"))
    lanes = FEW_LANES.read_text(encoding="utf-8")
    for count in (1, 2, 4, 8, 64):
        text = lanes.replace("work_group = 4", f"work_group = {count}").replace("work_group = 2", "work_group = 1")
        found = target.parse(text, "few-lanes-device", "here")
        for key in ("u32", "u64"):
            with suppress(Usage):
                yield found.sort("radix_select", key)
    rng = np.random.default_rng(4)
    for place in map(target.find, ("cpu", "generic", "nvidia-hopper")):
        space = Space("radix_select", "u32", place.device, {}, 1 << 22, derived(place, "radix_select", "u32"))
        for _ in range(20 if NIGHTLY else 2):
            drawn = replaced(place.choices, {}, "radix_select", "u32", space.draw(0, rng) or {})
            yield replace(place, **drawn).sort("radix_select", "u32", Signature(value="index"))


def shapes(sort: Sort, rng: np.random.Generator, trials: int) -> Iterator[tuple[int, int, int]]:
    """Yield random (rows, length, k), many at the bounds of steps."""
    guards = [s.guard for s in sort.plan.steps]
    lengths = sorted({x for g in guards for x in (g.min_n, g.max_n)})
    takes = sorted({x for g in guards for x in (g.min_take, g.max_take)})
    for _ in range(trials):
        length, take = (
            int(rng.choice(ends)) + int(rng.integers(-1, 2)) if rng.random() < 0.6 else int(2 ** rng.uniform(0, 30))
            for ends in (lengths, takes)
        )
        length = min(max(length, 1), MAX_N)
        take = min(max(take, 1), length)
        most = MAX_N // length
        rows = min(int(2 ** rng.uniform(0, 30)), most) if rng.random() < 0.6 else min(int(rng.integers(1, 4)), most)
        yield rows, length, take


def regions(sort: Sort, step: Step, rows: int, length: int, take: int) -> dict[str, tuple[int, int]]:
    """Return the (begin, end) in bytes of what a launch addresses in scratch, by the name of its buffer."""
    p = sort.parts[0].params
    assert isinstance(p, radix_select.Params)
    chunks = -(-length // p.chunk.length)
    each = min(16, -(-rows * chunks // p.groups))
    entries = next(room for above, room in p.sampled.rooms if length > above)
    pairs = rows * -(-chunks // each) * take if step.kernel in CHUNKS else rows * (entries + p.sampled.blocks)
    sizes = {
        "lists": pairs * pair_bytes(p.key),
        "list_counts": 4 * rows,
        "words": 4 * (rows * p.row_words + 2 * rows * -(-length // p.tile)),
    }
    names = [b.name for b in sort.kernel(step.kernel).buffers]
    begins = {x: offset(b, rows * length) for x, b in zip(names, step.bindings, strict=True) if x in sizes}
    return {x: (begin, begin + sizes[x]) for x, begin in begins.items()}


def test_each_call_has_one_way_and_scratch_for_it() -> None:
    """Random shapes of all targets: one kernel stores the result; buffers in scratch do not overlap, and end in it."""
    rng, tried = np.random.default_rng(49), 0
    for sort in selections():
        for rows, length, take in shapes(sort, rng, 300 if NIGHTLY else 25):
            n, call = rows * length, (sort.name, rows, length, take)
            how = Options(segment_count=rows, take=take)
            steps = [x.step for x in launches(sort.plan, n, in_place=False, how=how)]
            assert sum(s.kernel in LAST for s in steps) == 1, (call, [s.kernel for s in steps])
            used = {x for step in steps for x in regions(sort, step, rows, length, take).items()}
            ends = sorted({place for _, place in used})
            limits = [*(begin for begin, _ in ends[1:]), sort.plan.scratch.bytes(n)]
            assert all(end <= limit for (_, end), limit in zip(ends, limits, strict=False)), (call, ends, limits)
            assert len(ends) == len({name for name, _ in used}), (call, "steps agree about the places of buffers")
            tried += 1
    assert tried > 700


@pytest.mark.parametrize("key", ["u8", "u32", "u64"])
def test_scratch_holds_the_words_of_all_rows(key: str) -> None:
    p = radix_select.Params(key=KEYS[key], row_limit=1000, capacity=64, work_group=32, items=4, bits=5)
    scratch = radix_select.plan(p).scratch
    assert scratch.bytes(p.row_limit) == 0
    for length in (1001, 1024, 1025, 1999, 5000):
        for rows in (1, 2, 3, 50):
            tiles = rows * -(-length // p.tile)
            assert 4 * rows * p.row_words + 8 * tiles <= scratch.bytes(rows * length), (length, rows)


@pytest.mark.parametrize(("key", "bytes_per_key"), [("u8", 4), ("u32", 4), ("u64", 5)])
def test_scratch_is_a_few_bytes_a_key(key: str, bytes_per_key: int) -> None:
    """Calls up to a chunk of keys need none, even of many rows."""
    for name in ("generic", "nvidia-hopper"):
        sort = target.find(name).sort("radix_select", key)
        assert sort.plan.scratch.bytes(4096) == 0 < sort.plan.scratch.bytes(4097)
        for n in (1 << 17, 1 << 18, 1 << 24, 1 << 30):
            assert sort.plan.scratch.bytes(n) <= bytes_per_key * n + (1 << 16)


def test_expected_selections() -> None:
    sort = target.find("generic").sort("radix_select", "f32", Signature(value="index"))
    keys = np.array([[1.0, -0.0, 0.0, 1.0], [np.nan, -np.inf, 2.0, 2.0]], np.float32).reshape(-1).view(np.uint32)
    how = Options(kind=2, descending=True, segment_count=2, take=3)
    assert positions(sort, keys, how).tolist() == [[0, 3, 2], [0, 2, 3]]
    assert positions(sort, keys, replace(how, descending=False, take=2)).tolist() == [[1, 2], [1, 2]]
    found, index = selected(sort, keys, None, how)
    assert index is not None and index.reshape(-1).tolist() == [0, 3, 2, 0, 2, 3]
    assert np.array_equal(found, keys[[0, 3, 2, 4, 6, 7]])
    many = np.arange(sorted_up_to(sort) * 2, dtype=np.uint32)[::-1].copy()
    how = Options(segment_count=1, take=sorted_up_to(sort) + 1)
    assert (np.diff(positions(sort, many, how)[0]) > 0).all(), "in the order of the row"


@pytest.mark.parametrize(
    ("n", "rows", "k", "line"),
    [
        (10, 3, 1, "10 keys cannot be divided"),
        (10, 0, 1, "10 keys cannot be divided"),
        (10, 2, 6, "give 1 to 5"),
        (10, 2, 0, "give 1 to 5"),
    ],
)
def test_wrong_numbers_are_refused(n: int, rows: int, k: int, line: str) -> None:
    sort = target.find("generic").sort("radix_select", "u32")
    with pytest.raises(Usage, match=line):
        operations.settled(sort, n, Options(segment_count=rows, take=k), ())
    operations.settled(sort, 0, Options(segment_count=rows, take=k), ())


@pytest.mark.parametrize("distinct", [1, 3, 1 << 32])
def test_the_oracle_takes_what_a_stable_sort_does(distinct: int) -> None:
    sort, rng = target.find("generic").sort("radix_select", "f32"), np.random.default_rng(distinct)
    for number in range(60):
        rows, length = int(rng.integers(1, 6)), int(rng.integers(1, 40))
        how = Options(
            kind=number % 3, descending=number % 2 > 0, segment_count=rows, take=int(rng.integers(length)) + 1
        )
        keys = rng.integers(0, distinct, rows * length, np.uint32)
        by = ordered(keys, how.kind, descending=how.descending).reshape(rows, length)
        assert (positions(sort, keys, how) == np.argsort(by, axis=1, kind="stable")[:, : how.take]).all()
        assert (unordered(by.reshape(-1), how.kind, descending=how.descending) == keys).all()


def test_the_oracle_of_numbers_of_rows_takes_what_each_row_does() -> None:
    """A row of equal length and k is that of plain rows; separate numbers select from its part alone."""
    plain = target.find("generic").sort("radix_select", "u32", Signature(value="v4", key_transform=True, rows=True))
    rng = np.random.default_rng(49)
    for _ in range(40):
        count, pitch = int(rng.integers(1, 6)), int(rng.integers(1, 40))
        options = Options(segment_count=count, take=int(rng.integers(pitch)) + 1)
        keys = rng.integers(0, 9, count * pitch, np.uint32)
        values = np.arange(len(keys), dtype=np.uint32).reshape(-1, 1)
        every = np.arange(count)
        same = Rows(
            lengths=np.full(count, pitch),
            starts=every * pitch,
            takes=np.full(count, options.take),
            value_starts=every * pitch,
            live=count,
        )
        for got, expected in zip(
            of_rows(plain, keys, values, options, same), selected(plain, keys, values, options), strict=True
        ):
            assert got is not None and expected is not None and (got == expected).all()
        lengths, takes = rng.integers(0, pitch + 9, count), rng.integers(0, options.take + 9, count)
        starts = rng.integers(0, len(keys) - pitch + 1, count)
        separate = Rows(lengths=lengths, starts=starts, takes=takes, value_starts=starts, live=count)
        out, after = of_rows(plain, keys, values, options, separate)
        assert after is not None
        for row in range(count):
            part = keys[starts[row] :][: min(lengths[row], pitch)]
            first = np.argsort(part, kind="stable")[: min(takes[row], options.take)]
            rest = options.take - len(first)
            result = slice(row * options.take, (row + 1) * options.take)
            assert out[result].tolist() == [*part[first].tolist(), *[0xFFFFFFFF] * rest]
            assert after[result, 0].tolist() == [*(first + starts[row]).tolist(), *[0xFFFFFFFF] * rest]


@pytest.mark.parametrize("feature", ["row_lengths", "row_starts", "row_takes", "row_count", "value_starts"])
def test_kernels_bind_numbers_of_rows_only_where_they_read_these(feature: str) -> None:
    """No kernel has more buffers than C's tables have room for, and none reads a number that it does not bind."""
    names = {"row_lengths": "lengths", "row_starts": "starts", "row_takes": "takes"}
    name = names.get(feature, feature)
    more = {feature: True} | ({"row_lengths": True} if feature == "row_starts" else {})
    signature = replace(Signature(value="v4", key_transform=True, rows=True), **more)
    sort = target.find("generic").sort("radix_select", "u32", signature)
    source = render(sort, "opencl")
    index = "[0]" if feature == "row_count" else "[row]"
    for kernel in sort.kernels:
        reads = f"{name}{index}" in source.parts[kernel.name]
        assert reads == (name in {b.name for b in kernel.buffers}), kernel.name
    every = replace(signature, row_lengths=True, row_starts=True, row_takes=True, row_count=True, value_starts=True)
    full = target.find("generic").sort("radix_select", "u32", every)
    assert max(len(k.buffers) for k in full.kernels) == 11  # HS_BINDINGS


def rows_of_keys(length: int, seed: int) -> dict[str, NDArray[np.uint32]]:
    """Return rows of keys: uniform, sorted, reversed, equal, mostly equal, and with periods."""
    rng = np.random.default_rng(seed)
    uniform = rng.integers(0, 1 << 32, length, np.uint32)
    ascending = np.arange(length, dtype=np.uint32)
    hot = np.where(rng.random(length) < 0.9, np.uint32(7), uniform)
    return {
        "uniform": uniform,
        "sorted": ascending,
        "reversed": ascending[::-1],
        "equal": np.zeros_like(uniform),
        "hot": hot,
        **{f"period {x}": ascending % np.uint32(x) for x in (2, 16, 256, 1000, 4096)},
        "waves": np.minimum(ascending & 255, 255 - (ascending & 255)),
    }


LENGTHS = (100_003, 1 << 17, (1 << 18) + 1, *[1 << 20, (1 << 20) + 1, (1 << 22) + 1] * NIGHTLY)
"""Lengths of rows with a list of each size."""


@pytest.mark.parametrize("name", ["nvidia-hopper", "generic"])
def test_a_sampled_bound_lists_k_keys_and_few_more(name: str) -> None:
    """By the positions that kernels sample; pairs of key and index differ, so equal keys are like sorted ones."""
    p = target.find(name).sort("radix_select", "u32").parts[0].params
    assert isinstance(p, radix_select.Params)
    for length in LENGTHS:
        q = p.sampled if length <= 1 << 22 else p.sampled_long
        takes = {k for above, most, longest in p.tiers if longest < length for k in (above + 1, most)}
        for kind, keys in rows_of_keys(length, 49).items():
            for take in sorted(takes):
                count = sampled_bound.listed(q, keys, take)
                assert take <= count <= sampled_bound.room(q, length), (length, take, kind, count)


@pytest.mark.parametrize("name", ["nvidia-hopper", "generic", "cpu"])
@pytest.mark.parametrize("length", [32769, 65537, 131071, 1 << 22])
def test_sampled_positions_differ(name: str, length: int) -> None:
    """Estimates of different blocks are different pairs, so one of them is the median."""
    p = target.find(name).sort("radix_select", "u32").parts[0].params
    assert isinstance(p, radix_select.Params)
    for sampled_keys in (1, 2, min(p.sampled.most, length // p.sampled.lanes)):
        places = sampled_bound.positions(p.sampled, length, sampled_keys).reshape(-1)
        assert len(np.unique(places)) == len(places) and places.min() >= 0 and places.max() < length


@pytest.mark.parametrize("api", ["vulkan"])
def test_short_rows_alone_have_pairs(api: str) -> None:
    """A bundle for few keys has no list in scratch: pairs are in local memory only."""
    sort = target.find("lavapipe").sort("radix_select", "u32", max_n=200)
    assert [k.name for k in sort.kernels if any(b.type == "pair" for b in k.buffers)] == []
    assert sort.paired and "hs_pair_less(hs_pair a" in render(sort, api).text
