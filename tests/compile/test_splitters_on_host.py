"""The search for splitters, `templates/apis/cuda/python/splitters.cu`: its text runs on fibers of the host."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nightly import nightly
from tools import tool

from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda.splitters import Kind
from hsgen.distributed.local import digits
from hsgen.operations import oracle

HEAD = '#include "@/cuda_on_host.hpp"\n'
PLAY = """
typedef long long i64;
typedef unsigned long long u64;
extern "C" const char *count_keys(const void *keys, i64 n, const i64 *rows, i64 ranks, i64 former, const u64 *starts,
                                  u64 *next, const i64 *places, i64 *counts, i64 shift, i64 bits, i64 boundaries)
{
    return host::launch({(unsigned)(((1ll << bits) + 128) / 128), (unsigned)boundaries, 1}, 128, 0, 7, [=] {
        hs_count_keys((const HS_BITS *)keys, n, rows, ranks, former, starts, next, places, counts, shift, bits);
    });
}
extern "C" const char *count_ends(const i64 *rows, i64 ranks, i64 bits, const i64 *places, i64 *ends, i64 boundaries)
{
    return host::launch({(unsigned)boundaries, 1, 1}, 32, 0, 7, [=] {
        hs_count_ends(rows, ranks, bits, places, ends);
    });
}
"""
CASES = [
    ("i8", False),
    ("f32", True),
    ("u64", False),
    nightly("u32", False),
    nightly("bf16", True),
    nightly("i64", True),
]


def at(x: Any) -> Any:
    """Return the address of an array, or null."""
    return ctypes.c_void_p(None if x is None else x.ctypes.data)


@pytest.mark.parametrize(("key", "descending"), CASES)
def test_boundaries_are_those_of_one_sort(key: str, descending: bool, tmp_path: Path) -> None:
    compiler = tool("c++")
    text = HEAD.replace("@", str(Path(__file__).parent)) + Kind(key, descending).text() + PLAY
    (tmp_path / "splitters.cpp").write_text(text, encoding="utf-8")
    command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-w", "splitters.cpp", "-o", "splitters.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library: Any = ctypes.CDLL(str(tmp_path / "splitters.so"))
    library.count_keys.restype = library.count_ends.restype = ctypes.c_char_p
    rng, bits = np.random.default_rng(5), KEYS[TYPES[key].key].bits
    greatest = (1 << bits) - 1
    for lengths in ([300, 0, 7], [40, 41], [1, 0, 0, 0]):
        pool = np.append(rng.integers(0, greatest, 40, np.uint64, endpoint=True), np.uint64(greatest))
        ordered = [np.sort(pool[rng.integers(0, len(pool), n)]) for n in lengths]
        every = np.sort(np.concatenate(ordered))
        ranks, total = len(lengths), sum(lengths)
        places = np.sort(np.append(rng.integers(0, total, ranks - 2, endpoint=True), total))  # the last part is empty
        keys = [oracle.unordered(x.astype(f"u{bits // 8}"), TYPES[key].kind, descending=descending) for x in ordered]
        rows, former, many = None, 0, len(places)
        starts: Any = np.zeros(many, np.uint64)
        for shift, width in digits(bits, many, 1 << 9):
            counts = np.full((ranks, many * ((1 << width) + 1)), -1, np.int64)
            for rank in range(ranks):
                following = np.full(many, 77, np.uint64)
                numbers = [ctypes.c_longlong(x) for x in (lengths[rank], ranks, former, shift, width, many)]
                n, number, before, *last = numbers
                arrays = (at(starts), at(following), at(places), at(counts[rank]))
                assert library.count_keys(at(keys[rank]), n, at(rows), number, before, *arrays, *last) is None
            starts, rows, former = following, counts, width
        ends = np.full((ranks, 2, many), -1, np.int64)
        last = [ctypes.c_longlong(x) for x in (ranks, former, many)]
        assert library.count_ends(at(rows), last[0], last[1], at(places), at(ends), last[2]) is None
        splitter = np.array([every[max(place - 1, 0)] for place in places])
        for rank, x in enumerate(ordered):
            expected = np.where(places > 0, np.searchsorted(x, splitter), 0)
            below = np.searchsorted(x, np.where(places > 0, splitter, np.uint64(0)), "right")
            assert ends[rank].tolist() == [expected.tolist(), below.tolist()], (lengths, places)
