"""hsgen.distributed over a process group of threads: every result is that of one sort of all keys."""

from __future__ import annotations

import threading
import time
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from doc_blocks import ROOT, only
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import NIGHTLY

from hsgen import distributed
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.keys import BFLOAT16, TYPES
from hsgen.distributed import Threads, splitters
from hsgen.distributed.local import Run
from hsgen.distributed.numpy_local import NumpyLocal

NUMBERS = sorted({t.element for t in TYPES.values()} - {BFLOAT16})
EXAMPLES = 300 if NIGHTLY else 20


def keys_of(rng: np.random.Generator, kind: str, n: int, distinct: int) -> Any:
    """Return n keys of a type; `distinct` 0 is any bits, else the number of distinct keys."""
    dtype = np.dtype(kind)
    if kind == "bool":
        return rng.integers(0, 2, n).astype(bool)
    size = distinct or n
    pool = rng.integers(0, 256, size * dtype.itemsize, np.uint8).view(dtype)
    if dtype.kind == "f" and size > 5:
        pool[:5] = [np.nan, -np.nan, 0.0, -0.0, np.inf]
    return pool[rng.integers(0, size, n)] if n else pool[:0]


def in_order(keys: Any, descending: bool) -> Any:
    """Return the indices of a stable sort in numeric order, by a rank of every key among the distinct keys."""
    _, rank = np.unique(keys, return_inverse=True, equal_nan=True)
    return np.argsort(-rank if descending else rank, kind="stable")


def split(x: Any, lengths: list[int]) -> list[Any]:
    """Return consecutive parts of these lengths."""
    return np.split(x, np.cumsum(lengths)[:-1])


def same(result: Any, expected: Any) -> bool:
    return result.dtype == expected.dtype and np.array_equal(result, expected, equal_nan=result.dtype.kind == "f")


LENGTHS = st.lists(st.one_of(st.just(0), st.integers(0, 200)), min_size=1, max_size=4)


@settings(max_examples=EXAMPLES, deadline=None)
@given(LENGTHS, st.sampled_from(NUMBERS), st.booleans(), st.sampled_from([0, 1, 2, 7]), st.data())
def test_parts_are_those_of_one_sort(lengths: list[int], kind: str, descending: bool, distinct: int, data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    ranks, total = len(lengths), sum(lengths)
    keys, values = keys_of(rng, kind, total, distinct), rng.integers(0, 1 << 60, (total, 3))
    sizes = splitters.even(total, ranks)
    chosen, unit, small = data.draw(st.booleans()), data.draw(st.sampled_from([1, 16])), data.draw(st.booleans())
    chunks = data.draw(st.sampled_from([1, 3, 4]))
    if chosen:
        at = sorted(data.draw(st.lists(st.integers(0, total), min_size=ranks - 1, max_size=ranks - 1)))
        sizes = np.diff([0, *at, total]).tolist()
    shards, moved = split(keys, lengths), split(values, lengths)

    def program(group: Any) -> Any:
        i, group.unit, group.small = group.rank, unit, small << 20
        named: dict[str, Any] = {"descending": descending, "group": group, "size": sizes[i] if chosen else None}
        alone = distributed.sort(shards[i], **named)
        pairs = distributed.sort(shards[i], moved[i], **named)
        return alone, pairs, distributed.argsort(shards[i], **named)

    order = in_order(keys, descending)
    expected, expected_values, expected_index = (split(x[order], sizes) for x in (keys, values, np.arange(total)))
    with patch.object(NumpyLocal, "chunks", lambda self, sizes, item: chunks):
        results = Threads(ranks).run(program)
    for i, (alone, pairs, index) in enumerate(results):
        assert same(alone, expected[i]) and same(pairs.keys, expected[i])
        assert same(pairs.values, expected_values[i]) and same(index, expected_index[i])
    assert same(np.concatenate([*shards]), keys)  # inputs are unchanged


@settings(max_examples=EXAMPLES, deadline=None)
@given(LENGTHS, st.sampled_from(NUMBERS), st.booleans(), st.sampled_from([0, 2, 9]), st.data())
def test_first_keys_and_groups_are_those_of_all_keys(
    lengths: list[int], kind: str, largest: bool, distinct: int, data: Any
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    ranks, total = len(lengths), sum(lengths)
    keys, values = keys_of(rng, kind, total, distinct), rng.integers(-99, 99, total).astype(np.int32)
    k = data.draw(st.integers(0, total))
    shards, moved = split(keys, lengths), split(values, lengths)

    def program(group: Any) -> Any:
        i = group.rank
        named: dict[str, Any] = {"group": group}
        first = distributed.topk(shards[i], k, largest=largest, **named)
        groups = [
            distributed.group_by(shards[i], moved[i], reduction=r, descending=largest, **named)
            for r in ("sum", "min", "max")
        ]
        return first, distributed.unique(shards[i], return_counts=True, **named), groups

    results = Threads(ranks).run(program)
    order = in_order(keys, largest)[:k]
    for first, _, _ in results:
        assert same(first.keys, keys[order]) and same(first.values, order)
    distinct_keys, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True, equal_nan=True)
    sizes = splitters.even(len(distinct_keys), ranks)
    assert [len(x[1][0]) for x in results] == sizes
    assert same(np.concatenate([x[1][0] for x in results]), distinct_keys)
    assert same(np.concatenate([x[1][1] for x in results]), counts)
    step = -1 if largest else 1
    for j, reduce in enumerate((np.add, np.minimum, np.maximum)):
        result = [x[2][j] for x in results]
        by_key = [reduce.reduce(values[inverse == g].astype(np.int64)) for g in range(len(distinct_keys))]
        assert same(np.concatenate([x.keys for x in result]), distinct_keys[::step])
        assert np.concatenate([x.values for x in result]).tolist() == by_key[::step]
        assert same(np.concatenate([x.counts for x in result]), counts[::step])


def test_sums_and_counts_exceed_32_bits() -> None:
    def program(group: Any) -> Any:
        values = np.full(10, 2**31 - 1, np.int32)
        return distributed.group_by(np.zeros(10, np.uint8), values, group=group)

    result = Threads(3).run(program)
    assert result[0].values.tolist() == [30 * (2**31 - 1)] and result[0].counts.tolist() == [30]
    assert not len(result[1].keys) and not len(result[2].values)


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_boundaries_are_exact_where_counts_exceed_32_bits(bits: int) -> None:
    """Counts are those of imagined shards: each key occurs 2^34 times, the last of all far more often."""
    rng, many = np.random.default_rng(bits), 1 << 34
    keys = np.sort(rng.integers(0, 1 << bits, 50, np.uint64))
    keys[-1] = (1 << bits) - 1
    n = many * len(keys)
    sizes = [n, 3, 2 * n - 3]

    def program(group: Any) -> Any:
        local = NumpyLocal(f"u{bits}", descending=False)
        local.counts = lambda run, probes: np.searchsorted(keys, probes.view(np.uint64)) * many  # type: ignore[method-assign]
        return splitters.cuts_of_ranks(group, local, Run(None), [n] * 3, sizes)

    at = Threads(3).run(program)
    assert all((x == at[0]).all() for x in at) and at[0].sum(axis=0).tolist() == [0, n, n + 3, 3 * n]
    assert (np.diff(at[0], axis=1) >= 0).all() and at[0][:, -1].tolist() == [n] * 3


def errors_of(ranks: int, program: Any, timeout: float = 20.0) -> list[str]:
    """Return the error of each rank, or "" if it raised none."""
    messages = [""] * ranks

    def wrapped(group: Any) -> None:
        try:
            program(group)
        except Exception as e:
            messages[group.rank] = str(e)

    Threads(ranks, timeout=timeout).run(wrapped)
    return messages


A = np.arange(5, dtype=np.int32)
DIFFERENCES = [
    (lambda i: {"keys": A.astype(np.int64) if i == 2 else A}, "keys: i32 on rank 0, i64 on rank 2; give the same "),
    (lambda i: {"keys": A, "descending": i == 1}, "descending: False on rank 0, True on rank 1; give the same on "),
    (lambda i: {"keys": A, "index": i == 1}, "index: False on rank 0, True on rank 1; give the same on every rank"),
    (lambda i: {"keys": A, "values": A if i else None}, "values: none on rank 0, int32 on rank 1; give the same "),
    (lambda i: {"keys": A, "values": A[:, None] if i else A}, "values: int32 on rank 0, int32 of shape (1,) on rank 1"),
    (lambda i: {"keys": A, "memory": "low" if i else "normal"}, "memory: normal on rank 0, low on rank 1; give the "),
    (lambda i: {"keys": A, "size": 5 if i else None}, "size: absent on rank 0, but not on every rank; give the size "),
    (lambda i: {"keys": A, "size": 4}, "size: the sizes of all ranks add up to 12, the keys to 15; give equal sums"),
]


@pytest.mark.parametrize(("arguments", "sentence"), DIFFERENCES)
def test_arguments_that_differ_are_one_sentence_on_every_rank(arguments: Any, sentence: str) -> None:
    messages = errors_of(3, lambda group: distributed.sort(**arguments(group.rank), group=group))
    assert len(set(messages)) == 1 and messages[0].startswith(sentence), messages


MISTAKES = [
    ({"keys": [1, 2]}, "keys is a list; give an array of numpy"),
    ({"keys": np.zeros((2, 2))}, "keys have the shape (2, 2); give one dimension"),
    ({"keys": A.astype(complex)}, "keys are complex128; give "),
    ({"keys": A.astype(">i4")}, "keys are >i4; give "),
    ({"keys": A, "values": A[:3]}, "values have the shape (3,), keys hold 5; give an item for each key"),
    ({"keys": A, "values": A, "index": True}, "values and index are given; give one of them"),
    ({"keys": A, "memory": "little"}, "memory little: unknown; give normal or low"),
    ({"keys": A, "size": -1}, "size -1: give 0 to "),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES, ids=lambda x: x if isinstance(x, str) else "")
def test_a_mistake_of_one_rank_is_an_error_of_all(arguments: Any, sentence: str) -> None:
    begin = time.monotonic()
    messages = errors_of(
        3, lambda group: distributed.sort(**(arguments if group.rank == 1 else {"keys": A}), group=group)
    )
    assert messages[1].startswith(sentence)
    assert messages[0] == messages[2] and messages[0].startswith(f"rank 1: {sentence}")
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("method", ["sort", "room", "counts"])
def test_an_error_in_any_phase_is_an_error_of_all(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = getattr(NumpyLocal, method)

    def failing(self: Any, *arguments: Any, **named: Any) -> Any:
        if threading.current_thread().name == "rank 1":
            raise MemoryError("too little")
        return before(self, *arguments, **named)

    monkeypatch.setattr(NumpyLocal, method, failing)
    messages = errors_of(3, lambda group: distributed.sort(A, group=group))
    assert messages == ["rank 1: MemoryError: too little", "too little", "rank 1: MemoryError: too little"]
    messages = errors_of(3, lambda group: distributed.unique(A, group=group))
    assert messages == ["rank 1: MemoryError: too little", "too little", "rank 1: MemoryError: too little"]


def test_ranks_that_end_or_are_late_end_all() -> None:
    def program(group: Any) -> None:
        if group.rank == 1:
            raise KeyboardInterrupt
        distributed.sort(A, group=group)

    with pytest.raises(KeyboardInterrupt):
        Threads(3).run(program)
    messages = errors_of(2, lambda group: group.rank or distributed.sort(A, group=group), timeout=0.2)
    assert messages == ["rank 0: a rank has ended, or did not come within 0.2 s", ""]


def test_other_mistakes() -> None:
    def refused(function: Any, *arguments: Any, **named: Any) -> list[str]:
        return errors_of(2, lambda group: function(*arguments, group=group, **named))

    assert refused(distributed.topk, A, 11) == ["k 11: give 0 to 10"] * 2
    assert refused(distributed.group_by, A, A, reduction="mean") == ["reduction mean: unknown; give sum, min, max"] * 2
    assert refused(distributed.group_by, A, A.astype(complex))[0].startswith("values are complex128; give integers")
    with pytest.raises(Unavailable, match="process group"):
        distributed.sort(A)
    with pytest.raises(ValueError, match="size 0: give 1 to"):
        Threads(0)
    with pytest.raises(Usage, match="add up to 4"):
        Threads(1).run(lambda group: distributed.sort(A, size=4, group=group))
    assert repr(Threads(3)) == "<Threads: size=3, device=None>"


def test_the_threads_of_the_guide_sort() -> None:
    exec(only(ROOT / "docs/guides/several-gpus.md", "python")[1], {})


def test_a_device_sorts_the_shards(embedded: Any) -> None:
    rng = np.random.default_rng(3)
    keys = rng.integers(-50, 50, 3000).astype(np.int16)
    shards = np.split(keys, [100, 2000])

    def program(group: Any) -> Any:
        return distributed.sort(shards[group.rank], index=True, descending=True, group=group)

    result = Threads(3, device=embedded.name).run(program)
    order = np.argsort(-keys, kind="stable")
    assert (np.concatenate([x.keys for x in result]) == keys[order]).all()
    assert (np.concatenate([x.values for x in result]) == order).all()
