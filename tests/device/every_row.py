"""Sorts of short rows on an NVIDIA GPU, by each kernel that sorts a row in one work-group.

The calls are few enough for compute-sanitizer's tools.

Usage: python tests/device/every_row.py [--key KEY] [--few]
Lengths of rows are those at which another kernel sorts, one less and one more.  Results have keys and indices, keys
alone, indices alone, or values that move with keys, also in place.  Floats have zeros and NaNs of both signs.  Each
result is compared with numpy's; 64 elements behind it must not change.  With --few, only the longest rows of a kernel
are sorted.  The exit code is 0 if all results are right, 1 if not, 3 without CuPy or hsgen[cuda].
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from every_sort import with_cupy
from grouping_ways import recorded

import hsgen.cuda
from hsgen.algorithms.segmented import short_rows
from hsgen.cuda.choices import ROWS
from hsgen.cuda.order import Shape, order

KEYS: dict[str, Any] = {"u8": np.uint8, "f16": np.float16, "f32": np.float32, "i64": np.int64}
NUMBER = 3
"""The number of rows."""
GUARD = 64
"""The elements behind each result."""
FORMS = ((True, True), (True, False), (False, True))
"""Whether results have keys, and whether they have indices."""


def drawn(key: str, length: int, *, few: bool) -> Any:
    """Return rows of random keys, of few values if `few`; floats have zeros and NaNs."""
    rng = np.random.default_rng(length)
    bits = rng.integers(0, 256, NUMBER * length * KEYS[key]().itemsize, np.uint8)
    rows = bits.view(KEYS[key]).reshape(NUMBER, length)
    if few:
        rows = rows[:, rng.integers(0, min(length, 9), length)]
    if rows.dtype.kind == "f":
        rows[:, ::7], rows[:, 1::11], rows[:, 2::5], rows[:, 3::13] = 0.0, -0.0, np.nan, -np.nan
    return np.ascontiguousarray(rows)


def places_of(rows: Any, *, descending: bool) -> Any:
    """Return the stable order of each row: NaNs are equal and greatest, and -0 equals 0."""
    ranks = np.unique(rows, return_inverse=True)[1].reshape(rows.shape).astype(np.int64)
    return np.argsort(-ranks if descending else ranks, axis=1, kind="stable")


def blank(cupy: Any, size: int, dtype: Any) -> Any:
    """Return memory for `size` elements and the guard, full of 0x5A."""
    return cupy.asarray(np.full((size + GUARD) * np.dtype(dtype).itemsize, 0x5A, np.uint8)).view(dtype)


def whole(cupy: Any, array: Any, expected: Any) -> bool:
    """Whether an array has the bits of `expected`, and its guard is as it was."""
    bits = cupy.asnumpy(array.view(np.uint8))
    size = expected.nbytes
    return bits[:size].tobytes() == np.ascontiguousarray(expected).tobytes() and bool((bits[size:] == 0x5A).all())


def ordered(cupy: Any, shape: Shape, rows: Any) -> bool:
    """Whether the sort of a `Shape` is right."""
    sort = order(shape, ROWS)
    assert sort is not None and sort.method == ROWS
    at = places_of(rows, descending=shape.descending)
    source = cupy.asarray(rows.ravel())
    out, indices = blank(cupy, rows.size, rows.dtype), blank(cupy, rows.size, np.int64)
    sort.run(source.data.ptr, out.data.ptr * shape.keys, indices.data.ptr * shape.indices, 0, 0)
    fine = not shape.indices or whole(cupy, indices, at)
    keys = np.take_along_axis(rows, at, 1)
    if shape.keys and shape.indices:
        return fine and whole(cupy, out, keys)
    if shape.keys:  # NaNs and zeros may have other bits
        return np.array_equal(cupy.asnumpy(out)[: rows.size], keys.ravel(), equal_nan=rows.dtype.kind == "f")
    return fine


def moved(cupy: Any, sorter: Any, value: int, rows: Any, *, in_place: bool) -> bool:
    """Whether a sort that moves values of `value` bytes is right; the first word of a value is the index of its key."""
    at = places_of(rows, descending=False)
    words = np.arange(rows.size * value // 4, dtype=np.uint32).reshape(rows.size, -1)
    kind = np.dtype(f"u{value}") if value < 16 else np.dtype("c16")
    expected = np.concatenate([words.reshape(NUMBER, rows.shape[1], -1)[i][at[i]] for i in range(NUMBER)])
    keys, values = cupy.asarray(rows.ravel()), cupy.asarray(words.ravel()).view(kind)
    out, out_values = blank(cupy, rows.size, rows.dtype), blank(cupy, rows.size, kind)
    if in_place:
        out[: rows.size], out_values[: rows.size] = keys, values
        sorter(out[: rows.size], segments=NUMBER, values=out_values[: rows.size])
    else:
        named = {"values": values, "values_out": out_values[: rows.size]}
        sorter(keys, segments=NUMBER, out=out[: rows.size], **named)
    return whole(cupy, out, np.take_along_axis(rows, at, 1)) and whole(cupy, out_values, expected)


def lengths(sorter: Any, *, few: bool) -> list[int]:
    """Return the lengths of rows to sort by a sorter's kernels."""
    sort = short_rows.specialize(sorter._sort, sorter._gpu.host.local_bytes)
    assert sort is not None
    tiles = [kernel.data.shape.tile for kernel in sort.kernels if isinstance(kernel.data, short_rows.Row)]
    return tiles if few else sorted({1, 2, 33, *(t + d for t in tiles for d in (-1, 0, 1))} - {tiles[-1] + 1})


def calls(cupy: Any, key: str, *, few: bool) -> Iterator[tuple[str, bool]]:
    """Yield the name of each call, and whether its result is right."""
    for value in (4, 8, 16) if np.dtype(KEYS[key]).kind != "f" else ():
        sorter = hsgen.cuda.SegmentedSorter(key, value=value)
        for length in lengths(sorter, few=few):
            for in_place in (False, True):
                rows = drawn(key, length, few=in_place)
                yield f"v{value} {length} {in_place}", moved(cupy, sorter, value, rows, in_place=in_place)
    sorter = hsgen.cuda.SegmentedSorter(key, value="index64", numeric=True)
    for number, length in enumerate(lengths(sorter, few=few)):
        for keys, indices in FORMS:
            for descending in (False, True):
                rows = drawn(key, length, few=(number + descending) % 2 == 0)
                facts: Any = {"key": key, "rows": NUMBER, "length": length, "descending": descending}
                shape = Shape(number=0, keys=keys, indices=indices, **facts)
                yield f"keys {keys} indices {indices} {length} {descending}", ordered(cupy, shape, rows)


def run(cupy: Any, library: Any, options: argparse.Namespace) -> int:
    """Sort all rows; return the exit code."""
    done, wrong, kernels = 0, 0, 0
    with recorded(library) as launches:
        for key in options.key or KEYS:
            launched: set[str] = set()
            for name, fine in calls(cupy, key, few=options.few):
                launched |= set(launches.kernels)
                launches.clear()
                done, wrong = done + 1, wrong + (not fine)
                if not fine:
                    print(f"WRONG {key} {name}", flush=True)
            kernels += len(launched)
            print(f"{key}: launched {' '.join(sorted(launched, key=lambda k: (len(k), k)))}", flush=True)
    print(f"{done} calls, {wrong} wrong, {kernels} kernels launched", flush=True)
    return int(wrong > 0)


def main(argv: list[str]) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--key", choices=KEYS, action="append", help="a key type (all)")
    parser.add_argument("--few", action="store_true", help="the longest rows of each kernel alone")
    return with_cupy("every_row", run, parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
