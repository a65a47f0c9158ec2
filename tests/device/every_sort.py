"""Sorts of keys and of pairs on an NVIDIA GPU, at the least count at which a plan launches each kernel.

The calls are few enough for compute-sanitizer's racecheck.

Usage: python tests/device/every_sort.py [--most COUNT]
Each result is compared with CuPy's.  The last lines name the kernels that were never launched, which takes counts above
--most (by default 2^25).  Exit code 0 if all results are right, 1 if not, 3 without CuPy or hsgen[cuda].
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from grouping_ways import recorded

import hsgen.cuda
from hsgen.core.errors import HsgenError

KEYS: tuple[tuple[str, Any], ...] = (("u32", np.uint32), ("u64", np.uint64))
VALUES = (None, 4, 8)
MASKS = (~0, 0x000FFF000FFF0FFF, 0xFF000003FF000003)
"""Even keys; keys of one highest digit; keys crowded in few values of the highest digit."""


def counts(steps: Any, most: int) -> list[int]:
    """Return the least count of each range of a plan, up to `most`."""
    return sorted({s.guard.min_n + 1 for s in steps if s.guard.min_n < most})


def right(cupy: Any, sorter: Any, dtype: Any, value: int | None, n: int, mask: int) -> bool:
    """Whether a sort of n keys is right; values are the indices of their keys, so a stable sort has one result."""
    rng = cupy.random.default_rng(n)
    high, middle, low = (rng.integers(0, 1 << 31, n, dtype=np.int64) for _ in range(3))
    keys = (high << 33 ^ middle << 15 ^ low).astype(dtype) & dtype(mask & int(np.iinfo(dtype).max))
    order = cupy.argsort(keys, kind="stable")
    out = cupy.empty_like(keys)
    if value is None:
        sorter(keys, out)
        return bool((out == keys[order]).all())
    values = cupy.arange(n, dtype=f"u{value}")
    moved = cupy.empty_like(values)
    sorter(keys, out, values=values, values_out=moved)
    return bool((out == keys[order]).all() and (moved == values[order]).all())


def run(cupy: Any, library: Any, most: int) -> int:
    """Run all sorts; return the exit code."""
    calls = wrong = 0
    never: dict[str, int] = {}
    with recorded(library) as done:
        for key, dtype in KEYS:
            for value in VALUES:
                sorter = hsgen.cuda.Sorter(key, value=value)
                plan, launched = sorter._sort.plan, set[str]()
                for n in counts(plan.steps, most):
                    for mask in MASKS:
                        done.clear()
                        fine = right(cupy, sorter, dtype, value, n, mask)
                        launched |= set(done.kernels)
                        calls, wrong = calls + 1, wrong + (not fine)
                        if not fine:
                            print(f"WRONG {key} {value} n={n} mask={mask:x}", flush=True)
                for step in plan.steps:
                    if step.kernel not in launched:
                        name = f"{key} {value}: {step.kernel}"
                        never[name] = min(never.get(name, 1 << 62), step.guard.min_n)
    for name, least in sorted(never.items()):
        print(f"never launched: {name}, from {least + 1} keys on")
    print(f"{calls} calls, {wrong} wrong, {len(never)} kernels never launched", flush=True)
    return 1 if wrong else 0


def main(argv: list[str]) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--most", type=int, default=1 << 25, help="the greatest count")
    options = parser.parse_args(argv)
    try:
        import cupy

        from hsgen.cuda.libraries import Cupy

        cupy.cuda.set_allocator(None)
        return run(cupy, Cupy, options.most)
    except ImportError as e:
        print(f"every_sort: {e.name or e} is not installed", file=sys.stderr)
        return 3
    except HsgenError as e:
        print(f"every_sort: {e}", file=sys.stderr)
        return e.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
