"""Counts of keys below probes, `templates/apis/cuda/python/lower_bounds.cu`: its text runs on fibers of the host."""

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
from hsgen.cuda.lower_bounds import Kind
from hsgen.operations import oracle

HEAD = '#include "@/cuda_on_host.hpp"\n'
PLAY = """
extern "C" const char *play(const void *keys, const unsigned long long *probes, long long *counts, long long n,
                            long long number)
{
    return host::launch({(unsigned)((number + 127) / 128), 1, 1}, 128, 0, 7, [=] {
        hs_lower_bounds((const HS_BITS *)keys, probes, counts, n, number);
    });
}
"""
CASES = [("i8", False), ("f32", True), nightly("u32", False), nightly("bf16", True), nightly("i64", True)]


@pytest.mark.parametrize(("key", "descending"), CASES)
def test_counts_are_those_of_numpy(key: str, descending: bool, tmp_path: Path) -> None:
    compiler = tool("c++")
    text = HEAD.replace("@", str(Path(__file__).parent)) + Kind(key, descending).text() + PLAY
    (tmp_path / "bounds.cpp").write_text(text, encoding="utf-8")
    command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-w", "bounds.cpp", "-o", "bounds.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    play: Any = ctypes.CDLL(str(tmp_path / "bounds.so")).play
    play.restype = ctypes.c_char_p
    rng, kind = np.random.default_rng(5), np.dtype(f"u{KEYS[TYPES[key].key].bytes}")
    greatest = np.uint64(np.iinfo(kind).max)
    for n in (0, 1, 2, 300):
        ordered = np.sort(rng.integers(0, int(greatest), n, kind, endpoint=True))
        keys = oracle.unordered(ordered, TYPES[key].kind, descending=descending)
        drawn = ordered[rng.integers(0, n, 150)].astype(np.uint64) if n else np.zeros(0, np.uint64)
        probes = np.concatenate([drawn, drawn[:100] + np.uint64(1), np.array([0, greatest, (1 << 64) - 1], np.uint64)])
        counts = np.full(len(probes), -1, np.int64)
        at = [ctypes.c_void_p(x.ctypes.data) for x in (keys, probes, counts)]
        assert play(*at, ctypes.c_longlong(n), ctypes.c_longlong(len(probes))) is None
        expected = [int((ordered.astype(object) < int(p)).sum()) for p in probes]
        assert counts.tolist() == expected
