"""The programs that call every sort and every selection, with a driver that has no GPU and numpy in place of CuPy."""

from __future__ import annotations

from typing import Any

import every_selection
import every_sort
import numpy as np
import pytest
from every import LANES
from fake_cuda import Array, Fake
from shrunk import ZEROS, shrunk, slotted

from hsgen.algorithms.radix.hybrid import Hybrid, pairs
from hsgen.core.interpreter import launches
from hsgen.core.keys import Signature
from hsgen.core.plan import Plan
from hsgen.cuda import libraries
from hsgen.engines.hosts import Host
from hsgen.targets.target import find


class Part(Array):
    """An array of the driver with slices."""

    def __getitem__(self, where: slice) -> Array:
        begin, end, _ = where.indices(self.shape[0])
        return self.part(begin, end)


class Stand:
    """The functions of CuPy that the programs call, over the driver's memory; all else is numpy's."""

    def __init__(self, fake: Fake) -> None:
        self._fake = fake

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def array(self, data: Any) -> Array:
        return Part(self._fake, np.ascontiguousarray(data))

    asarray = array

    def empty_like(self, array: Array) -> Array:
        return self.asarray(np.full(array.shape, 0x5B, array.dtype))

    @staticmethod
    def asnumpy(array: Array) -> Any:
        return array.get()


@pytest.fixture
def stand(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> Stand:
    return Stand(Fake(embedded).install(monkeypatch))


def sort(stand: Stand, *words: str) -> int:
    return every_sort.run(stand, libraries.Library, every_sort.parsed(list(words)))


def select(stand: Stand, *words: str) -> int:
    return every_selection.run(stand, libraries.Library, every_selection.parsed(list(words)))


FILE, SELECTING = (str(LANES / name) for name in ("forms1.toml", "lanes4.toml"))


def launched(plan: Plan, n: int) -> list[str]:
    """The kernels that sort n keys, in and out of place."""
    return [x.step.kernel for in_place in (False, True) for x in launches(plan, n, in_place=in_place)]


@pytest.mark.parametrize("target", ["nvidia-hopper", "nvidia-blackwell"])
@pytest.mark.parametrize("key", ["u32", "u64"])
@pytest.mark.parametrize("value", ["none", "v4", "v8"])
def test_shrunk_plans_have_every_launch(target: str, key: str, value: str) -> None:
    sort = find(target).sort("auto", key, Signature(value=value))
    few = every_sort.FEW
    names = {name for n in every_sort.counts(sort.plan.steps, few) for name in launched(sort.plan, n)}
    for way, plan in shrunk(sort.plan, few):
        n = max(few, (way >> ZEROS) + 1) if slotted(sort, plan) else few
        assert launched(plan, n) == launched(sort.plan, way)
        names |= set(launched(plan, n))
        per_key = max(rule.per_n for rule in plan.scratch.rules)
        assert plan.scratch.bytes(n) - per_key * n >= sort.plan.scratch.bytes(way) - per_key * way
        slots = [k.params for k in sort.kernels if k.name in {s.kernel for s in plan.steps} and "pair_bucket" in k.name]
        for p in slots:
            assert isinstance(p, Hybrid) and pairs.bits(p, n) >= pairs.slot_bits(p) - ZEROS
    assert names == {k.name for k in sort.kernels}


@pytest.mark.device
def test_sorts_at_each_count(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    assert sort(stand, "--most", "140", "--key", "u32", "--value", "0", "--target", FILE) == 0
    output = capsys.readouterr().out
    assert "never launched: u32 None: scatter, from 201 keys on" in output
    assert output.endswith("8 calls, 0 wrong, 2 kernels launched, 4 never\n")


@pytest.mark.device
def test_shrunk_plans_launch_every_kernel(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(every_sort, "FEW", 150)
    words = ("--shrunk", "--key", "u32", "--value", "4", "--target", FILE)
    assert sort(stand, *words) == 0
    assert capsys.readouterr().out.endswith("16 calls, 0 wrong, 10 kernels launched, 0 never\n")
    monkeypatch.setattr(every_sort, "shrunk", lambda plan, most: [])
    assert sort(stand, *words) == 1
    assert "never launched: u32 4: scatter, from 201 keys on" in capsys.readouterr().out


@pytest.mark.device
def test_shrunk_merges(stand: Stand, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(every_sort, "FEW", 2000)
    assert sort(stand, "--shrunk", "--merges", "--key", "u32", "--value", "4", "--target", FILE) == 0
    assert capsys.readouterr().out.endswith("4 calls, 0 wrong, 2 kernels launched, 0 never\n")


@pytest.mark.device
def test_wrong_results_fail(stand: Stand, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Stand, "asnumpy", staticmethod(lambda array: np.roll(array.get(), 1)))
    assert sort(stand, "--most", "140", "--key", "u32", "--value", "0", "--target", FILE) == 1
    output = capsys.readouterr().out
    assert output.count("WRONG u32 None n=129 way=0") == 4 and "8 calls, 4 wrong" in output
    assert select(stand, "--few", "--most", "2", "--key", "u32", "--target", SELECTING) == 1
    output = capsys.readouterr().out
    assert all(f"WRONG u32 {form}: 2 x" in output for form in every_selection.FORMS)


@pytest.mark.device
def test_selections_with_every_number_of_rows(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    assert select(stand, "--few", "--most", "300", "--key", "u32", "--forms", "rows", "--target", SELECTING) == 0
    output = capsys.readouterr().out
    assert "never launched: u32 index takes: chunks, from 4097 keys" in output and " 0 wrong, " in output


@pytest.mark.device
@pytest.mark.nightly
def test_shrunk_selections_launch_every_kernel(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    assert select(stand, "--few", "--shrunk", "--most", "140000", "--key", "u32", "--target", SELECTING) == 0
    assert capsys.readouterr().out.endswith("690 calls, 0 wrong, 180 kernels launched, 0 never\n")
