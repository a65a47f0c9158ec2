"""The programs that call every sort and every selection, with a driver that has no GPU and numpy in place of CuPy."""

from __future__ import annotations

from typing import Any

import every_selection
import every_sort
import numpy as np
import pytest
from every import LANES
from fake_cuda import Array, Fake

from hsgen.cuda import libraries
from hsgen.engines.hosts import Host


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
    assert capsys.readouterr().out.endswith("21 calls, 0 wrong, 10 kernels launched, 0 never\n")
    monkeypatch.setattr(every_sort, "shrunk", lambda plan, most: [])
    assert sort(stand, *words) == 1
    assert "never launched: u32 4: scatter, from 201 keys on" in capsys.readouterr().out


@pytest.mark.device
def test_shrunk_merges(stand: Stand, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(every_sort, "FEW", 2000)
    assert sort(stand, "--shrunk", "--merges", "--key", "u32", "--value", "4", "--target", FILE) == 0
    assert capsys.readouterr().out.endswith("6 calls, 0 wrong, 2 kernels launched, 0 never\n")


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
    assert capsys.readouterr().out.endswith("530 calls, 0 wrong, 150 kernels launched, 0 never\n")
