"""Arrays beyond the memory of a device, with numpy in place of the device."""

from __future__ import annotations

import errno
import os
import weakref
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsgen.core.errors import Unavailable
from hsgen.core.keys import TYPES
from hsgen.numpy import large
from hsgen.operations import oracle

KEYS = ("u8", "i16", "f32", "u64", "i64", "f64")


def sorting(key: str, descending: bool) -> large.Sort:
    """Return a sort in the total order."""

    def sort(keys: Any) -> Any:
        by = oracle.ordered(keys.view(f"u{keys.dtype.itemsize}"), TYPES[key].kind, descending=descending)
        return keys[np.argsort(by, kind="stable")]

    return sort


def late(sort: large.Sort) -> large.Run:
    """Return a function that reads the arrays of a job as late as `large.Job` permits."""

    def run(jobs: Any, report: Any) -> None:
        waiting: deque[large.Job] = deque()

        def end() -> None:
            job = waiting.popleft()
            job.to[...] = sort(np.concatenate(job.sources))
            report(len(job.to))

        for job in jobs:
            if len(waiting) == large.AHEAD:
                end()
            for source, to in job.moves:
                np.copyto(to, source)
            waiting.append(job)
        while waiting:
            end()

    return run


def keys_of(rng: np.random.Generator, key: str, n: int, distinct: int) -> Any:
    dtype = np.dtype(TYPES[key].numpy)
    pool = rng.integers(0, 256, max(distinct, 1) * dtype.itemsize, np.uint8).view(dtype)
    return pool[rng.integers(0, len(pool), n)]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(KEYS),
    st.integers(1, 400),
    st.integers(1, 50),
    st.sampled_from([1, 5, 400]),
    st.booleans(),
    st.data(),
)
def test_parts_of_chunks_are_one_sort(
    key: str, n: int, length: int, distinct: int, descending: bool, data: Any
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    a, sort = keys_of(rng, key, n, distinct), sorting(key, descending)
    expected, longest, shares = sort(a), [], []

    def limited(keys: Any) -> Any:
        longest.append(len(keys))
        return sort(keys)

    out = a.copy() if data.draw(st.booleans()) else np.zeros_like(a)
    source = out if (out == a).all() and data.draw(st.booleans()) else a
    run = (late if data.draw(st.booleans()) else large.in_turn)(limited)
    large.sort_large(source, out, run, length, key, descending=descending, progress=lambda *x: shares.append(x))
    assert out.tobytes() == expected.tobytes() and max(longest) <= length
    assert shares[-1] == (2 * n, 2 * n) and shares == sorted(shares)


@pytest.mark.parametrize(("pattern", "share"), [("random", 30), ("reversed", 2), ("turned", 60), ("equal", 60)])
def test_chunks_in_the_result_need_little_more_memory(pattern: str, share: int) -> None:
    n, length, sizes, most = 64_000, 1000, [0], 0
    a = {
        "random": np.random.default_rng(3).integers(0, 1 << 40, n),
        "reversed": np.arange(n)[::-1].copy(),
        "turned": np.roll(np.arange(n), length),  # the keys of each chunk belong to the part after
        "equal": np.zeros(n, np.int64),
    }[pattern]
    out = np.zeros_like(a)

    def run(jobs: Any, report: Any) -> None:
        nonlocal most
        for job in jobs:
            for _, to in job.moves:
                if to.base is None:  # new memory, not a part of a chunk
                    sizes.append(len(to))
                    weakref.finalize(to, sizes.append, -len(to))
            most = max(most, sum(sizes))
            large.in_turn(np.sort)([job], report)

    large.sort_large(a, out, run, length, "i64", descending=False)
    assert (out == np.sort(a)).all() and most <= n // share + 3 * length


def mapped(path: Path, a: Any) -> Any:
    out = np.memmap(path, a.dtype, "w+", shape=a.shape)
    out[...] = a
    return out


@pytest.mark.parametrize("at", [0, 3, 5, 7])
@pytest.mark.parametrize("same", [False, True])
def test_an_interrupt_leaves_a_documented_state(at: int, same: bool, tmp_path: Path) -> None:
    rng, calls = np.random.default_rng(at), [0]
    keys = rng.integers(0, 99, 100)
    a = mapped(tmp_path / "a", keys)
    out = a if same else mapped(tmp_path / "b", np.full_like(keys, -1))

    def sort(x: Any) -> Any:
        calls[0] += 1
        if calls[0] > at:
            raise KeyboardInterrupt
        return np.sort(x)

    with pytest.raises(KeyboardInterrupt):
        large.sort_large(a, out, large.in_turn(sort), 25, "i64", descending=False)
    assert same or (a == keys).all()
    if at < 4:
        assert (out == (keys if same else -1)).all()
    elif same:
        assert (np.sort(out) == np.sort(keys)).all()
    assert sorted(p.name for p in tmp_path.iterdir()) == (["a"] if same else ["a", "b"])


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = mapped(tmp_path / "a", np.arange(100))

    def full(descriptor: int, size: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(large, "reserve", full)
    with pytest.raises(Unavailable) as caught:
        large.sort_large(out, out, large.in_turn(np.sort), 30, "i64", descending=False)
    assert str(caught.value) == f"{tmp_path}/a{large.SUFFIX}: No space left on device; the sort needs 800 bytes there"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_file_of_a_killed_sort_is_named(tmp_path: Path) -> None:
    out = mapped(tmp_path / "a", np.arange(100))
    (tmp_path / f"a{large.SUFFIX}").write_bytes(b"before")
    with pytest.raises(Unavailable, match=r"a\.hsgen-chunks: File exists; remove the file of a sort that was killed$"):
        large.sort_large(out, out, large.in_turn(np.sort), 30, "i64", descending=False)
    assert (tmp_path / f"a{large.SUFFIX}").read_bytes() == b"before"


def test_too_little_memory_is_one_line() -> None:
    with pytest.raises(Unavailable, match="too little memory for one key; give a greater memory="):
        large.sort_large(np.arange(3), np.arange(3), large.in_turn(np.sort), 0, "i64", descending=False)
