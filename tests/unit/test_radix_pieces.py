"""Hybrid sorts that compare a sample of the keys first, without a device: the numpy model executes them, and invalid
tables are rejected.

- A sample says how many of the highest digits of pairs are passed: two, three, four or all.  Each choice sorts keys
  with the passes that it takes and no others; all are stable, in and out of place.
- Of keys alone, a sample says whether buckets are tried.
- The model can fail: every row of a plan is dropped or changed in turn, and each fault is noticed.
- Scratch holds the table of pieces; every mistake in a table is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hybrid_keys import SMALL as DEALT
from hybrid_keys import play as play_keys
from hybrid_pairs import DEVICE, even, play
from hybrid_pairs import counts as finish_counts
from models.radix import key_buckets as model_keys
from models.radix import model, sample
from models.radix import pieces as model_pieces
from models.radix.memory import Fault
from nightly import NIGHTLY, thinned
from radix_shapes import shape
from sorts import radix_params as params
from sorts import sort_by, survivors
from steps import changed

from hsgen.algorithms import radix
from hsgen.algorithms.radix import portions
from hsgen.algorithms.radix.hybrid import pairs, pieces
from hsgen.algorithms.radix.hybrid.pieces import Pieces
from hsgen.algorithms.radix.words import max_n, words
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, offset
from hsgen.core.keys import KEYS, PLAIN, VALUES, Signature
from hsgen.core.plan import Plan, Step
from hsgen.core.records import changed as altered
from hsgen.core.sort import Sort
from hsgen.targets import assembly, target
from hsgen.tools.validate.cases import around

SMALL: dict[str, Any] = {
    "coordination": "lookback",
    "bits": 8,
    "redo": False,
    "ranker": "match_ballot",
    "subgroup": 8,
    "sample": 64,
    "pair_bucket.above": 416,
    "pair_bucket.work_group": 8,
    "pair_bucket.items": 4,
    "pair_bucket.bins": 16,
}
"""Buckets of at most 32 pairs, of 26 on average."""
KEYS_ALONE = {k: v for k, v in SMALL.items() if not k.startswith("pair_bucket.")}
LARGE: dict[str, Any] = {"pair_bucket.above": 6656, "pair_bucket.items": 16}
"""Buckets of at most 128 pairs: more than a place may hold without being crowded."""
FULL: dict[str, Any] = {**DEALT, "partition.above": 104, "bucket.items": 8, "bucket.bins": 16}
"""The same of keys alone."""
MANY = 12_000
LANES = Path(__file__).parents[1] / "device" / "lanes"
V4, INDEX = Signature(value="v4"), Signature(value="index")


def sort_of(signature: Signature, key: str = "u32", **values: Any) -> Sort:
    """Return the sort of a shape, assembled as for targets."""
    p = replace(shape(key, **{**SMALL, **values}), signature=signature)
    return sort_by("radix", p, signature)


def alone(signature: Signature = PLAIN, key: str = "u32", **values: Any) -> Sort:
    """Return such a sort of keys alone, with buckets of at most 64 keys, of 52 on average."""
    p = shape(key, **{**KEYS_ALONE, **DEALT, **values})
    return sort_by("radix", replace(p, signature=signature), signature)


def counts(p: radix.Params) -> list[int]:
    """Return counts around those at which the sort changes its way, and a large one."""
    return [*(finish_counts(p, 900) if p.has_pair_buckets else (101, 104, 105, 416, 417, 900)), MANY]


def bits(p: radix.Params, n: int) -> int:
    """Return how many of the highest bits number the buckets."""
    return max(1, (-(-n // pieces.limit(p)) - 1).bit_length())


def bits_of(rng: np.random.Generator, n: int, p: radix.Params) -> Any:
    """Return random keys."""
    return rng.integers(0, p.key.greatest, n, f"u{p.key.bytes}", endpoint=True)


def narrow(rng: np.random.Generator, n: int, p: radix.Params, digits: int, values: int) -> Any:
    """Return keys with `values` values, a power of two, in each of the highest digits."""
    keys, top, none = bits_of(rng, n, p), p.key.bits, 256 - values
    return keys & keys.dtype.type((1 << top) - 1 - sum(none << top - 8 * d for d in range(1, digits + 1)))


def few(rng: np.random.Generator, n: int, p: radix.Params, values: int) -> Any:
    """Return keys of `values` values."""
    return bits_of(rng, values, p)[rng.integers(0, values, n)]


def alike(rng: np.random.Generator, n: int, p: radix.Params, many: int) -> Any:
    """Return keys of which many agree in all but the lowest digit, and others do not."""
    keys = bits_of(rng, n, p)
    one, some = keys.dtype.type, rng.choice(n, many, replace=False)
    keys[some] = keys[0] >> one(8) << one(8) | keys[some] & one(255)
    return keys


def kinds(rng: np.random.Generator, p: radix.Params, n: int) -> Iterator[tuple[str, Any]]:
    """Yield keys, each kind uneven in a different way."""
    keys = even(rng, n, p.key.name)
    one, left = keys.dtype.type, p.key.bits - bits(p, n)
    yield "even", keys
    yield "sorted", np.sort(keys)
    yield "random", bits_of(rng, n, p)
    yield "equal in each bucket", keys >> one(left) << one(left)
    yield "one place in each bucket", keys & ~one(15 << left - 4)
    yield "all equal", np.full(n, p.key.greatest, keys.dtype)
    yield "constant digit", keys >> one(8)
    yield "constant digits", keys & ~one(0xFFFF << p.key.bits - 24)
    yield "few values of a digit", narrow(rng, n, p, 1, 8)
    yield "few values of two digits", narrow(rng, n, p, 2, 8)
    yield "few values of three digits", narrow(rng, n, p, 3, 8)
    yield "few values of four digits", narrow(rng, n, p, 4, 2)
    yield "few values", few(rng, n, p, max(2, n // 1000))
    yield "few values that agree", few(rng, n, p, 12) & ~one(0xFEFE << p.key.bits - 16)
    yield "each value often", few(rng, n, p, max(2, n // 12))
    yield "each value repeated", few(rng, n, p, max(2, n // 40))
    yield "one value too often", np.where(np.arange(n) < 2 * pieces.capacity(p), one(n), bits_of(rng, n, p))
    yield "some alike", alike(rng, n, p, n // 60)
    yield "many places of few", bits_of(rng, n, p) & ~one((1 << left) - 1 - 0x155)
    hot = rng.random(n) < 0.6
    yield (
        "one value among others",
        np.where(hot, one(12345), rng.integers(0, 1 << 31, n).astype(bits_of(rng, 1, p).dtype)),
    )


def planned(sort: Sort) -> Step:
    """Return the row that chooses the digits."""
    return next(s for s in sort.plan.steps if s.kernel.startswith("ahead_starts"))


def partitioned(p: radix.Params, keys: Any) -> bool:
    """Whether keys alone end in buckets that hold them."""
    if not p.has_key_buckets or model_keys.in_vain(p, keys):
        return False
    return bool(np.bincount(sample.chosen(p, keys).buckets(keys)).max() <= pieces.capacity(p))


def lowest(sort: Sort, keys: Any) -> int:
    """Return the lowest digit that is passed before buckets are sorted on chip: 0 where all are, and the number of
    digits where none is."""
    p, sizes = params(sort), planned(sort).argument.value
    live = [len(np.unique(keys >> keys.dtype.type(s) & keys.dtype.type((1 << w) - 1))) > 1 for s, w in p.digits]
    mean, more = sizes & (1 << pairs.SLACK) - 1, sizes >> pairs.SLACK
    if partitioned(p, keys):
        return len(live)
    return model_pieces.chosen(sample.taken(p, keys), live, p.digit, mean, mean + mean * more // 128)


def without(plan: Plan, low: int, *, ahead: bool = True, behind: bool = True) -> Plan:
    """Return a plan without the passes over digits below `low`, and without the kernels of buckets before or after the
    passes."""
    last = max(i for i, s in enumerate(plan.steps) if s.kernel == "onesweep")
    kept = []
    for i, step in enumerate(plan.steps):
        passes = step.kernel == "onesweep" and (step.pass_number or 0) < low
        bucket = step.kernel.startswith(("bucket", "pair_bucket", "range_sort"))
        if not (passes or (bucket and not (behind if i > last else ahead))):
            kept.append(step)
    return replace(plan, steps=tuple(kept))


def played(sort: Sort, plan: Plan, keys: Any, **more: Any) -> None:
    """Run one call and compare with the oracle."""
    (play if sort.signature.value_bytes else play_keys)(sort, plan, keys, **more)


SHAPES = [
    *((sort_of, key, value, more) for more in (SMALL, LARGE) for value in ("v4", "index") for key in ("u64", "u32")),
    *((alone, key, "none", more) for more in (DEALT, FULL) for key in ("u64", "u32")),
]


@pytest.mark.parametrize(("made", "key", "value", "more"), thinned(SHAPES, 3))
def test_every_kind_is_sorted(made: Any, key: str, value: str, more: dict[str, Any]) -> None:
    """In and out of place; in the fast run in turns."""
    sort = made(Signature(value=value), key, **more)
    p, rng = params(sort), np.random.default_rng(1)
    for n in (6657, MANY) if more is LARGE else counts(p):
        for number, (_, keys) in enumerate(kinds(rng, p, n)):
            for in_place in (False, True) if NIGHTLY else ((number + n) % 2 == 1,):
                played(sort, sort.plan, keys, in_place=in_place)
                if value == "index":
                    play(sort, sort.plan, keys, in_place=in_place, how=Options(discard=True))


@pytest.mark.parametrize(("made", "key"), [(sort_of, "u32"), (sort_of, "u64"), (alone, "u64")])
def test_exactly_the_passes_that_a_sample_asks_for_sort_keys(made: Any, key: str) -> None:
    """None where keys alone are partitioned; two to five passes, which buckets on chip follow; or all of them."""
    sort = made(V4 if made is sort_of else PLAIN, key)
    p, found, rng = params(sort), {}, np.random.default_rng(2)
    uneven = {"constant digits", "few values of two digits", "few values of three digits", "one value too often"}
    for n in (417, 1000, MANY):
        for what, keys in kinds(rng, p, n):
            low = found[what] = lowest(sort, keys)
            own = without(sort.plan, low, ahead=low == len(p.digits), behind=0 < low < len(p.digits))
            played(sort, own, keys, in_place=False)
            if n == MANY and 0 < low < len(p.digits) and what in uneven:
                for other in (without(own, 0, ahead=False, behind=False), without(own, low + 1)):
                    with pytest.raises((AssertionError, Fault)):
                        played(sort, other, keys, in_place=False)
    top, last = len(p.digits) - 2, len(p.digits) if p.has_key_buckets else len(p.digits) - 2
    assert found["even"] == last and found["all equal"] == 0
    assert found["few values of four digits"] == (top - 3 if key == "u64" and not p.has_key_buckets else 0)
    if p.has_key_buckets:
        assert set(found.values()) >= {0, top, last}
        return
    assert found["one value too often"] == found["each value often"] == top
    assert found["few values that agree"] == top - 1 and found["equal in each bucket"] == 0
    if key == "u64":
        assert [found[f"few values of {x} digits"] for x in ("two", "three")] == [top - 1, top - 2]
    del found["one value among others"]  # a test of its own has it
    assert set(found.values()) == ({0, 1, 2} if key == "u32" else {0, 3, 4, 5, 6})


@pytest.mark.parametrize(
    ("lg", "share", "passes"),
    [(15, 0.99999, 4), (15, 0.99, 2), (15, 0.6, 2), *((lg, share, 4) for lg in (17, 21) for share in (0.99, 0.6, 0.1))],
)
def test_a_frequent_key_among_others_takes_more_passes(lg: int, share: float, passes: int) -> None:
    """A work-group sorts a bucket of equal keys and others, so few others may share the digits by which passes run.

    If the equal keys are too many for a work-group, passes run by all digits.
    """
    rng, n = np.random.default_rng(1), 1 << lg
    keys = np.where(rng.random(n) < share, np.uint32(0x7824A24F), rng.integers(0, 1 << 32, n, np.uint32))
    p = replace(params(sort_of(V4, "u32")), sample=2048)
    found = sample.taken(p, keys)
    assert found.frequent
    assert model_pieces.chosen(found, [True] * 4, p.digit, 4096, 4096) == 4 - passes


@pytest.mark.parametrize("key", ["u32", "u64"])
@pytest.mark.parametrize("lg", [20, 24, 26])
@pytest.mark.parametrize("share", [0.01, 0.03])
def test_a_key_of_some_copies_shares_the_digits_of_passes_with_no_others(key: str, lg: int, share: float) -> None:
    """Its copies are more than a work-group holds.  Values that all have copies stay in buckets after two passes."""
    rng, p = np.random.default_rng(1), replace(params(sort_of(V4, key)), sample=4096)
    live, others = [True] * len(p.digits), bits_of(rng, p.sampled, p)
    keys = np.where(rng.random(p.sampled) < share, others.dtype.type(0x7824A24F), others)
    sampled = sample.taken(p, keys, 1 << lg)
    assert sampled.often and not sampled.frequent
    expected = 0 if key == "u32" else len(live) - (3 if lg == 20 else 4)
    assert model_pieces.chosen(sampled, live, p.digit, 2048, 2816) == expected
    sampled = sample.taken(p, few(rng, p.sampled, p, 64), 1 << lg)
    assert sampled.often and model_pieces.chosen(sampled, live, p.digit, 2048, 2816) == len(live) - 2


def watch(monkeypatch: pytest.MonkeyPatch, look: Callable[[radix.Params, Any, Any], None]) -> None:
    """Call `look` with the parameters, the memory and the pass before each sort of ranges."""
    run = model_pieces.PLAY["range_sort"]

    def settle(p: radix.Params, m: Any, at: Any, failing: Any) -> None:
        look(p, m, at)
        run(p, m, at, failing)

    monkeypatch.setitem(model_pieces.PLAY, "range_sort", settle)


def test_a_long_run_is_a_piece_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of a key that a work-group cannot hold are in order already, so they are not sorted with other keys."""
    seen = []

    def look(_: radix.Params, m: Any, at: Any) -> None:
        keys = m.buffers[1][: at.n]
        seen.extend(set(keys[begin:end].tolist()) for begin, end in m.words["pieces"] if end - begin > 256)

    watch(monkeypatch, look)
    rng, sort = np.random.default_rng(3), sort_of(V4, "u64", **{**LARGE, "sample": 1024})
    keys = bits_of(rng, MANY, params(sort))
    hot = keys[0] = keys[0] >> np.uint64(57) << np.uint64(57)  # the first key of its bucket, so that others follow
    play(sort, sort.plan, np.where(rng.random(MANY) < 0.05, hot, keys), in_place=False)
    assert seen == [{hot}]


def test_every_way_of_pieces_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets are cut, pieces are empty, crowded or too large."""
    seen: set[str] = set()

    def look(p: radix.Params, m: Any, _: Any) -> None:
        seen.update({"over"} if m.words["over"][0] else ())
        for begin, end in m.words["rest"] if not m.words["uneven"][0] else ():
            seen.add("large" if end - begin > pairs.capacity(p) else "crowded")
        for begin, end in m.words.get("pieces", ()):
            seen.add("empty" if begin == end else "piece")

    watch(monkeypatch, look)
    rng, sort = np.random.default_rng(3), sort_of(V4, "u64", **LARGE)
    for _, keys in kinds(rng, params(sort), MANY):
        play(sort, sort.plan, keys, in_place=False)
    assert seen == {"over", "large", "crowded", "empty", "piece"}


@pytest.mark.parametrize("made", [sort_of, alone])
def test_types_orders_ranges_and_counts(made: Any) -> None:
    rng, tried, value = np.random.default_rng(4), 0, "index" if made is sort_of else "none"
    for key in ("u32", "u64"):
        sort = made(Signature(value=value, key_transform=True, device_count=True, bit_range=True), key)
        p = params(sort)
        for number, n in enumerate([*counts(p)[:-1], 3000] * 3):
            for what, keys in kinds(rng, p, n):
                how = Options(kind=number % 3, descending=number % 2 == 1)
                how = replace(how, discard=value == "index" and bool(rng.integers(2)))
                count = int(rng.integers(0, n + 3)) if rng.random() < 0.6 else None
                if number % 3 == 1:
                    how = replace(how, begin=int(rng.integers(9)), end=int(rng.integers(9, p.key.bits)))
                tried += how.end is None and what == "random" and n > 416
                how = replace(how, device_count=count is not None)
                played(sort, sort.plan, keys, in_place=bool(rng.integers(2)), how=how, count=count)
    assert tried > 10


KERNELS = (
    *("histogram", "onesweep", "ahead_starts", "bucket_bounds", "bucket_cuts", "pair_bucket", "range_sort"),
    *("first_histogram", "bucket"),
)


def mutants(plan: Plan, low: int, many: int) -> Iterator[tuple[str, Plan]]:
    """Yield plans with one row that counts above `low` take missing or wrong; the largest has `many` buckets."""
    for i, step in enumerate(plan.steps):
        portion = step.kernel == "onesweep" and step.guard.min_n >= MANY
        on_chip = step.kernel in ("pair_bucket", "bucket")
        if step.kernel not in KERNELS or portion or (step.kernel == "pair_bucket" and step.guard.min_n >= 1664):
            continue  # a number of buckets that no count of this test uses
        if step.kernel == "bucket" and not step.guard.min_n < MANY <= step.guard.max_n:
            continue  # keys of other counts may end in buckets either way
        rows: dict[str, Step | None] = {
            "dropped": None,
            "runs too late": changed(step, min_n=step.guard.min_n + 1),
            "ends too early": changed(step, max_n=step.guard.max_n - 1 if on_chip else low + 1),
            "only in place": changed(step, place="in"),
            "only out of place": changed(step, place="out"),
            "other buffers": replace(step, bindings=step.bindings[::-1]),
        }
        if len(step.bindings) == 1:
            del rows["other buffers"]
        if step.kernel == "bucket":
            del rows["ends too early"]
        if step.kernel == "bucket" or (step.kernel == "range_sort" and step.argument.value):
            del rows["runs too late"]  # no keys of that count need it
        if step.kernel == "ahead_starts":
            rows["another mean"] = changed(step, value=step.argument.value - 1)
        if step.kernel in ("bucket", "range_sort") and step.argument.value:
            rows["partitioned ones"] = changed(step, value=0)
        if step.kernel in ("histogram", "first_histogram"):
            rows["a group too few"] = changed(step, add=step.grid.add - step.grid.div)
            rows["a lower cap"] = changed(step, cap=step.grid.cap - 1)
        if on_chip or step.kernel == "range_sort":
            rows["a group too few"] = changed(step, cap=step.grid.cap - 1)
        if step.kernel in ("bucket_bounds", "bucket_cuts"):  # 8 lanes each, and a start more than buckets
            rows["a group too few"] = changed(step, cap=many // 8 if step.kernel == "bucket_bounds" else many // 4 - 1)
        if step.pass_number is not None:
            rows["other pass"] = changed(step, number=step.pass_number ^ 1)
        for what, row in rows.items():
            steps = (*plan.steps[:i], *([row] if row else []), *plan.steps[i + 1 :])
            yield f"{i} {step.kernel}: {what}", replace(plan, steps=steps)


@pytest.mark.parametrize("made", [sort_of, alone])
def test_every_fault_in_a_plan_is_noticed(made: Any) -> None:
    signature = V4 if made is sort_of else PLAIN
    key, groups = ("u32", 300) if made is sort_of else ("u64", 200)
    sort = made(signature, key, work_group=8, groups=groups, split_above=1 << 30)  # portions: see test_radix.py
    p, rng = params(sort), np.random.default_rng(5)
    low, on_chip = (
        Pieces(p).span[0],
        [s.guard for s in sort.plan.steps if s.kernel in ("pair_bucket", "bucket")],
    )
    ends = [n for guard in on_chip for n in (guard.min_n + 1, guard.max_n) if n <= 1664]
    inputs = [bits_of(rng, p.alone + 1, p)]
    for n in ends:
        inputs += [even(rng, n, key), *([bits_of(rng, n, p) >> np.uint64(8)] if p.has_key_buckets else [])]
    inputs += [keys for n in (low + 1, 1000, MANY) for _, keys in kinds(rng, p, n)]

    def check(plan: Plan) -> None:
        for keys in inputs:
            for in_place in (False, True):
                played(sort, plan, keys, in_place=in_place)

    check(sort.plan)
    made_wrong = mutants(sort.plan, low, 1 << bits(p, MANY))
    if p.has_key_buckets:  # passes are those of pairs
        made_wrong = ((what, plan) for what, plan in made_wrong if " onesweep: " not in what)
    tried, survived = survivors(made_wrong, check, Fault)
    assert tried > 40 and survived == [], survived


def test_a_table_that_exceeds_scratch_is_noticed() -> None:
    sort = sort_of(V4)
    p, keys = params(sort), bits_of(np.random.default_rng(6), MANY, params(sort))
    spare = sort.plan.scratch.bytes(MANY) - offset(planned(sort).bindings[0], MANY) - 4 * words(p).tile_states.start
    for room in (4 * (12 << pairs.bits(p, MANY)) + 4, 4 * (12 << pairs.bits(p, MANY))):
        rules = tuple(replace(r, plus=r.plus - spare + room) for r in sort.plan.scratch.rules)
        plan = replace(sort.plan, scratch=replace(sort.plan.scratch, rules=rules))
        if room % 16:
            play(sort, plan, keys, in_place=False)
        else:
            with pytest.raises(Fault):
                play(sort, plan, keys, in_place=False)


def test_the_sample_takes_a_work_group_of_its_own() -> None:
    for sort, kernel in ((alone(), "first_histogram"), (sort_of(V4), "histogram")):
        keys = bits_of(np.random.default_rng(9), 1000, params(sort))
        for i, step in enumerate(sort.plan.steps):
            if step.kernel == kernel:
                fewer = changed(step, add=step.grid.add - step.grid.div, cap=step.grid.cap - 1)
                plan = replace(sort.plan, steps=(*sort.plan.steps[:i], fewer, *sort.plan.steps[i + 1 :]))
                with pytest.raises(Fault):
                    model.run(
                        params(sort), plan, keys, np.zeros((1000, 1), np.uint32) if sort.signature.value_bytes else None
                    )


# Scratch and tables.


@pytest.mark.parametrize("value", ["v4", "index"])
@pytest.mark.parametrize("key", ["u32", "u64"])
def test_the_table_of_pieces_fits_in_scratch(key: str, value: str) -> None:
    """Of every shape of the target, and for every count up to 2^31 of which it is tried."""
    sort = target.find("nvidia-hopper").default(key, Signature(value=value))
    tried = 0
    for p in {x.params for x in sort.parts if getattr(x.params, "pair_bucket", False)}:
        plan, most = radix.plan(p), min(pairs.most(p), max_n(p), 1 << 31)
        assert p.sampled and portions.count(p) == 2
        for b in range(1, pairs.top_bits(p) + 1):
            for n in {max(pairs.least(p), pairs.limit(p) << b - 1) + 1, min(most, pairs.limit(p) << b)}:
                if pairs.least(p) < n <= most and pairs.bits(p, n) == b:
                    at, tried = offset(planned(replace(sort, plan=plan)).bindings[0], n), tried + 1
                    assert at + 4 * (words(p).tile_states.start + (12 << b) + 1) <= plan.scratch.bytes(n), (p, n)
    assert tried > 20


@pytest.mark.parametrize("more", [{}, {"bits": 4}, {"items": 3}, LARGE, {"groups": 2000, "work_group": 64, "items": 2}])
def test_the_table_of_pieces_of_small_shapes_fits_in_scratch(more: dict[str, Any]) -> None:
    for key in ("u32", "u64"):
        p = shape(key, **{**SMALL, **more})
        if radix.problems(p, DEVICE):
            continue
        sort = sort_of(V4, key, **more)
        p = params(sort)
        for n in (n for n in around([pairs.limit(p) << b for b in range(1, 17)], pairs.most(p)) if n > pairs.least(p)):
            need = offset(planned(sort).bindings[0], n) + 4 * (
                words(p).tile_states.start + (12 << pairs.bits(p, n)) + 1
            )
            assert need <= sort.plan.scratch.bytes(n), (more, n)


BAD: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"sample": 48}, "sample", {"sample": 32}),
    ({"waitless": True}, "sample", {"sample": 0}),
    ({"bits": 6}, "sample", {"bits": 8}),
    ({"bits": 6}, "sample", {"bits": 4}),
    ({"sorted_exit": True}, "sample", {"sorted_exit": False}),
    ({"ranker": "bitmask", "subgroup": 1}, "sample", {"ranker": "match_ballot", "subgroup": 8}),
    (
        {
            "pair_bucket.above": 1100 << 20,
            "pair_bucket.work_group": 1024,
            "pair_bucket.items": 40,
            "pair_bucket.bins": 1024,
        },
        "pair_bucket.items",
        {"pair_bucket.items": 30},
    ),
]


def test_a_sample_needs_buckets() -> None:
    p = shape(**KEYS_ALONE)
    assert [where for where, _, _ in radix.problems(p, DEVICE)] == ["sample"]
    assert radix.problems(replace(p, sample=0), DEVICE) == []


@pytest.mark.parametrize(("wrong", "key", "right"), BAD)
def test_every_mistake_is_named_once(wrong: dict[str, Any], key: str, right: dict[str, Any]) -> None:
    p = shape(**{**SMALL, **wrong})
    assert [where for where, _, _ in radix.problems(p, DEVICE)] == [key]
    assert radix.problems(altered(p, right), DEVICE) == []


def test_a_sample_of_keys_alone_has_constraints_too() -> None:
    p = params(alone())
    assert radix.problems(p, DEVICE) == []
    for wrong in ({"sample": 100}, {"waitless": True}, {"bits": 6}, {"sorted_exit": True}):
        assert [where for where, _, _ in radix.problems(replace(p, **wrong), DEVICE)] == ["sample"]


@pytest.mark.parametrize("given", ["15", "8193", "0", "-1", "2.5", "true", '"many"'])
def test_bad_samples_of_a_target_are_named(given: str) -> None:
    text = (LANES / "pieces8.toml").read_text(encoding="utf-8")
    with pytest.raises(Usage) as e:
        target.parse(text.replace("sample = 64", f"sample = {given}", 1), "pieces8", "pieces8.toml")
    assert len(e.value.args) == 1 and "radix.u32.hybrid.sample" in str(e.value)


def test_tables_of_a_target_are_checked() -> None:
    """Parameters of a table are those of plain keys, of which there are no buckets of pairs."""
    text = (LANES / "pieces8.toml").read_text(encoding="utf-8")
    for before, after in (
        ("bits = 8", "bits = 6"),
        ("sample = 64", "sample = 48"),
        ("groups = 8", "groups = 8\nsorted_exit = true"),
    ):
        with pytest.raises(Usage, match=r"radix\.u32\.hybrid\.sample"):
            target.parse(text.replace(before, after, 1), "pieces8", "pieces8.toml")


def test_other_forms_take_no_sample() -> None:
    """Where neither buckets of keys alone nor of pairs are tried, kernels and scratch are those of look-back alone."""
    own = {k: shape(k, **{**SMALL, "redo": True}) for k in ("u32", "u64")}
    for value in VALUES:
        for key in ("u64",) if value == "packed" else ("u16", "u32", "u64"):
            p = radix.specialize(own, KEYS[key], Signature(value=value), DEVICE)
            assert p is not None
            has = value in ("v4", "index") and key != "u16"
            assert (p.sampled > 0) == has
            names = {k.name for k in radix.kernels(p)}
            assert ("range_sort" in names) == ("bucket_cuts" in names) == has and "pair_bucket_rest" not in names


def test_bytes_moved() -> None:
    """Keys are read four times, values three times, both are written three times; other passes move nothing."""
    for key in ("u32", "u64"):
        sort = sort_of(V4, key)
        p, n = params(sort), 4000
        least = n * (4 * p.key.bytes + 3 * 4 + 3 * (p.key.bytes + 4))
        tables = 4 * p.radix * -(-n // p.tile)
        assert least < assembly.traffic(sort, n) < least + 10 * tables
        bare = replace(sort, plan=without(sort.plan, len(p.digits) - 2))
        assert assembly.traffic(sort, n) == assembly.traffic(bare, n)
        assert assembly.traffic(sort, n) < assembly.traffic(sort_of(V4, key, **{"pair_bucket.above": 1 << 20}), n)
