"""Inputs of benchmarks: counts as the command line states them, kinds of input, expected results."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hsgen.apis import cuda
from hsgen.cli import main
from hsgen.cli.sizes import parse_sizes
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.operations.inputs import KINDS
from hsgen.operations.oracle import ordered, unordered
from hsgen.targets import target
from hsgen.tools import bench
from hsgen.tools.bench import candidates, memory


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("1000,2^4", [1000, 16]),
        ("2^3..2^6", [8, 16, 32, 64]),
        ("2^10..2^12:2", [1024, 1448, 2048, 2896, 4096]),
        ("2^10..2^11:4,7", [1024, 1218, 1448, 1722, 2048, 7]),
        ("2^4+-1, 100", [15, 16, 17, 100]),
        ("2^3..2^4:2+-1", [7, 8, 9, 10, 11, 12, 15, 16, 17]),
        ("2^0..2^2:4", [1, 2, 3, 4]),
        ("5,5,2^2..2^3,8", [5, 4, 8]),
    ],
)
def test_sizes(text: str, counts: list[int]) -> None:
    assert parse_sizes(text) == counts


def test_steps_are_even_and_end_at_powers() -> None:
    counts = parse_sizes("2^10..2^28:4")
    assert len(counts) == 73 and counts[::4] == [1 << b for b in range(10, 29)]
    steps = np.diff(np.log2(counts))
    assert np.abs(steps - 0.25).max() < 1e-3


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("2^10..1000", "'2^10..1000' must go from a power of two up to another, like 2^10..2^24"),
        ("2^10..2^8:2", "must go from a power of two up to another"),
        ("2^10..2^12:0", "must take 1 to 16 steps a doubling"),
        ("2^10..2^12:17", "must take 1 to 16 steps a doubling"),
        ("2^10:4", "'2^10:4' is no count; write for example 1000,2^16 or 2^10..2^24"),
        ("1+-1", "a count of 0 cannot be timed"),
        ("", "'' is no count"),
    ],
)
def test_invalid_sizes(text: str, line: str) -> None:
    with pytest.raises(Usage) as caught:
        parse_sizes(text)
    assert line in str(caught.value) and len(caught.value.lines) == 1


def test_every_kind_has_a_name_without_spaces() -> None:
    assert list(bench.INPUTS.values()) == list(KINDS.values())
    assert list(bench.INPUTS)[:2] == ["random", "entropy-0.81"] and not any(" " in name for name in bench.INPUTS)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_deterministic_for_every_width_and_count(name: str, bits: int) -> None:
    dtype = np.dtype(f"u{bits // 8}")
    for n in (0, 1, 5000):
        keys, again = (KINDS[name](np.random.default_rng(3), n, dtype) for _ in range(2))
        assert keys.dtype == dtype and keys.shape == (n,) and (keys == again).all()


def test_headers_of_cub_come_before_those_of_the_toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "toolkit" / "include" / "cccl"
    for folder in (own, tmp_path / "newer" / "cub"):
        folder.mkdir(parents=True)
    (tmp_path / "newer" / "cub" / "cub.cuh").touch()
    monkeypatch.setattr(cuda, "architectures", lambda: ("90",))
    monkeypatch.setattr(cuda.toolchain, "tool", lambda name: str(tmp_path / "toolkit" / "bin" / name))
    monkeypatch.setenv(cuda.CCCL, "")  # restored at the end
    assert cuda.nvcc()[-1:] == [f"-I{own}"]
    assert (
        main(["bench", "-t", "cpu", "--cccl", str(tmp_path / "newer"), "--json", "--csv"]) == 2
    )  # after the option is read
    assert cuda.nvcc()[-2:] == [f"-I{tmp_path / 'newer'}", f"-I{own}"]


def test_kinds_are_uneven_in_their_ways() -> None:
    n, dtype = 20_000, np.dtype(np.uint32)
    made = {name: KINDS[name](np.random.default_rng(4), n, dtype) for name in KINDS}
    floats = made["normal floats"]
    plain = np.where(floats >> 31, floats ^ np.uint32(1 << 31), ~floats).view(np.float32)
    assert abs(plain.mean()) < 0.05 and abs(plain.std() - 1) < 0.05
    assert (np.argsort(floats, kind="stable") == np.argsort(plain, kind="stable")).all()
    assert np.bincount(made["hot bucket"] >> 16).max() >= n // 2
    assert (np.diff(made["ramps"].astype(np.int64)) < 0).sum() == n // 4096
    assert (made["zipf"] == 1).sum() > n // 10 and made["morton"].max() < 1 << 30
    late = np.maximum.accumulate(made["timestamps"]) - made["timestamps"]
    assert 0 < late.max() <= np.iinfo(dtype).max // 2048 + 1


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_keys_are_found_back_from_their_order(bits: int, kind: int, descending: bool) -> None:
    keys = KINDS["random"](np.random.default_rng(1), 1000, np.dtype(f"u{bits // 8}"))
    by = ordered(keys, kind, descending=descending)
    assert (unordered(by, kind, descending=descending) == keys).all()


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("value", ["none", "v4", "index"])
def test_sorted_inputs_are_sorted_for_any_type(value: str, descending: bool) -> None:
    sort = target.find("cpu").default("u32", Signature(value=value, key_transform=True))
    how = Options(kind=2, descending=descending)
    work = bench.load(sort, 1000, how, np.random.default_rng(2), "sorted")
    assert work.kind == "sorted" and (work.keys == work.expected).all()
    floats = work.keys.view(np.float32)
    steps = np.diff(floats[np.isfinite(floats)])
    assert (steps < 0).all() if descending else (steps > 0).all()
    back = bench.load(sort, 1000, how, np.random.default_rng(2), "reversed")
    assert (back.keys == work.keys[::-1]).all() and (back.expected == work.expected).all()


def test_sorted_plain_keys_follow_the_permutation() -> None:
    sort = target.find("cpu").default("u32", Signature(key_transform=True, bit_range=True))
    rng = np.random.default_rng(3)
    whole = bench.load(sort, 5000, Options(kind=2, descending=True), rng, "entropy-0.34")
    part = bench.load(sort, 5000, Options(begin=8, end=12), rng)
    by = ordered(whole.keys, 2, descending=True)
    assert (whole.expected == whole.keys[np.argsort(by, kind="stable")]).all()
    assert (part.expected == part.keys[np.argsort(part.keys >> 8 & 15, kind="stable")]).all()


def engine(total: int, largest: int) -> Any:
    return SimpleNamespace(sort=target.find("generic").sort("bitonic", "u32"), memory=lambda: (total, largest))


@pytest.mark.parametrize(
    ("total", "largest", "free", "line"),
    [
        (2**32, 0, 0, "all buffers together are 8.0 GiB, the device has 4.0 GiB"),
        (2**40, 2**31 - 1, 0, "a buffer has 2.0 GiB, the device allows 2.0 GiB"),
        (0, 0, 2**32, "the host's arrays are 8.0 GiB, 4.0 GiB are free"),
    ],
)
def test_what_does_not_fit_is_refused(
    total: int, largest: int, free: int, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2^29 u32 keys from buffer to buffer are 2 GiB twice, and another candidate's as many again."""
    monkeypatch.setattr(memory, "_free", lambda: free)
    two = [engine(total, largest), engine(total, largest)]
    with pytest.raises(Unavailable) as caught:
        memory.fits(two, 2**29, Options())
    assert caught.value.lines == (f"sizes up to {2**29}: do not fit: {line}; give smaller --sizes",)
    memory.fits(two, 2**20, Options())


def test_unknown_free_memory_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_free", lambda: 0)
    memory.fits([engine(0, 0)], 2**40, Options())


@pytest.mark.parametrize(("algorithm", "before"), [("auto", "copy"), ("segmented_sort", "copy"), ("merge_path", "run")])
def test_caches_hold_the_whole_input(algorithm: str, before: str) -> None:
    """A copy of one buffer does not fill caches enough before two arrays are merged."""
    sort, seen = target.find("cpu").sort(algorithm, "u32"), list[str]()
    work = bench.load(sort, 1000, Options(segment_count=10 * (algorithm == "segmented_sort")), np.random.default_rng(1))
    engine = SimpleNamespace(sort=sort, run=lambda *_: seen.append("run"), copy=lambda _: seen.append("copy"))
    made = candidates.sorting(engine, work)  # type: ignore[arg-type]
    made.prepare()
    made.sort()
    assert seen == [before, "run"]
