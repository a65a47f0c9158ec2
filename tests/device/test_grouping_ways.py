"""The program that calls groupings in every way, with a driver that has no GPU, and how it knows the way of a call."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import grouping_ways
import numpy as np
import pytest
import stress
from fake_cuda import Array, Fake
from grouping_ways import BUCKETS, GROUPED, PASSES, SORTED, TABLES, WAYS, Bounds, way_of
from stress_gpu import PlainGpu

import hsgen.cuda
from hsgen.algorithms import implicit_for
from hsgen.algorithms.group_by import few, pair_partition, pair_partition_plan
from hsgen.core.interpreter import offset
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.cuda import libraries
from hsgen.engines.hosts import Host
from hsgen.operations.group_by import OPERATION
from hsgen.targets.target import find


class FakeGpu(PlainGpu):
    """Arrays in the memory of a driver that has no GPU."""

    def __init__(self, fake: Fake) -> None:
        super().__init__()
        self._fake = fake

    def put(self, array: Any) -> Any:
        return Array(self._fake, np.ascontiguousarray(array))

    def blank(self, n: int, dtype: Any) -> Any:
        return Array(self._fake, np.full(n, 0x5B, dtype))

    def first(self, array: Any, n: int) -> Any:
        return array.get().reshape(-1)[:n]

    def table(self, array: Any, width: int) -> Any:
        array.shape = (array.shape[0] // width, width)
        return array


def grouping(key: str = "u32", value: str = "v4") -> Sort:
    """The grouping of `nvidia-hopper`."""
    signature = OPERATION.signature(Signature(value=value))
    return find("nvidia-hopper").sort(implicit_for(OPERATION), key, signature)


def run(fake: Fake, *words: str) -> int:
    def bytes_at(address: int, size: int) -> Any:
        found = np.empty(size, np.uint32)
        fake.read(address, found)
        return found

    s = stress.Stress(FakeGpu(fake), Random(1), target="generic")  # type: ignore[arg-type]
    return grouping_ways.run(s, libraries.Library, bytes_at, grouping_ways.options(list(words)))


def only(*names: str) -> list[str]:
    return [x for name in names for x in ("--only", name)]


@pytest.mark.device
def test_ways_of_the_generic_target(
    embedded: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Fake(embedded).install(monkeypatch)
    assert run(fake, *only("one work-group", "few groups", "tables overflow", "buckets")) == 0
    said = capsys.readouterr().out
    assert "few groups                     n    65537: few groups (done 1" in said
    assert "tables overflow                n    69635: sort (done 0, many 1" in said
    assert "buckets                        left out: this target has no pairs_bucket" in said
    assert "few_begin few_tables few_close" in said and said.endswith("3 calls, 0 wrong\n")


@pytest.mark.device
def test_another_way_and_a_wrong_result_fail(
    embedded: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Fake(embedded).install(monkeypatch)
    (one,) = (w for w in WAYS if w.name == "one work-group")
    monkeypatch.setattr(grouping_ways, "WAYS", (replace(one, way=GROUPED),))
    assert run(fake) == 1
    assert "WRONG one work-group: way taken: sort, not few groups" in capsys.readouterr().out
    monkeypatch.setattr(grouping_ways, "WAYS", (one,))
    plain = hsgen.cuda.GroupBy.__call__

    def spoiled(own: Any, keys: Any, **more: Any) -> None:
        plain(own, keys, **more)
        fake.write(more["values_out"].address + 8, np.array([12345], np.uint32))

    monkeypatch.setattr(hsgen.cuda.GroupBy, "__call__", spoiled)
    assert run(fake) == 1
    assert "WRONG one work-group: values_out: 1 wrong, the first at 2" in capsys.readouterr().out


@pytest.mark.device
def test_other_operations_run(
    embedded: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Fake(embedded).install(monkeypatch)
    work = ((stress.sort, "u32", "ascending"), (stress.scan, "f32", 1, True), (stress.columns, "narrow"))
    monkeypatch.setattr(stress, "OTHERS", work)
    assert run(fake, "--others", "--most", "3000") == 0
    said = capsys.readouterr().out
    assert "sort u32 ascending" in said and "scan u32 x 3" in said and "columns narrow" in said


def words_of(sort: Sort, n: int, **at: int) -> Callable[[int, int], Any]:
    """The words in scratch memory after a grouping: those of tables by their names, and `uneven`."""
    deal = grouping_ways.deals(sort)
    assert deal
    memory = dict.fromkeys(range(0, 4 * few.TABLE, 4), 0xDEAD)
    memory |= {4 * few.WORDS[name].start: value for name, value in at.items() if name != "uneven"}
    if "uneven" in at:
        memory[offset(pair_partition_plan.bound(deal)["rest"], n)] = at["uneven"]
    return lambda begin, size: [memory[begin + 4 * i] for i in range(size)]


def test_words_tell_ways_apart() -> None:
    sort = grouping()
    bounds = Bounds.of(sort)
    assert bounds == Bounds(single=4096, tables=65536, alone=2097152)
    small, great = bounds.tables + 1, bounds.alone + 1
    every = ["few_begin", "pairs_starts", "pairs_rest"]

    def way(n: int, launched: list[str] = every, **at: int) -> str:
        return way_of(sort, n, launched, words_of(sort, n, **at))[0]

    assert way(small, every[:2], stored=1, way=pair_partition.SORTED) == GROUPED
    assert way(small, every[:2], stored=1, way=pair_partition.TABLES) == TABLES
    assert way(small, every[:2], stored=0, way=pair_partition.SORTED) == SORTED
    assert way(great, stored=0, way=pair_partition.BUCKETS) == BUCKETS
    assert way(great, stored=0, way=pair_partition.SORTED, uneven=1) == PASSES
    assert way(great, stored=0, way=pair_partition.SORTED, uneven=0) == SORTED
    assert way(great, every[:1], stored=0, way=pair_partition.SORTED) == SORTED, "the word of passes is not read"
    assert way_of(sort, bounds.tables, [], lambda *_: 1 / 0)[0] == SORTED


def sample(x: Any, size: int) -> Any:
    """A sample of keys, one of each share of all."""
    share = len(x) // size
    return x[np.arange(size) * share + np.random.default_rng(3).integers(0, share, size)]


@pytest.mark.parametrize(
    "way", [w for w in WAYS if w.key != "u64" and w.value != "f32" and w.value], ids=lambda w: w.name
)
def test_keys_of_a_way_take_it(way: grouping_ways.Way) -> None:
    """What `few_begin` and `pairs_starts` decide, computed for the keys of each way on `nvidia-hopper`."""
    sort = grouping()
    shape, bounds = grouping_ways.deals(sort), Bounds.of(sort)
    assert shape
    tables_, deal, n = shape.few, shape.shape, way.count(bounds)
    if n <= bounds.tables:
        assert way.way == SORTED
        return
    x = way.numbers(n, Random(len(way.name)))
    size = deal.sample.keys if n > deal.sample.above else deal.sample.fewer
    drawn, counts = np.unique(sample(x, size), return_counts=True)
    repeated = int((counts > 1).sum())
    if len(drawn) <= tables_.sampled(size) and len(np.unique(x)) <= tables_.most:
        assert way.way == GROUPED
        return
    firsts = [b for b in range(deal.digits.first, deal.digits.least - 1, -1) if repeated >= deal.equal(b, size)]
    first = firsts[-1] if firsts and repeated > 2 * size * size // n else 0
    low, width = drawn[0], int(np.bitwise_or.reduce(drawn ^ drawn[0])).bit_length()
    mask = (1 << width) - 1
    offset_ = np.clip(x.astype(np.int64) - (int(low) & ~mask), 0, mask)
    if first:
        number = np.bincount(offset_ >> max(width - first, 0))
        crowded = number.max() > n // pair_partition.SHARE
        assert way.way == (SORTED if crowded else TABLES)
        if way.name == "digit tables in rounds":
            digit = offset_ >> max(width - first, 0)
            most = max(len(np.unique(x[digit == d])) for d in range(len(number)))
            assert most > deal.table.groups, "a table holds all groups of each digit"
        return
    if n <= bounds.alone:
        assert way.way == SORTED
        return
    bits = next(b for b in range(deal.digits.least, 32) if (n - 1) >> b < deal.bucket.limit)
    largest = np.bincount(offset_ >> max(width - bits, 0)).max()
    assert way.way == (PASSES if largest > deal.bucket.size else BUCKETS)


def test_options_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        grouping_ways.options(["--only", "no way"])
    assert ended.value.code == 2 and "there is no 'no way'" in capsys.readouterr().err
    assert isinstance(grouping_ways.options(["--large"]), argparse.Namespace)
    assert grouping_ways.main(["--list"]) == 0 and "passes over 3 digits" in capsys.readouterr().out
