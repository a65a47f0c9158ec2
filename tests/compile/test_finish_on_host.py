"""The launch after a sort with indices, `templates/apis/cuda/python/finish.cu`: its text runs on fibers of the host."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools import tool

from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda.finish import Kind
from hsgen.cuda.numeric import limits

HEAD = """
#include "@/cuda_on_host.hpp"
struct alignas(16) longlong2 { long long x, y; };
#define __align__ alignas
"""
PLAY = """
extern "C" const char *play(unsigned blocks, const HS_INDEX *from, long long *to, void *keys, const void *source,
                            const unsigned *turn, long long n, long long length, int in_row)
{
    return host::launch({blocks, 1, 1}, 256, 0, 7, [=] {
#if HS_KEYS
        hs_finish(from, to, (HS_BITS *)keys, (const HS_BITS *)source, turn, n, length, in_row);
#else
        (void)keys, (void)source, hs_finish(from, to, turn, n, length, in_row);
#endif
    });
}
"""
CASES = [("f32", 4), ("f64", 4), ("f16", 4), ("", 4), ("", 8)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0] or 'none'}-{case[1]}")
def made(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A float type or "", the size of indices, and the compiled function."""
    key, size = request.param
    compiler = tool("c++")
    folder = tmp_path_factory.mktemp("finish")
    text = HEAD.replace("@", str(Path(__file__).parent)) + Kind(key, size).text() + PLAY
    (folder / "finish.cpp").write_text(text, encoding="utf-8")
    command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-w", "finish.cpp", "-o", "finish.so"]
    subprocess.run(command, cwd=folder, check=True)
    play = ctypes.CDLL(str(folder / "finish.so")).play
    play.restype = ctypes.c_char_p
    return key, size, play


def aligned(array: Any, apart: int = 0) -> Any:
    """A copy that begins `apart` bytes after a multiple of 16."""
    room = np.zeros(array.nbytes + 32, np.uint8)
    begin = -room.ctypes.data % 16 + apart
    out = room[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


def sorted_keys(rng: np.random.Generator, key: str, rows: int, length: int, plain: bool) -> tuple[Any, Any, Any]:
    """Keys, their order by row, and what a sort in numeric order makes of them: one zero and one NaN."""
    bits = KEYS[TYPES[key].key].bits
    kind = np.dtype(f"u{bits // 8}")
    infinity = kind.type(limits(key)[1])
    source = rng.integers(1, infinity, (rows, length), kind, endpoint=True)
    if not plain:
        sign = kind.type(1 << bits - 1)
        for one in (kind.type(0), sign, infinity, infinity | sign, infinity | kind.type(1), ~kind.type(0)):
            source[rng.random((rows, length)) < 0.1] = one
    numbers = source.view(f"f{bits // 8}")
    order = np.argsort(numbers, axis=1, kind="stable")
    found = np.take_along_axis(numbers, order, 1)
    found[found == 0], found[np.isnan(found)] = 0, np.nan
    return source, order, found.view(kind)


@pytest.mark.parametrize("apart", [0, 8])
@pytest.mark.parametrize(
    ("rows", "length", "in_row"), [(1, 1, 0), (1, 5000, 0), (1, 4096, 0), (3, 1500, 0), (3, 1501, 1)]
)
@pytest.mark.parametrize("plain", [True, False])
def test_indices_are_widened_and_bits_given_back(
    made: Any, rows: int, length: int, in_row: int, plain: bool, apart: int
) -> None:
    key, size, play = made
    rng, n = np.random.default_rng(rows + length), rows * length
    source, order, sorted_ = sorted_keys(rng, key or "f32", rows, length, plain)
    given = order if in_row else order + np.arange(rows)[:, None] * length
    index, keys, source = aligned(given.astype(f"u{size}")), aligned(sorted_), aligned(source)
    for turn, blocks in ((1, 2), (256, 2), (0, 1), (None, 9)):
        to = aligned(np.full((rows, length), -1, np.int64), apart)
        word = np.array([turn or 0], np.uint32)
        at = [x.ctypes.data for x in (index, to, keys, source)] + [None if turn is None else word.ctypes.data]
        said = play(blocks, *map(ctypes.c_void_p, at), ctypes.c_longlong(n), ctypes.c_longlong(length), in_row)
        assert said is None, said
        if turn == 1:  # all is done
            assert (to == -1).all() and (keys == sorted_).all()
        else:
            assert (to == order).all()
            assert not key or (keys == np.take_along_axis(source, order, 1)).all()
