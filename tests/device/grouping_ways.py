"""Every way that a grouping can go on an NVIDIA GPU, and with --others every other family of kernels, each in a few
calls: for compute-sanitizer.

Run as a program on a machine with such a GPU and CuPy: python tests/device/grouping_ways.py.  Each array and each
scratch memory is an allocation of its own, which nothing initializes, and numpy says what is right, so that a
sanitizer sees the kernels of hsgen alone.  For each way the program prints what the words in scratch memory say about
it and which kernels were launched.  It exits with 1 if a result is wrong or a grouping took another way, with 2 for
wrong options, with 3 without a GPU or CuPy.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import stress
from stress_gpu import PlainGpu
from stress_inputs import HOT, Input, distinct, random32

import hsgen.cuda
from hsgen.algorithms.group_by import few, pair_partition, pair_partition_plan
from hsgen.algorithms.group_by.pair_partition import PairPartition
from hsgen.algorithms.group_by.params import Params
from hsgen.algorithms.radix.partition.params import words as rest_words
from hsgen.core.errors import HsgenError
from hsgen.core.interpreter import offset
from hsgen.core.sort import Sort
from hsgen.cuda.prepared import SCRATCH, Prepared

GROUPED, TABLES, BUCKETS, PASSES, SORTED = "few groups", "digit tables", "buckets", "passes", "sort"
"""The ways: one table of few groups; a table for each value of a digit; buckets; passes over uneven keys in one launch
(`pairs_rest`); the target's own sort."""


@dataclass
class Launches:
    """What the calls since `clear` did: the kernels that they launched, in order; the address of the last one's
    scratch memory; and what frees the memory of all."""

    kernels: list[str]
    scratch: int
    frees: list[Callable[[], None]]

    def clear(self) -> None:
        """Forget all of it, and free scratch memory."""
        self.kernels.clear()
        for free in self.frees:
            free()
        self.frees.clear()


@contextmanager
def recorded(library: type[Any]) -> Iterator[Launches]:
    """Note what is launched, and keep scratch memory of a library of arrays until it was looked at."""
    found = Launches([], 0, [])
    run, free = Prepared.run, library.free

    def noted(self: Any, bases: list[int], stream: int) -> None:
        run(self, bases, stream)
        found.kernels += [name for _, _, name in self._calls[stream]]
        found.scratch = bases[SCRATCH]

    def kept(self: Any, memory: Any, stream: int) -> None:
        found.frees.append(lambda: free(self, memory, stream))

    Prepared.run, library.free = noted, kept  # type: ignore[method-assign]
    try:
        yield found
    finally:
        found.clear()
        Prepared.run, library.free = run, free  # type: ignore[method-assign]


def deals(sort: Sort) -> PairPartition | None:
    """Return the parameters of kernels that partition pairs, if a grouping has them."""
    return next((k.params for k in sort.kernels if isinstance(k.params, PairPartition)), None)


def tables(sort: Sort) -> few.Few | None:
    """Return the shape of tables of few groups, if a grouping has them."""
    return next((k.params.few for k in sort.kernels if isinstance(k.params, Params)), None)


def way_of(sort: Sort, n: int, launched: list[str], words: Callable[[int, int], Any]) -> tuple[str, str]:
    """Return the way that a grouping of n keys took, and what its words say.

    launched: the names of kernels.  words: the function of an offset in bytes and a number of words that returns those
    in scratch memory.
    """
    deal, small = deals(sort), tables(sort)
    if small is None or n <= small.least:
        return SORTED, "no words"
    found = [int(x) for x in words(0, few.WORDS["way"].start + 1)]  # those after these are not always written
    done, many, way = (found[few.WORDS[name].start] for name in ("stored", "overflow", "way"))
    said = f"done {done}, many {many}, way {way}"
    uneven = 0
    if deal and deal.rest and "pairs_rest" in launched and not done and way == pair_partition.SORTED:
        at = offset(pair_partition_plan.bound(deal)["rest"], n) + 4 * rest_words(deal.rest).fallback.start
        uneven = int(words(at, 1)[0])
        said = f"{said}, uneven {uneven}"
    if deal and way != pair_partition.SORTED:
        return (TABLES if way == pair_partition.TABLES else BUCKETS), said
    return (GROUPED if done else PASSES if uneven else SORTED), said


Numbers = Callable[[int, Random], Any]
"""A function of a count that returns 32-bit numbers."""


def _of_values(n: int, values: Any, draw: Random) -> Any:
    return values[np.random.default_rng(draw.getrandbits(30)).integers(0, len(values), n)]


def _uniform(n: int, draw: Random) -> Any:
    return distinct(np, n, draw.getrandbits(30))


def _hot(n: int, draw: Random, rest: Any = None, share: float = 0.9) -> Any:
    """One key at a share of the places, others distinct."""
    rest = _uniform(n, draw) if rest is None else rest
    at = random32(np, n, draw.getrandbits(30)) < np.uint32(share * (1 << 32))
    return np.where(at, np.uint32(HOT), rest)


def _hot_bytes(mask: int) -> Numbers:
    """One key of most, and others that differ from it in the bytes of a mask."""
    own = np.uint32(HOT & ~mask & 0xFFFFFFFF)
    return lambda n, draw: _hot(n, draw, random32(np, n, draw.getrandbits(30)) & np.uint32(mask) | own)


def _groups(number: int) -> Numbers:
    return lambda n, draw: _of_values(n, random32(np, number, draw.getrandbits(30)), draw)


def _with_ends(number: int) -> Numbers:
    """Few values, the least and the greatest number among them: the latter marks empty slots."""

    def make(n: int, draw: Random) -> Any:
        values = random32(np, number, draw.getrandbits(30))
        values[0], values[-1] = np.uint32(0), np.uint32(0xFFFFFFFF)
        return _of_values(n, values, draw)

    return make


def _rounds(n: int, draw: Random) -> Any:
    """Many groups in one value of the first digit, more than a table holds, and others of which keys repeat."""
    x = _of_values(n, random32(np, 3000, draw.getrandbits(30)), draw)
    x[: min(7000, n // 90)] = np.uint32(0x31000000) + np.arange(min(7000, n // 90), dtype=np.uint32)
    return x


def _one_digit(n: int, draw: Random) -> Any:
    """Groups that share one value of the first digit, by a key far away."""
    x = _of_values(n, np.arange(8000, dtype=np.uint32), draw)
    x[:: max(n // 300, 1)] = np.uint32(0xC0000000)
    return x


@dataclass(frozen=True)
class Way:
    """A call of a grouping, and the way that it should take.

    count: the number of keys, given the bounds of the target.  kernels: some that must be launched; where a target
    lacks one, the way is left out.  large: only if the options ask for it.
    """

    name: str
    way: str
    numbers: Numbers
    count: Callable[[Any], int]
    key: str = "u32"
    value: str | None = "u32"
    order: str = "ascending"
    reduction: str = "sum"
    kernels: tuple[str, ...] = ()
    large: bool = False


@dataclass(frozen=True)
class Bounds:
    """The counts at which groupings of a target change: the greatest that one work-group sorts, that has no tables, and
    that one cooperative launch sorts."""

    single: int
    tables: int
    alone: int

    @staticmethod
    def of(sort: Sort) -> Bounds:
        """Return those of a grouping."""
        small, own = tables(sort), {k.name for k in sort.kernels if k.cooperative}
        alone = max((s.guard.max_n for s in sort.plan.steps if s.kernel in own), default=0)
        least = small.least if small else 0
        single = min((s.guard.max_n for s in sort.plan.steps if s.guard.max_n > 0), default=0)
        return Bounds(single, least, max(alone, least, single))


def _least(b: Bounds) -> int:
    return b.tables + 1


def _more(b: Bounds) -> int:
    return b.tables + 4096 + 3


def _beyond(b: Bounds) -> int:
    return b.alone + 1


DEALT = ("pairs_deal", "digit_tables")
REST = ("pairs_rest",)
WAYS = (
    Way("one work-group", SORTED, _groups(50), lambda b: min(b.single, 4096)),
    Way("one work-group, floats", SORTED, _groups(50), lambda b: min(b.single, 4096) - 1, value="f32"),
    Way("below tables, even", SORTED, _uniform, lambda b: b.single + 1),
    Way("below tables, uneven", SORTED, _hot, lambda b: b.single + 5000),
    Way("few groups", GROUPED, _with_ends(300), _least, kernels=("few_tables",)),
    Way("few groups, least", GROUPED, _with_ends(2), _more, reduction="min", kernels=("few_tables",)),
    Way("few groups, keys alone", GROUPED, _with_ends(300), _least, value=None, kernels=("few_tables",)),
    Way("few groups, descending", GROUPED, _with_ends(900), _least, order="descending", kernels=("few_tables",)),
    Way("tables overflow", SORTED, _hot, _more, reduction="max", kernels=("few_tables",)),
    Way("tables overflow, keys alone", SORTED, _hot, _more, value=None, kernels=("few_tables",)),
    Way("digit tables", TABLES, _groups(8000), _more, kernels=DEALT),
    Way("digit tables, least", TABLES, _groups(5000), _more, reduction="min", kernels=DEALT),
    Way("digit tables, f32 descending", TABLES, _groups(8000), _more, "f32", "f32", "descending", "max", DEALT),
    Way("digit tables in rounds", TABLES, _rounds, lambda b: b.tables + 640_000, kernels=DEALT),
    Way("one digit holds all", SORTED, _one_digit, _more, kernels=DEALT),
    Way("distinct keys, one launch", SORTED, _uniform, _more),
    Way("sums of floats, even", SORTED, _uniform, _more, value="f32"),
    Way("sums of floats, uneven", SORTED, _hot, _more, value="f32"),
    Way("sums of floats, repeated", SORTED, _groups(3000), _more, value="f32"),
    Way("sums of floats, few groups", SORTED, _with_ends(5), _more, value="f32"),
    Way("buckets", BUCKETS, _uniform, _beyond, kernels=("pairs_bucket",)),
    Way("buckets, i32 descending", BUCKETS, _uniform, _beyond, "i32", "i32", "descending", "min", ("pairs_bucket",)),
    Way("passes over 4 digits", PASSES, _hot, _beyond, reduction="min", kernels=REST),
    Way("passes over 3 digits", PASSES, _hot_bytes(0x00FFFFFF), _beyond, kernels=REST),
    Way("passes over 2 digits", PASSES, _hot_bytes(0xFF00FF00), _beyond, kernels=REST),
    Way("passes, f32 descending", PASSES, _hot, _beyond, "f32", "f32", "descending", "max", REST),
    Way("tables, large", TABLES, _groups(100_000), _beyond, kernels=DEALT),
    Way("few groups, large", GROUPED, _with_ends(900), _beyond, kernels=("few_tables",)),
    Way("sums of floats, large", SORTED, _uniform, _beyond, value="f32"),
    Way("sums of floats, large, uneven", SORTED, _hot, _beyond, value="f32"),
    Way("keys alone, large", SORTED, _uniform, _beyond, value=None),
    Way("keys alone, large, uneven", SORTED, _hot, _beyond, value=None),
    Way("u64", SORTED, _uniform, lambda b: 20_000, key="u64"),
    Way("u64, large", SORTED, _uniform, _beyond, key="u64"),
    Way("u64, large, uneven", SORTED, _hot, _beyond, key="u64"),
    Way("wider digits", TABLES, _groups(700_000), lambda b: (1 << 22) + 100_000, kernels=DEALT, large=True),
)
"""Every way, and the ways to it.  Where keys vary, counts are the least that take it."""


def grouped(s: stress.Stress, way: Way, done: Launches, bytes_at: Callable[[int, int], Any]) -> list[str] | None:
    """Call a grouping; return what is wrong, or None if the target has no such way."""
    sort: Sort = s.made(hsgen.cuda.GroupBy, way.key, value=way.value, order=way.order)._sort
    if not set(way.kernels) <= {k.name for k in sort.kernels}:
        return None
    n = way.count(Bounds.of(sort))
    x = Input.of(np, way.name, way.numbers(n, Random(len(way.name))).astype(np.uint32))
    done.clear()
    call = stress.group_by(s, x, way.key, way.value, way.order, way.reduction)
    call.run(None)
    taken, words = way_of(sort, n, done.kernels, lambda at, size: bytes_at(done.scratch + at, size))
    call.check(0)
    wrong = [f"{call.outputs[f.field]}: {f.count} wrong, the first at {f.index}" for f in s.gpu.faults()]
    if taken != way.way:
        wrong.append(f"way taken: {taken}, not {way.way}")
    if lacking := set(way.kernels) - set(done.kernels):
        wrong.append(f"not launched: {', '.join(sorted(lacking))}")
    launched = " ".join(dict.fromkeys(done.kernels))
    print(f"{way.name:30} n {n:8}: {taken} ({words})\n    {call.said}: {launched}", flush=True)
    return wrong


AGAIN = {stress.segmented: 4, stress.top_k: 4}
"""How often operations are called with the same keys: at random with offsets or rows, and with another k."""
MORE = (8000, 124_000, 300_000)
"""Counts in addition to those at which plans change: with rows of many lengths, and with many tiles."""


def others(s: stress.Stress, done: Launches, given: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """Call every other operation at each count up to `most` from which on its plan has other launches, with even and
    uneven keys; yield the name of each call and what was wrong."""
    most = given.most
    for work in (*stress.OTHERS, (stress.scan, "u32", 3, False), (stress.scan, "u32", 2, True)):
        if given.only and work[0].__name__ not in given.only:
            continue
        before = set(s._objects)
        work[0](s, Input(np, "uniform", 64, 1), *work[1:])
        made = [v for k, v in s._objects.items() if k not in before] or [None]
        plan = getattr(getattr(made[0], "_sort", None), "plan", None)
        switches = {g.guard.min_n for g in plan.steps} if plan else {0, 5000, 70_000}
        counts = {max(g, 99) + 1 for g in switches if g < most}
        for n in sorted(counts | {n for n in MORE if n <= most}):
            for kind in ("distinct", "hot") * AGAIN.get(work[0], 1):
                done.clear()
                try:
                    call = work[0](s, Input(np, kind, n, n), *work[1:])
                    call.run(None)
                    found = call.check(0)
                    wrong = [f"{call.outputs[f.field]}: {f.count} wrong, from {f.index} on" for f in s.gpu.faults()]
                    wrong += [found] if found else []
                    launched = " ".join(dict.fromkeys(done.kernels))
                    print(f"{call.said}, n {n}, {kind}: {launched}", flush=True)
                except HsgenError as e:
                    wrong = [str(e)]
                yield f"{work[0].__name__} {work[1:]} n={n} {kind}", wrong


def run(s: stress.Stress, library: type[Any], bytes_at: Callable[[int, int], Any], given: argparse.Namespace) -> int:
    """Call what the options ask for; return the exit code."""
    failed = calls = 0
    with recorded(library) as done:
        if given.others:
            for name, wrong in others(s, done, given):
                calls, failed = calls + 1, failed + bool(wrong)
                print(*(f"WRONG {name}: {text}" for text in wrong), sep="\n", end="\n" if wrong else "")
        for way in () if given.others else WAYS:
            if (given.only and way.name not in given.only) or (way.large and not given.large):
                continue
            wrong = grouped(s, way, done, bytes_at)
            if wrong is None:
                print(f"{way.name:30} left out: this target has no {', '.join(way.kernels)}")
                continue
            calls, failed = calls + 1, failed + bool(wrong)
            print(*(f"WRONG {way.name}: {text}" for text in wrong), sep="\n", end="\n" if wrong else "")
    print(f"{calls} calls, {failed} wrong", flush=True)
    return 1 if failed else 0


def options(argv: list[str]) -> argparse.Namespace:
    """Return the options after checks; wrong ones end the program with 2."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--others", action="store_true", help="the other operations, at the counts of each plan")
    parser.add_argument("--most", type=int, default=2_200_000, help="the greatest of these counts")
    parser.add_argument("--large", action="store_true", help="also the ways that take more than 2^22 keys")
    parser.add_argument(
        "--only", action="append", help="a way or another operation by its name; can be repeated", metavar="NAME"
    )
    parser.add_argument("--list", action="store_true", help="print the names of all ways")
    parser.add_argument("--target", help="the name or file of a target; by default the one that matches the GPU")
    given = parser.parse_args(argv)
    names = [work[0].__name__ for work in stress.OTHERS] if given.others else [w.name for w in WAYS]
    if unknown := [x for x in given.only or () if x not in names]:
        parser.error(f"--only: there is no {unknown[0]!r} among: {', '.join(dict.fromkeys(names))}")
    return given


def main(argv: list[str]) -> int:
    """Run the program."""
    given = options(argv)
    if given.list:
        print(*(w.name for w in WAYS), sep="\n")
        return 0
    try:
        import cupy

        from hsgen.cuda.libraries import Cupy

        cupy.cuda.set_allocator(None)

        def bytes_at(address: int, words: int) -> Any:
            memory = cupy.cuda.UnownedMemory(address, 4 * words, None)
            return cupy.ndarray(words, np.uint32, cupy.cuda.MemoryPointer(memory, 0)).get()

        return run(stress.Stress(PlainGpu(), Random(1), target=given.target), Cupy, bytes_at, given)
    except ImportError as e:
        print(f"grouping_ways: {e.name or e} is not installed", file=sys.stderr)
        return 3
    except HsgenError as e:
        print(f"grouping_ways: {e}", file=sys.stderr)
        return e.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
