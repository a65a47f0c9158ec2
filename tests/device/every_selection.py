"""Selections on an NVIDIA GPU, at both ends of each range of lengths and of k in a plan.

The calls are few enough for compute-sanitizer's tools.

Usage: python tests/device/every_selection.py [--most COUNT] [--key KEY] [--few]
Each result is compared with CuPy's.  With --few, keys are of one kind and rows are two.  The last lines name the
kernels that were never launched, which takes rows longer than --most (by default 2^25).  Exit code 0 if all results are
right, 1 if not, 3 without CuPy or hsgen[cuda].
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from every_sort import with_cupy
from grouping_ways import recorded

import hsgen.cuda

KEYS: dict[str, Any] = {"u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
FORMS = ((None, False), ("index", False), ("index", True), (4, False))
"""Values, and whether rows have lengths."""
GUARD = 64
"""The elements behind each result, which a selection must not write."""


def shapes(steps: Any, most: int, few: bool) -> list[tuple[int, int, int]]:
    """Return numbers of rows, their lengths up to `most`, and k: both ends of the ranges of all steps.

    few: two rows.
    """
    ends = set()
    for guard in (s.guard for s in steps):
        for length in {guard.min_n + 1, min(guard.max_n, most)}:
            for k in {guard.min_take + 1, min(guard.max_take, length)}:
                if guard.min_n < length <= most and guard.min_take < k <= length:
                    ends |= {(rows, length, k) for rows in ((2,) if few else (1, 37 if length < 5000 else 2))}
    return sorted(ends)


def inputs(cupy: Any, dtype: Any, n: int) -> Iterator[tuple[str, Any]]:
    """Yield keys: crowded in few values, even, equal, and periodic."""
    rng = cupy.random.default_rng(n)
    even = (rng.integers(0, 1 << 62, n, dtype=np.int64) * 2 + 1).astype(dtype)
    yield "crowded", even & dtype(0x103)
    yield "even", even
    yield "equal", cupy.full(n, 7, dtype)
    yield "periodic", (cupy.arange(n) & 255).astype(dtype)


def expected(cupy: Any, keys: Any, k: int, lengths: Any, in_order: bool) -> tuple[Any, Any]:
    """Return the least keys of each row and their indices, stable; by index if `in_order` is false."""
    order = cupy.argsort(keys, axis=1, kind="stable")
    if lengths is not None:
        beyond = order >= lengths[:, None]
        order = cupy.take_along_axis(order, cupy.argsort(beyond, axis=1, kind="stable"), 1)
    order = order[:, :k]
    if not in_order:
        order = cupy.sort(order, axis=1)
    picked = cupy.take_along_axis(keys, order, 1)
    if lengths is not None:
        beyond = cupy.arange(k)[None, :] >= lengths[:, None]
        picked[beyond], order[beyond] = np.iinfo(keys.dtype).max, 0xFFFFFFFF
    return picked, order.astype(np.uint32)


def right(cupy: Any, select: Any, keys: Any, k: int, form: tuple[Any, bool]) -> bool:
    """Whether a selection is right; values are computed from places, so a stable selection has one result."""
    value, ragged = form
    rows, length = keys.shape
    lengths, more = None, {}
    if ragged:
        lengths = cupy.random.default_rng(k).integers(0, length + 1, rows, dtype=np.int64).astype(np.uint32)
        more["lengths"] = lengths
    out = cupy.full(rows * k + GUARD, 0x5A, keys.dtype)
    values_out = cupy.full(rows * k + GUARD, 0x5A5A5A5A, np.uint32) if value else None
    if value == 4:
        more["values"] = cupy.arange(rows * length, dtype=np.uint32) * 3 + 1
    if values_out is not None:
        more["values_out"] = values_out[: rows * k]
    select(keys.ravel(), k, rows=rows, out=out[: rows * k], **more)
    picked, order = expected(cupy, keys, k, lengths, k <= select.sorted_up_to)
    fine = bool((out[: rows * k].reshape(rows, k) == picked).all() and (out[rows * k :] == 0x5A).all())
    if values_out is not None:
        if value == 4:
            order = (order + cupy.arange(rows, dtype=np.uint32)[:, None] * length) * 3 + 1
        got = values_out[: rows * k].reshape(rows, k)
        fine = fine and bool((got == order).all() and (values_out[rows * k :] == 0x5A5A5A5A).all())
    return fine


def run(cupy: Any, library: Any, options: argparse.Namespace) -> int:
    """Run all selections; return the exit code."""
    calls = wrong = 0
    never: dict[str, int] = {}
    with recorded(library) as done:
        for key in options.key or sorted(KEYS):
            for form in FORMS:
                value, ragged = form
                select = hsgen.cuda.TopK(key, value=value, order="ascending", lengths=ragged)
                plan, launched = select._sort.plan, set[str]()
                for rows, length, k in shapes(plan.steps, options.most, options.few):
                    for kind, keys in islice(inputs(cupy, KEYS[key], rows * length), 1 if options.few else None):
                        done.clear()
                        fine = right(cupy, select, keys.reshape(rows, length), k, form)
                        launched |= set(done.kernels)
                        calls, wrong = calls + 1, wrong + (not fine)
                        if not fine:
                            print(f"WRONG {key} {form} {rows} x {length} k={k} {kind}", flush=True)
                for step in plan.steps:
                    if step.kernel not in launched:
                        name = f"{key} {form}: {step.kernel}"
                        never[name] = min(never.get(name, 1 << 62), step.guard.min_n)
    for name, least in sorted(never.items()):
        print(f"never launched: {name}, from {least + 1} keys of a row on")
    print(f"{calls} calls, {wrong} wrong, {len(never)} kernels never launched", flush=True)
    return 1 if wrong else 0


def main(argv: list[str]) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--most", type=int, default=1 << 25, help="the greatest length of a row")
    parser.add_argument("--key", choices=sorted(KEYS), action="append", help="a key type (all)")
    parser.add_argument("--few", action="store_true", help="keys of one kind, and two rows")
    options = parser.parse_args(argv)
    return with_cupy("every_selection", run, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
