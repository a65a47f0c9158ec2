"""Sorts or merges of keys and of pairs on an NVIDIA GPU, at the least count at which a plan launches each kernel.

The calls are few enough for compute-sanitizer's racecheck.

Usage: python tests/device/every_sort.py [--most COUNT] [--shrunk] [--merges] [--key KEY] [--value BYTES]
Each result is checked by CuPy, or by numpy where arrays are small.  With --shrunk, the launches of large counts sort
few keys (`shrunk.py`): every kernel of a plan runs, with the text that hsgen generates.  The last lines name the
kernels that were never launched, which takes counts above --most (by default 2^25).  Exit code 0 if all results are
right, 1 if not, 3 without CuPy or hsgen[cuda].  With --shrunk, a kernel that was never launched is a failure.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from grouping_ways import recorded
from shrunk import ZEROS, shrunk, slotted

import hsgen.cuda
from hsgen.core.errors import HsgenError
from hsgen.core.interpreter import Options
from hsgen.core.plan import Plan
from hsgen.cuda.prepared import Prepared

KEYS: tuple[tuple[str, Any], ...] = (("u32", np.uint32), ("u64", np.uint64))
VALUES = (None, 4, 8)
CHUNK = 1 << 26
"""The keys that are compared at once."""
FEW = 61003
"""The least number of keys of a shrunk call: more than five tiles, and a part of a tile."""
MANY = 1 << 22
"""The greatest number of keys that numpy checks."""
MASKS = (~0, 0x000FFF000FFF0FFF, 0xFF000003FF000003)
"""Even keys; keys of one highest digit; keys crowded in few values of the highest digit."""
FULL = 0x000FFFFF000FFFFF
"""A mask for shrunk calls: keys of 64 values of the highest 18 bits, which number buckets that are counted."""


@dataclass(frozen=True)
class Call:
    """A sort of n keys with a mask.

    way: the count whose launches sort the keys, or 0 for n.  zeros: the lowest bits that the mask clears in keys, and
    that are anything in results.
    """

    sorter: Any
    n: int
    mask: int
    in_place: bool = False
    way: int = 0
    zeros: int = 0

    def __str__(self) -> str:
        return f"n={self.n} way={self.way} mask={self.mask:x} in_place={self.in_place}"


def counts(steps: Any, most: int) -> list[int]:
    """Return the least count of each range of a plan, up to `most`."""
    return sorted({s.guard.min_n + 1 for s in steps if s.guard.min_n < most})


def draw(xp: Any, dtype: Any, n: int, mask: int) -> Any:
    """Return n keys of CuPy or numpy: a hash of their places, and a mask."""
    keys = xp.empty(n, dtype)
    for at in range(0, n, CHUNK):
        x = xp.arange(at + 1, min(at + CHUNK, n) + 1, dtype=np.uint64)
        for shift, factor in ((31, 0x9E3779B97F4A7C15), (27, 0xBF58476D1CE4E5B9), (33, 0x94D049BB133111EB)):
            x *= np.uint64(factor)
            x ^= x >> np.uint64(shift)
        keys[at : at + CHUNK] = x.astype(dtype) & dtype(mask & int(np.iinfo(dtype).max))
    return keys


def sums(keys: Any) -> tuple[int, int]:
    """Return two sums over all keys that do not depend on their order."""
    plain = mixed = 0
    for at in range(0, len(keys), CHUNK):
        x = keys[at : at + CHUNK].astype(np.uint64)
        plain += int(x.sum())
        x *= np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(29)
        mixed += int((x * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(32)).sum())
    return plain & (1 << 64) - 1, mixed


def right(cupy: Any, call: Call, dtype: Any, value: int | None) -> bool:
    """Whether a sort is right.

    The values are the places of the keys.  If pairs of key and place ascend strictly and each place has its key, the
    result is the stable permutation of all pairs.  Keys without values ascend and have the sums of the input.
    """
    n = call.n
    xp = np if n <= MANY else cupy  # numpy's arrays need no kernel that a sanitizer would follow
    keys = draw(xp, dtype, n, call.mask)
    source = cupy.array(keys)
    out = source if call.in_place else cupy.empty_like(source)
    values = moved = None
    if value is not None:
        values = cupy.array(xp.arange(n, dtype=f"u{value}"))
        moved = values if call.in_place else cupy.empty_like(values)
    call.sorter(source, out, values=values, values_out=moved)
    if xp is np:
        out, moved = cupy.asnumpy(out), None if moved is None else cupy.asnumpy(moved)
    if call.zeros:
        out = out >> dtype(call.zeros) << dtype(call.zeros)
    return ordered(xp, keys, out, moved)


def merged(cupy: Any, call: Call, dtype: Any, value: int | None) -> bool:
    """Whether a merge is the stable merge of its arrays; values are the places of the keys in both arrays."""
    xp = np if call.n <= MANY else cupy
    keys, first = draw(xp, dtype, call.n, call.mask), call.n * 3 // 8
    a, b = xp.sort(keys[:first]), xp.sort(keys[first:])
    out = cupy.empty_like(cupy.array(keys))
    values: dict[str, Any] = {}
    if value is not None:
        places = xp.arange(call.n, dtype=f"u{value}")
        values = {"a_values": cupy.array(places[:first]), "b_values": cupy.array(places[first:])}
        values["values_out"] = cupy.empty_like(cupy.array(places))
    call.sorter(cupy.array(a), cupy.array(b), out, **values)
    moved = values.get("values_out")
    if xp is np:
        out, moved = cupy.asnumpy(out), None if moved is None else cupy.asnumpy(moved)
    return ordered(xp, xp.concatenate([a, b]), out, moved)


def ordered(xp: Any, keys: Any, out: Any, moved: Any) -> bool:
    """Whether `out` and `moved` are the result of `right`."""
    n = len(keys)
    for at in range(0, n, CHUNK):
        end = min(at + CHUNK + 1, n)
        first, second = out[at : end - 1], out[at + 1 : end]
        if moved is None:
            fine = (first <= second).all()
        else:
            places = moved[at:end]
            fine = ((first < second) | ((first == second) & (places[:-1] < places[1:]))).all()
            fine &= (places < n).all()
            fine &= (keys[xp.minimum(places, places.dtype.type(n - 1))] == out[at:end]).all()
        if not bool(fine):
            return False
    return moved is not None or sums(keys) == sums(out)


def planned(sorter: Any, plan: Plan) -> Any:
    """Return a sorter with the same compiled kernels and another plan."""
    replaced, kernels = copy(sorter), copy(sorter._kernels)
    kernels.sort, kernels.text = replace(sorter._sort, plan=plan), sorter._kernels.text  # of the whole plan
    replaced._known, replaced._ready = {}, {}

    def prepare(n: int, options: Options, *, in_place: bool) -> Prepared:
        return Prepared(kernels, n, options, in_place=in_place)

    replaced._prepare = prepare
    return replaced


def calls_of(sorter: Any, options: argparse.Namespace) -> Iterator[Call]:
    """Yield the calls of a sorter."""
    plan: Plan = sorter._sort.plan
    places = (False,) if options.merges else (False, True)
    masks: tuple[int, ...] = (MASKS[0], MASKS[2]) if options.shrunk else MASKS
    for n in (*counts(plan.steps, FEW if options.shrunk else options.most), *[FEW] * options.shrunk):
        for in_place in places:
            yield from (Call(sorter, n, mask, in_place) for mask in masks[: 1 if in_place else None])
    if not options.shrunk:
        return
    seen: set[str] = set()
    for way, small in shrunk(plan, FEW):
        names = {step.kernel for step in small.steps}
        if slotted(sorter._sort, small) and names <= seen:
            continue
        seen |= names
        small_sorter, n, zeros = planned(sorter, small), FEW, 0
        if slotted(sorter._sort, small):
            n, zeros = max(FEW, (way >> ZEROS) + 1), ZEROS
        for in_place in places:
            for mask in masks[:1] if in_place else (*masks, FULL):
                yield Call(small_sorter, n, mask >> zeros << zeros, in_place, way, zeros)


def run(cupy: Any, library: Any, options: argparse.Namespace) -> int:
    """Run all sorts or merges; return the exit code."""
    runner, check = (hsgen.cuda.Merger, merged) if options.merges else (hsgen.cuda.Sorter, right)
    calls = wrong = kernels = 0
    never: dict[str, int] = {}
    with recorded(library) as done:
        for key, dtype in KEYS:
            if options.key not in (None, key):
                continue
            for value in VALUES if options.value is None else [options.value or None]:
                sorter = runner(key, value=value, target=options.target)
                plan, launched = sorter._sort.plan, set[str]()
                for call in calls_of(sorter, options):
                    done.clear()
                    if options.calls:
                        print(f"{key} {value} {call}", flush=True)
                    fine = check(cupy, call, dtype, value)
                    launched |= set(done.kernels)
                    calls, wrong = calls + 1, wrong + (not fine)
                    if not fine:
                        print(f"WRONG {key} {value} {call}", flush=True)
                kernels += len(launched)
                for step in plan.steps:
                    if step.kernel not in launched:
                        name = f"{key} {value}: {step.kernel}"
                        never[name] = min(never.get(name, 1 << 62), step.guard.min_n)
                print(f"{key} {value}: launched {' '.join(sorted(launched))}", flush=True)
    for name, least in sorted(never.items()):
        print(f"never launched: {name}, from {least + 1} keys on")
    print(f"{calls} calls, {wrong} wrong, {kernels} kernels launched, {len(never)} never", flush=True)
    return 1 if wrong or (options.shrunk and never) else 0


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


def parsed(argv: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--most", type=int, default=1 << 25, help="the greatest count")
    parser.add_argument("--shrunk", action="store_true", help="few keys by the launches of large counts")
    parser.add_argument("--merges", action="store_true", help="merges in place of sorts")
    parser.add_argument("--calls", action="store_true", help="print each call before it begins")
    parser.add_argument("--key", choices=[name for name, _ in KEYS], help="one key type only")
    parser.add_argument("--value", type=int, choices=[value or 0 for value in VALUES], help="one size of values only")
    parser.add_argument("--target", help="the name or file of a target; by default the one that matches the GPU")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """Run the program."""
    return with_cupy("every_sort", run, parsed(argv))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
