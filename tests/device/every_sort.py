"""Sorts of keys and of pairs on an NVIDIA GPU, at the least count at which a plan launches each kernel.

The calls are few enough for compute-sanitizer's racecheck.

Usage: python tests/device/every_sort.py [--most COUNT] [--key KEY] [--value BYTES]
Each result is checked by CuPy.  The last lines name the kernels that were never launched, which takes counts above
--most (by default 2^25).  Exit code 0 if all results are right, 1 if not, 3 without CuPy or hsgen[cuda].
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from grouping_ways import recorded

import hsgen.cuda
from hsgen.core.errors import HsgenError

KEYS: tuple[tuple[str, Any], ...] = (("u32", np.uint32), ("u64", np.uint64))
VALUES = (None, 4, 8)
CHUNK = 1 << 26
"""The keys that are compared at once."""
MASKS = (~0, 0x000FFF000FFF0FFF, 0xFF000003FF000003)
"""Even keys; keys of one highest digit; keys crowded in few values of the highest digit."""


def counts(steps: Any, most: int) -> list[int]:
    """Return the least count of each range of a plan, up to `most`."""
    return sorted({s.guard.min_n + 1 for s in steps if s.guard.min_n < most})


def draw(cupy: Any, dtype: Any, n: int, mask: int) -> Any:
    """Return n keys: a hash of their places, and a mask."""
    keys = cupy.empty(n, dtype)
    for at in range(0, n, CHUNK):
        x = cupy.arange(at + 1, min(at + CHUNK, n) + 1, dtype=np.uint64)
        for shift, factor in ((31, 0x9E3779B97F4A7C15), (27, 0xBF58476D1CE4E5B9), (33, 0x94D049BB133111EB)):
            x *= np.uint64(factor)
            x ^= x >> np.uint64(shift)
        keys[at : at + CHUNK] = x.astype(dtype) & dtype(mask & int(np.iinfo(dtype).max))
    return keys


def sums(cupy: Any, keys: Any) -> tuple[int, int]:
    """Return two sums over all keys that do not depend on their order."""
    plain = mixed = 0
    for at in range(0, len(keys), CHUNK):
        x = keys[at : at + CHUNK].astype(np.uint64)
        plain += int(x.sum())
        x *= np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(29)
        mixed += int((x * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(32)).sum())
    return plain & (1 << 64) - 1, mixed


def right(cupy: Any, sorter: Any, dtype: Any, value: int | None, n: int, mask: int) -> bool:
    """Whether a sort of n keys is right.

    The values are the places of the keys.  If pairs of key and place ascend strictly and each place has its key, the
    result is the stable permutation of all pairs.  Keys without values ascend and have the sums of the input.
    """
    keys = draw(cupy, dtype, n, mask)
    out = cupy.empty_like(keys)
    values = moved = None
    if value is None:
        sorter(keys, out)
    else:
        values = cupy.arange(n, dtype=f"u{value}")
        moved = cupy.empty_like(values)
        sorter(keys, out, values=values, values_out=moved)
    for at in range(0, n, CHUNK):
        end = min(at + CHUNK + 1, n)
        first, second = out[at : end - 1], out[at + 1 : end]
        if moved is None:
            fine = (first <= second).all()
        else:
            places = moved[at:end]
            fine = ((first < second) | ((first == second) & (places[:-1] < places[1:]))).all()
            fine &= (places < n).all()
            fine &= (keys[cupy.minimum(places, places.dtype.type(n - 1))] == out[at:end]).all()
        if not bool(fine):
            return False
    return moved is not None or sums(cupy, keys) == sums(cupy, out)


def run(cupy: Any, library: Any, options: argparse.Namespace) -> int:
    """Run all sorts; return the exit code."""
    most = options.most
    calls = wrong = 0
    never: dict[str, int] = {}
    with recorded(library) as done:
        for key, dtype in KEYS:
            if options.key not in (None, key):
                continue
            for value in VALUES if options.value is None else [options.value or None]:
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


def with_cupy(program: str, run: Callable[..., int], options: argparse.Namespace) -> int:
    """Return the exit code of a program's `run`, which takes CuPy, its library and options; 3 without CuPy."""
    try:
        import cupy

        from hsgen.cuda.libraries import Cupy

        cupy.cuda.set_allocator(None)
        return run(cupy, Cupy, options)
    except ImportError as e:
        print(f"{program}: {e.name or e} is not installed", file=sys.stderr)
        return 3
    except HsgenError as e:
        print(f"{program}: {e}", file=sys.stderr)
        return e.exit_code


def main(argv: list[str]) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--most", type=int, default=1 << 25, help="the greatest count")
    parser.add_argument("--key", choices=[name for name, _ in KEYS], help="one key type only")
    parser.add_argument("--value", type=int, choices=[value or 0 for value in VALUES], help="one size of values only")
    options = parser.parse_args(argv)
    return with_cupy("every_sort", run, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
