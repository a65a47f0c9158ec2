"""The launches around a selection, `templates/apis/cuda/python/{bounds,masked,selected}.cu`: they run on the host."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from first_of_rows import drawn, first_of_rows, ranks_of
from nightly import nightly
from tools import tool

from hsgen.core.keys import TYPES
from hsgen.cuda.selected import MASKED, SELECTED, Kind
from hsgen.runners.row_numbers import NAMES
from hsgen.system import resources

HEAD = '#include "@/cuda_on_host.hpp"\n'
PLAY = """
typedef const unsigned *Words;
extern "C" const char *bounds(unsigned blocks, Words starts, Words lengths, Words count, unsigned *sizes,
                              unsigned *begins, long long n, long long length, long long turn)
{
    return host::launch({blocks, 1, 1}, 256, 0, 7,
                        [=] { hs_bounds(starts, lengths, count, sizes, begins, n, length, turn); });
}
extern "C" const char *masked(unsigned blocks, const HS_BITS *from, HS_BITS *to, Words starts, Words lengths,
                              long long n, long long length)
{
    return host::launch({blocks, 1, 1}, 256, 0, 7, [=] { hs_masked(from, to, starts, lengths, n, length); });
}
extern "C" const char *selected(unsigned blocks, const long long *from, const long long *order, long long *to,
                                const HS_BITS *keys_from, HS_BITS *keys, const HS_BITS *source, Words starts,
                                Words lengths, Words takes, const HS_ENTRY *table, const long long *table_starts,
                                HS_ENTRY *entries, long long size, long long n, long long k, long long stride,
                                long long length)
{
    return host::launch({blocks, 1, 1}, 256, 0, 7, [=] {
        hs_selected(from, order, to, keys_from, keys, source, starts, lengths, takes, table, table_starts, entries,
                    size, n, k, stride, length);
    });
}
"""
RNG = np.random.default_rng(49)


@pytest.fixture(scope="module", params=[("f32", True, 8), nightly(("i32", False, 4))], ids=["f32", "i32"])
def compiled(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Kind, Any]:
    """A variant of the kernels, and its compiled functions."""
    kind, compiler = Kind(*request.param), tool("c++")
    folder = tmp_path_factory.mktemp("selected")
    bounds = (resources.templates() / "apis/cuda/python/bounds.cu").read_text(encoding="utf-8")
    parts = [HEAD.replace("@", str(Path(__file__).parent)), kind.text(SELECTED), kind.text(MASKED), bounds, PLAY]
    (folder / "selected.cpp").write_text("\n".join(parts), encoding="utf-8")
    command = [compiler, "-std=c++17", "-O0", "-shared", "-fPIC", "-w", "selected.cpp", "-o", "selected.so"]
    subprocess.run(command, cwd=folder, check=True)
    return kind, ctypes.CDLL(str(folder / "selected.so"))


def play(function: Any, blocks: int, arrays: tuple[Any, ...], *numbers: int) -> None:
    """Run a kernel with arrays, None for no array, and numbers."""
    function.restype = ctypes.c_char_p
    at = [ctypes.c_void_p(None if a is None else a.ctypes.data) for a in arrays]
    message = function(blocks, *at, *map(ctypes.c_longlong, numbers))
    assert message is None, message


@pytest.mark.parametrize("names", [(), *((name,) for name in NAMES if name != "table_starts"), NAMES], ids="-".join)
def test_launches_around_a_sort_of_rows_select(names: tuple[str, ...], compiled: tuple[Kind, Any]) -> None:
    """Bounds, a masked copy, a sort by numpy in place of the sort, and the last launch: all results, bit by bit."""
    (kind, functions), (rows, length, k), blocks = compiled, (300, 37, 9), 3
    keys = RNG.integers(-5, 5, (rows, length)).astype(TYPES[kind.key].numpy)
    if kind.key == "f32":
        keys[RNG.random(keys.shape) < 0.1], keys[RNG.random(keys.shape) < 0.1] = -0.0, np.nan
    numbers = drawn(RNG, names, rows, length, k)
    entry = np.dtype(f"i{kind.entry}")
    wide = {"table": entry, "table_starts": np.int64}
    at = {name: x.astype(wide.get(name, np.uint32)) for name, x in numbers.items()}
    sizes, begins = np.full(rows, length, np.uint32), np.zeros(rows, np.uint32)
    within = [at.get(name) for name in ("starts", "lengths", "count")]
    play(functions.bounds, blocks, (*within, sizes, begins), rows, length, 7)
    starts = np.minimum(numbers.get("starts", np.zeros(rows, int)), length)
    assert (begins == np.arange(rows) % 7 * length + starts).all()
    masked, source = np.empty_like(keys), keys.copy()
    play(functions.masked, blocks, (source, masked, at.get("starts"), sizes), keys.size, length)
    ranks = ranks_of(masked, largest=kind.largest)
    order = np.argsort(ranks, axis=1, kind="stable").astype(np.int64)
    sorted_ = np.take_along_axis(masked, order, 1) + masked.dtype.type(0)  # as sorts return zeros
    to, out = np.empty((rows, k), np.int64), np.empty((rows, k), keys.dtype)
    entries = np.empty((rows, k), entry) if "table" in names else None
    arrays = (order, None, to, sorted_, out, source, at.get("starts"), sizes, at.get("takes"), at.get("table"))
    table = numbers.get("table", np.zeros(0))
    scalars = (table.size, rows * k, k, length, length)
    play(functions.selected, blocks, (*arrays, at.get("table_starts"), entries), *scalars)
    expected = first_of_rows(
        kind.key, keys, ranks_of(keys, largest=kind.largest), k, largest=kind.largest, numbers={**numbers, **at}
    )
    assert (to == expected.indices).all() and out.tobytes() == expected.keys.tobytes()
    assert entries is None or (entries == expected.entries).all()
    assert source.tobytes() == keys.tobytes()
    # in place, as after a selection without a sort: indices stay where they are
    if not names:
        first, again = np.ascontiguousarray(order[:, :k]), np.ascontiguousarray(sorted_[:, :k])
        play(
            functions.selected,
            blocks,
            (first, None, None, again, again, source, *[None] * 6),
            0,
            rows * k,
            k,
            k,
            length,
        )
        assert again.tobytes() == expected.keys.tobytes()
