"""All operations of `hsgen.cuda` in random order on an NVIDIA GPU, each result compared on the GPU.

Run as a program on a machine with such a GPU and CuPy: python tests/device/stress.py --seconds 60.  Arrays and scratch
memory come from CuPy's pool, so that each call gets memory that another one has just used.  Calls are enqueued in
bursts, behind each other and on several streams; no call waits for the GPU.  The program prints its seed first and the
number of calls of each operation last.  It exits with 1 at a wrong result, with 2 for wrong options, with 3 without a
GPU or CuPy.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from stress_gpu import CupyGpu, Gpu
from stress_inputs import KINDS, Input, key_bits, kind_of, sizes

import hsgen.cuda
from hsgen.core.errors import HsgenError
from hsgen.core.keys import TYPES

MOST = 5_500_000
"""The greatest count: sums of floats of more keys would not be exact."""
SLOTS = 256
"""Calls between two looks at what the checks have found."""
CALLS, INPUTS = 400, 10
"""The calls with the same inputs, and the number of these."""
POOL = 30 << 30
"""Bytes of CuPy's pool above which it is emptied."""
REDUCTIONS = ("sum", "min", "max")
CONSTANTS = (0, 0xFFFFFFFF, 1, 0x01010101, 0x80000000, 0x40000000, 0xC0000000, 0x7824A24F)
"""Words that memory is filled with: those of states of look-back with and without a count, and a key."""

DELAYED = 7
"""The field of what a kernel reads that `Gpu.delay` launches."""

Run = Callable[[Any], None]


@dataclass
class Call:
    """A call whose arrays exist: `run` enqueues it, with a stream or None; `check` enqueues the comparison of its
    results, and returns what is wrong already.

    outputs: the names of the fields of `check`.
    """

    said: str
    outputs: tuple[str, ...]
    run: Run
    check: Callable[[int], str | None]


@dataclass
class Stress:
    """The state of a run: random choices and inputs.

    target: of all objects; None: the one that matches the GPU.  patterned: how often scratch memory is filled.  before:
    what is enqueued just before the call whose arrays are being made.
    """

    gpu: Gpu
    draw: Random
    streams: int = 1
    delay: bool = False
    target: str | None = None
    sizes: tuple[int, ...] = ()
    kinds: tuple[str, ...] = tuple(KINDS)
    least: int = 1
    most: int = 4_000_000
    inputs: list[Input] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    groupings: Counter[str] = field(default_factory=Counter)
    _objects: dict[Any, Any] = field(default_factory=dict)
    _switches: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        xp = self.gpu.xp
        words = (*CONSTANTS, self.draw.getrandbits(32))
        self.constants = [xp.asarray(np.array([x], np.uint32)) for x in words]
        self.patterned = 0.0
        self.before: list[Callable[[], None]] = []

    def made(self, kind: Any, *args: Any, **more: Any) -> Any:
        """Return an object of hsgen.cuda, made at the first time."""
        name = kind, args, tuple(sorted(more.items(), key=str))
        if name not in self._objects:
            self._objects[name] = kind(*args, target=self.target, **more)
            plan = getattr(getattr(self._objects[name], "_sort", None), "plan", None)
            bounds = {x for s in (plan.steps if plan else ()) for x in (s.guard.min_n, s.guard.max_n)}
            self._switches |= {x for x in bounds if 0 < x <= MOST}
        return self._objects[name]

    def pattern(self, often: float = 1.0) -> Any:
        """Return words to fill memory with: a constant, or keys; None: memory stays as it was."""
        if self.draw.random() >= often:
            return None
        return self.draw.choice([*self.constants, *(x.x for x in self.inputs)])

    def output(self, n: int, dtype: Any) -> Any:
        """Return an array for a result; what is there before is hardly ever right."""
        return self.gpu.empty(n, dtype, self.pattern(0.9))

    def scratch(self) -> Any:
        """Return what scratch memory of this call is filled with."""
        return self.pattern(self.patterned)

    def count(self) -> int:
        """Return a count of keys."""
        if self.sizes:
            return self.draw.choice(self.sizes)
        return sizes(self.draw, sorted(self._switches), self.least, self.most)

    def renew(self) -> None:
        """Draw new inputs."""
        self.gpu.wait()
        self.inputs.clear()
        for _ in range(INPUTS):
            kind, n, seed = kind_of(self.draw, self.kinds), self.count(), self.draw.getrandbits(62)
            self.inputs.append(Input(self.gpu.xp, kind, n, seed, self.gpu.wait))
            assert len(self.inputs[-1].x) == n  # made now, not within a burst

    def turn(self, x: Input) -> int:
        """Return the place from which an input is read on, cyclically."""
        return self.draw.choice([0, self.draw.randrange(x.n)])

    def keys(self, x: Input, key: str, shift: int) -> Any:
        """Return keys of a type as an array for a call; with delays, a kernel may store them just before the call."""
        found = self.gpu.turned(x.bits(key), dtype_of(key), shift)
        if not self.delay or self.draw.random() >= 0.3:
            return found
        to, cycles = self.gpu.empty(x.n, dtype_of(key), self.pattern()), self.draw.randrange(1 << 16)
        self.before.append(lambda: self.gpu.late(to, found, cycles))
        return to


def dtype_of(key: str) -> Any:
    """Return the numpy type of keys or values."""
    return np.dtype(TYPES[key].numpy)


def group_by(s: Stress, x: Input, key: str, value: str | None, order: str, chosen: str = "") -> Call:
    """A grouping by a random reduction or a `chosen` one, with counts and first indices or without."""
    grouping = s.made(hsgen.cuda.GroupBy, key, value=value, order=order)
    reduction, counted, firsts = chosen or s.draw.choice(REDUCTIONS), s.draw.random() < 0.7, s.draw.random() < 0.5
    shift = s.turn(x)
    keys, out, number = s.keys(x, key, shift), s.output(x.n, dtype_of(key)), s.output(1, np.uint32)
    counts, first = (s.output(x.n, np.uint32) if given else None for given in (counted, firsts))
    add, values, reduced = 0, None, None
    if value is not None:
        add = 0 if value == "f32" else s.draw.randrange(1 << 30)
        values = s.gpu.turned(x.values(value), dtype_of(value), shift, add)
        reduced = s.output(x.n, dtype_of(value))
    held = [keys, values]

    def run(stream: Any) -> None:
        more = {} if held[1] is None else {"values": held[1], "values_out": reduced, "reduction": reduction}
        grouping(held[0], out=out, groups=number, counts=counts, first_indices=first, stream=stream, **more)
        if not read:
            held.clear()  # the next call gets the memory

    read = s.draw.random() < 0.1

    def check(slot: int) -> None:
        def right(name: str) -> Any:
            return x.grouped(name, key, value or "u32", order == "descending")

        s.gpu.same(slot, 0, number, s.gpu.xp.full(1, len(right("counts")), np.uint32))
        s.gpu.same(slot, 1, out, right("keys"))
        if counts is not None:
            s.gpu.same(slot, 2, counts, right("counts"))
        if first is not None:
            s.gpu.same(slot, 3, first, right("firsts"))
        if reduced is not None:
            times = right("counts") if reduction == "sum" else None
            s.gpu.same(slot, 4, reduced, right(reduction), times=times, add=add)
        if read:
            s.gpu.same(slot, 5, held[0], x.bits(key), shift=shift)
            if value is not None:
                s.gpu.same(slot, 6, held[1], x.values(value), shift=shift, add=add)
        del held[:]

    said = f"group_by {key} {value} {order} {reduction}{' counts' * counted}{' firsts' * firsts}"
    return Call(said, ("groups", "out", "counts", "first_indices", "values_out", "keys", "values"), run, check)


def unique(s: Stress, x: Input, key: str) -> Call:
    """The distinct keys and how many there are of each: waits for their number."""
    keys = s.keys(x, key, s.turn(x))
    found: list[Any] = []

    def run(stream: Any) -> None:
        found.extend(hsgen.cuda.unique(keys, return_counts=True))

    def check(slot: int) -> str | None:
        right = [x.grouped(name, key, "u32", False) for name in ("keys", "counts")]
        if found[0].shape[0] != len(right[0]):
            return f"{found[0].shape[0]} groups, right: {len(right[0])}"
        for number, (is_, should) in enumerate(zip(found, right, strict=True)):
            s.gpu.same(slot, number, is_, should)
        return None

    return Call(f"unique {key}", ("keys", "counts"), run, check)


def reduce_by_key(s: Stress, x: Input, key: str, value: str | None) -> Call:
    """A reduction of runs."""
    reduce = s.made(hsgen.cuda.ReduceByKey, key, value=value)
    reduction = s.draw.choice(REDUCTIONS)
    bits = x.once(("runs", key), lambda: key_bits(x.xp, key, x.in_runs))
    keys, out, number = s.gpu.turned(bits, dtype_of(key)), s.output(x.n, dtype_of(key)), s.output(1, np.uint32)
    counts, first = s.output(x.n, np.uint32), s.output(x.n, np.uint32)
    more, add = {}, 0
    if value is not None:
        add = 0 if value == "f32" else s.draw.randrange(1 << 30)
        values = s.gpu.turned(x.values(value), dtype_of(value), 0, add)
        more = {"values": values, "values_out": s.output(x.n, dtype_of(value)), "reduction": reduction}

    def run(stream: Any) -> None:
        reduce(keys, out=out, groups=number, counts=counts, first_indices=first, stream=stream, **more)

    def check(slot: int) -> None:
        def right(name: str) -> Any:
            return x.run_output(name, key, value or "u32")

        s.gpu.same(slot, 0, number, s.gpu.xp.full(1, len(right("counts")), np.uint32))
        for at, (array, name) in enumerate(((out, "keys"), (counts, "counts"), (first, "firsts")), 1):
            s.gpu.same(slot, at, array, right(name))
        if value is not None:
            times = right("counts") if reduction == "sum" else None
            s.gpu.same(slot, 4, more["values_out"], right(reduction), times=times, add=add)

    said = f"reduce_by_key {key} {value} {reduction}"
    return Call(said, ("groups", "out", "counts", "first_indices", "values_out"), run, check)


def run_lengths(s: Stress, x: Input, key: str) -> Call:
    """The keys and lengths of runs: waits for their number."""
    keys = s.gpu.turned(x.once(("runs", key), lambda: key_bits(x.xp, key, x.in_runs)), dtype_of(key))
    found: list[Any] = []

    def run(stream: Any) -> None:
        found.extend(hsgen.cuda.run_length_encode(keys))

    def check(slot: int) -> str | None:
        right = [x.run_output(name, key, "u32") for name in ("keys", "counts")]
        if found[0].shape[0] != len(right[0]):
            return f"{found[0].shape[0]} runs, right: {len(right[0])}"
        for number, (is_, should) in enumerate(zip(found, right, strict=True)):
            s.gpu.same(slot, number, is_, should)
        return None

    return Call(f"run_length_encode {key}", ("keys", "lengths"), run, check)


def sort(s: Stress, x: Input, key: str, order: str) -> Call:
    """A sort of keys alone, in place or not."""
    sorter = s.made(hsgen.cuda.Sorter, key, order=order)
    keys, here = s.keys(x, key, s.turn(x)), s.draw.random() < 0.5
    out = keys if here else s.output(x.n, dtype_of(key))

    def run(stream: Any) -> None:
        sorter(keys, None if here else out, stream=stream)

    def check(slot: int) -> None:
        s.gpu.same(slot, 0, out, x.sorted_bits(key, order == "descending"))

    return Call(f"sort {key} {order}{' in place' * here}", ("out",), run, check)


def argsort(s: Stress, x: Input, key: str, value: str, order: str) -> Call:
    """A stable argsort."""
    sorter, shift = s.made(hsgen.cuda.Sorter, key, value=value, order=order), s.turn(x)
    keys, out = s.keys(x, key, shift), s.output(x.n, dtype_of(key))
    index = s.output(x.n, np.uint64 if value == "index64" else np.uint32)

    def run(stream: Any) -> None:
        sorter(keys, out, values_out=index, stream=stream)

    def check(slot: int) -> None:
        s.gpu.order(slot, 0, index, x.order_of(order == "descending"), x.bits(key), out, shift=shift)

    return Call(f"argsort {key} {value} {order}", ("index",), run, check)


def pairs(s: Stress, x: Input, key: str, size: int, order: str) -> Call:
    """A stable sort of keys with values, which are places from a random number on."""
    sorter, shift = s.made(hsgen.cuda.Sorter, key, value=size, order=order), s.turn(x)
    dtype, base, here = np.dtype(f"u{size}"), s.draw.getrandbits(31), s.draw.random() < 0.5
    keys, values = s.keys(x, key, shift), s.gpu.turned(places(x, dtype), dtype, 0, base)
    out, moved = (keys, values) if here else (s.output(x.n, dtype_of(key)), s.output(x.n, dtype))

    def run(stream: Any) -> None:
        sorter(keys, None if here else out, values=values, values_out=None if here else moved, stream=stream)

    def check(slot: int) -> None:
        by = x.order_of(order == "descending")
        s.gpu.order(slot, 0, moved, by, x.bits(key), out, shift=shift, base=base)

    return Call(f"pairs {key} {size} {order}{' in place' * here}", ("values_out",), run, check)


def places(x: Input, dtype: Any) -> Any:
    """Return the numbers from 0 on."""
    return x.once(("places", str(dtype)), lambda: x.xp.arange(x.n, dtype=dtype))


def segmented(s: Stress, x: Input, key: str, value: str | None, order: str) -> Call:
    """A sort of segments, with offsets or of rows of equal length."""
    sorter = s.made(hsgen.cuda.SegmentedSorter, key, value=value, order=order)
    shift = s.turn(x) if value else 0
    keys, out = s.keys(x, key, shift), s.output(x.n, dtype_of(key))
    index = s.output(x.n, np.uint32) if value else None
    number = s.draw.choice([1, 3, 100, 1 + x.n // 700, 1 + x.n // 40])
    lengths = [d for d in (1, 2, 31, 64, 500, 1000, 2048, 4000) if x.n % d == 0 and d < x.n]
    length = s.draw.choice(lengths) if lengths and s.draw.random() < 0.5 else 0
    offsets = None if length else s.gpu.turned(x.segments(number), np.uint32)

    def run(stream: Any) -> None:
        more = {"segments": x.n // length} if length else {"offsets": offsets}
        sorter(keys, out=out, values_out=index, stream=stream, **more)

    def check(slot: int) -> None:
        part, down = x.row_of(length) if length else x.segment_of(number), order == "descending"
        if value:
            s.gpu.order(slot, 0, index, x.order_of(down), x.bits(key), out, part, shift=shift)
            return
        assert not down
        name = key, length, number
        right = x.once(("parts", name), lambda: key_bits(x.xp, key, x.sorted_parts(name[1:], part)))
        s.gpu.same(slot, 0, out, right)

    shape = f"rows of {length}" if length else f"{number + 1} segments"
    return Call(f"segmented_sort {key} {value} {order} {shape}", ("index" if value else "out",), run, check)


def merge(s: Stress, x: Input, key: str, value: int | None) -> Call:
    """A stable merge of two sorted arrays."""
    merger = s.made(hsgen.cuda.Merger, key, value=value)
    split = s.draw.choice([0, 1, x.n // 3, x.n // 2, x.n - 1])
    numbers, _ = x.merged(split)
    bits = x.once(("merged bits", key, split), lambda: key_bits(x.xp, key, numbers))
    a, b = (s.gpu.turned(part, dtype_of(key)) for part in (bits[:split], bits[split:]))
    out, more = s.output(x.n, dtype_of(key)), {}
    if value:
        every = places(x, np.dtype(np.uint32))
        more = {
            "a_values": s.gpu.turned(every[:split], np.uint32),
            "b_values": s.gpu.turned(every[split:], np.uint32),
            "values_out": s.output(x.n, np.uint32),
        }

    def run(stream: Any) -> None:
        merger(a, b, out, stream=stream, **more)

    def check(slot: int) -> None:
        s.gpu.same(slot, 0, out, x.sorted_bits(key, False))
        if value:
            s.gpu.order(slot, 1, more["values_out"], numbers)

    return Call(f"merge {key} {value} {split}+{x.n - split}", ("out", "values_out"), run, check)


def top_k(s: Stress, x: Input, key: str, value: str | None, order: str) -> Call:
    """The first keys of rows."""
    select = s.made(hsgen.cuda.TopK, key, value=value, order=order)
    rows = min(s.draw.choice([1, 1, 7, 64]), x.n)
    length, down = x.n // rows, order == "descending"
    k = min(s.draw.choice([1, 10, 64, 300, 2048, max(length // 3, 1)]), length)
    keys = s.gpu.turned(x.bits(key)[: rows * length], dtype_of(key))
    out = s.output(rows * k, dtype_of(key))
    index = s.output(rows * k, np.uint32) if value else None

    def run(stream: Any) -> None:
        select(keys, k, rows=rows, out=out, values_out=index, stream=stream)

    def check(slot: int) -> None:
        in_order = k <= select.sorted_up_to
        numbers, first = x.selected(rows, k, down, in_order=in_order)
        name = "selected bits", key, rows, k, down
        s.gpu.same(slot, 0, out, x.once(name, lambda: key_bits(x.xp, key, numbers)))
        if value:
            s.gpu.same(slot, 1, index, first)

    return Call(f"top_k {key} {value} {order} {rows} x {length} k={k}", ("out", "index"), run, check)


def scan(s: Stress, x: Input, key: str, columns: int, exclusive: bool) -> Call:
    """Prefix sums of the columns of a table, in place or not."""
    scanner = s.made(hsgen.cuda.Scanner, key, columns=columns, exclusive=exclusive)
    bits, here = x.summands(key, columns), s.draw.random() < 0.5
    add = 0 if key == "f32" else s.draw.getrandbits(31)
    table = s.gpu.turned(bits, dtype_of(key), 0, add)
    out = table if here else s.output(len(bits), dtype_of(key))

    def run(stream: Any) -> None:
        scanner(table, None if here else out, stream=stream)

    def check(slot: int) -> None:
        right = x.summed(key, columns, exclusive=exclusive)
        times = x.row_numbers(columns, exclusive=exclusive) if add else None
        s.gpu.same(slot, 0, out, right, times=times, add=add)

    said = f"scan {key} x {columns}{' exclusive' * exclusive}{' in place' * here}"
    return Call(said, ("out",), run, check)


COLUMNS: dict[str, tuple[Any, ...]] = {
    "narrow": ("u16", ("u16", "descending")),
    "wide": ("u64", ("u32", "descending"), "u8"),
}
"""The columns of sorts of tables."""


def columns_of(x: Input, name: str) -> list[Any]:
    """Return columns whose rows are in the order of an input's numbers."""
    if name == "narrow":
        high, low = x.x >> np.uint32(16), ~x.x & np.uint32(0xFFFF)
        return [high.astype(np.uint16), low.astype(np.uint16)]
    high, middle, low = x.x >> np.uint32(12), ~x.x >> np.uint32(8) & np.uint32(15), x.x & np.uint32(255)
    return [key_bits(x.xp, "u64", high), middle, low.astype(np.uint8)]


def columns(s: Stress, x: Input, name: str) -> Call:
    """The order of rows by several columns, and values that move along."""
    sorter, words = s.made(hsgen.cuda.ColumnSorter, COLUMNS[name]), s.draw.choice([0, 1, 3])
    given = [s.gpu.turned(c, c.dtype) for c in x.once(("columns", name), lambda: columns_of(x, name))]
    index, more = s.output(x.n, np.uint32), {}
    if words:
        every = x.once(("words", words), lambda: x.xp.arange(x.n * words, dtype=np.uint32))
        more = {
            "values": [s.gpu.table(s.gpu.turned(every, np.uint32), words)],
            "values_out": [s.gpu.table(s.output(x.n * words, np.uint32), words)],
        }

    def run(stream: Any) -> None:
        sorter(given, index_out=index, stream=stream, **more)

    def check(slot: int) -> None:
        s.gpu.order(slot, 0, index, x.x)
        if words:
            rows = s.gpu.seen(index)[:, None] * np.uint32(words) + x.xp.arange(words, dtype=np.uint32)
            s.gpu.same(slot, 1, more["values_out"][0], rows.ravel())

    return Call(f"columns {name}, values of {words} words", ("index", "values"), run, check)


def gather(s: Stress, x: Input) -> Call:
    """Items of a table by index."""
    gatherer, words = s.made(hsgen.cuda.Gatherer), s.draw.choice([1, 2, 4, 5])
    rows = x.n // words
    index = x.once(
        ("gathered", words), lambda: (x.sorted[: max(rows, 1)] ^ x.x[: max(rows, 1)]) % np.uint32(max(rows, 1))
    )
    table = x.bits("u32")[: rows * words]
    given, source = s.gpu.turned(index[:rows], np.uint32), s.gpu.turned(table, np.uint32)
    out = s.output(rows * words, np.uint32)

    def run(stream: Any) -> None:
        if rows:
            gatherer(given, source, out, item_bytes=4 * words, stream=stream)

    def check(slot: int) -> None:
        right = x.once(
            ("gathered items", words), lambda: table.reshape(rows, words)[index[:rows].astype(np.int64)].ravel()
        )
        s.gpu.same(slot, 0, out, right)

    return Call(f"gather items of {4 * words} bytes", ("out",), run, check)


def digest(s: Stress, x: Input, key: str) -> Call:
    """A digest of sorted pairs, which waits; it must be that of a sort of what was digested before, and of no other."""
    checker = s.made(hsgen.cuda.Checker, key, value=4)
    one = np.dtype(np.uint32)
    sorted_ = s.gpu.turned(x.sorted_bits(key, False), dtype_of(key))
    keys, values = s.gpu.turned(x.bits(key), dtype_of(key)), s.gpu.turned(places(x, one), one)
    wrong: list[str] = []

    def run(stream: Any) -> None:
        alone, too = checker(sorted_, values, stream=stream), checker(sorted_, values, stream=stream)
        other = checker(keys, values, stream=stream)
        if alone.faults(too) or alone != too:
            wrong.append(f"two digests of the same differ: {alone.faults(too)}")
        if x.n > 1 and not already and not other.faults(too):
            wrong.append("keys that are not sorted have no faults")

    already = bool((x.x == x.sorted).all())

    def check(slot: int) -> str | None:
        return wrong[0] if wrong else None

    return Call(f"digest {key}", (), run, check)


GROUPINGS: tuple[tuple[Any, ...], ...] = (
    (group_by, "u32", "u32", "ascending"),
    (group_by, "u32", "i32", "ascending"),
    (group_by, "u32", "f32", "ascending"),
    (group_by, "u32", "u32", "descending"),
    (group_by, "f32", "f32", "descending"),
    (group_by, "i32", "i32", "ascending"),
    (group_by, "u32", None, "ascending"),
    (group_by, "u64", "u32", "ascending"),
    (unique, "u32"),
)
"""Groupings: functions and their arguments after the input."""
OTHERS: tuple[tuple[Any, ...], ...] = (
    (sort, "u32", "ascending"),
    (sort, "f32", "descending"),
    (sort, "u64", "ascending"),
    (argsort, "u32", "index", "ascending"),
    (argsort, "f32", "index64", "descending"),
    (argsort, "i64", "index", "ascending"),
    (pairs, "u32", 4, "ascending"),
    (pairs, "f32", 4, "descending"),
    (pairs, "u64", 8, "ascending"),
    (segmented, "u32", "index", "ascending"),
    (segmented, "f32", "index", "descending"),
    (segmented, "u32", None, "ascending"),
    (merge, "u32", 4),
    (merge, "u64", None),
    (top_k, "f32", "index", "descending"),
    (top_k, "u32", None, "ascending"),
    (scan, "u32", 1, False),
    (scan, "u32", 4, True),
    (scan, "u64", 1, False),
    (scan, "f32", 1, True),
    (reduce_by_key, "u32", "u32"),
    (reduce_by_key, "u64", "f32"),
    (reduce_by_key, "u32", None),
    (run_lengths, "u32"),
    (columns, "narrow"),
    (columns, "wide"),
    (gather,),
    (digest, "u32"),
)
"""The other operations."""
_RARE = (unique, run_lengths, digest)
"""Functions that wait for the GPU."""
_ALONE = (unique, run_lengths)
"""Functions that take no stream."""


@dataclass
class Wrong:
    """A result that was wrong: what the call was, and what differs."""

    said: str
    differs: list[str]

    def __str__(self) -> str:
        """One line."""
        return f"WRONG {self.said}: {'; '.join(self.differs)}"


class Bursts:
    """Calls in bursts: arrays of all first, then the calls behind each other, then all comparisons.

    weights: how often each of `work` is called, relative to each other.
    """

    def __init__(self, s: Stress, work: list[tuple[tuple[Any, ...], float]], seed: int) -> None:
        self.s, self.seed, self.number = s, seed, 0
        self.wrong: list[Wrong] = []
        self._works, self._weights = [w for w, _ in work], [x for _, x in work]
        self._said: list[tuple[str, tuple[str, ...]]] = []

    def burst(self) -> int:
        """Enqueue some calls and their comparisons; return their number."""
        s, ready = self.s, []
        s.patterned = s.draw.choice([0.0, 0.0, 0.3, 1.0])
        for work in s.draw.choices(self._works, self._weights, k=s.draw.randint(1, 8)):
            on, x = s.draw.randrange(1, s.streams + 1) if s.streams > 1 else 0, s.draw.choice(s.inputs)
            with s.gpu.stream(on):
                call = work[0](s, x, *work[1:])
            ready.append((work, on, x, call, s.before[:]))
            s.before.clear()
        first = len(self._said)
        for i, (work, on, x, call, before) in enumerate(ready):
            s.counts[work[0].__name__] += 1
            if work in GROUPINGS:
                s.groupings[x.kind] += 1
            text = f"{call.said}; call {self.number + i}, n={x.n}, keys {x.kind}, input {x.seed:#x}, stream {on}"
            self._said.append((f"{text}, seed {self.seed}", call.outputs))
            named = work[0] not in _ALONE and s.streams > 1 and s.draw.random() < 0.1
            with s.gpu.stream(on):
                if s.delay:
                    s.gpu.delay(s.draw, x.x, first + i, DELAYED)
                for fill in before:
                    fill()
            with nullcontext() if named else s.gpu.stream(on):
                call.run(s.gpu.handle(on) if named else None)
        for i, (_, on, _, call, _) in enumerate(ready):
            with s.gpu.stream(on):
                if said := call.check(first + i):
                    self.wrong.append(Wrong(self._said[first + i][0], [said]))
        self.number += len(ready)
        return len(ready)

    @property
    def full(self) -> bool:
        """Whether there may be no slots for another burst."""
        return len(self._said) > SLOTS - 8

    def settle(self) -> None:
        """Wait, and note what was wrong."""
        calls: dict[int, list[str]] = {}
        for f in self.s.gpu.faults():
            outputs = self._said[f.slot][1]
            name = "memory read by a kernel before" if f.field == DELAYED else outputs[f.field]
            text = f"{name}: {f.count} wrong, the first at {f.index} is {f.found:#x}, right: {f.right:#x}"
            calls.setdefault(f.slot, []).append(text)
        self.wrong += [Wrong(self._said[slot][0], texts) for slot, texts in calls.items()]
        self._said.clear()


def weighted(share: float) -> list[tuple[tuple[Any, ...], float]]:
    """Return all operations with their weights; share: that of groupings."""

    def rare(work: tuple[Any, ...]) -> float:
        return 0.1 if work[0] in _RARE else 1.0

    def scaled(work: tuple[tuple[Any, ...], ...], to: float) -> Iterator[tuple[tuple[Any, ...], float]]:
        total = sum(map(rare, work))
        return ((w, rare(w) * to / total) for w in work)

    found = [*scaled(GROUPINGS, share), *scaled(OTHERS, 1 - share)]
    return [(w, x) for w, x in found if x > 0]


def repeat(bursts: Bursts, seconds: float, groupings: int, *, going: bool, most_calls: int = 1 << 62) -> float:
    """Call until the time has passed, or there were enough groupings, or something is wrong; return the seconds taken.

    going: go on after what was wrong, and print it.
    """
    s, begin, calls, printed = bursts.s, time.perf_counter(), CALLS, 0
    said = begin
    while time.perf_counter() - begin < seconds and s.groupings.total() < groupings and bursts.number < most_calls:
        if calls >= CALLS:
            bursts.settle()
            s.renew()
            s.gpu.trim(POOL)
            calls = 0
        calls += bursts.burst()
        if bursts.full:
            bursts.settle()
        for wrong in bursts.wrong[printed:]:
            print(wrong, flush=True)
        printed = len(bursts.wrong)
        if printed and not going:
            break
        if time.perf_counter() - said > 30:
            said = time.perf_counter()
            print(f"  {said - begin:.0f} s: {bursts.number} calls, {s.groupings.total()} groupings", flush=True)
    bursts.settle()
    for wrong in bursts.wrong[printed:]:
        print(wrong, flush=True)
    return time.perf_counter() - begin


def switches(s: Stress, work: list[tuple[Any, ...]]) -> list[int]:
    """Return the counts at which plans of these operations switch; their objects are made."""
    s.inputs = [Input(s.gpu.xp, "uniform", 5, 1, s.gpu.wait)]
    for one in work:
        if one[0] not in _ALONE:
            one[0](s, s.inputs[0], *one[1:])
    return sorted(s._switches)


def warm(s: Stress, work: list[tuple[Any, ...]], part: int, parts: int) -> int:
    """Compile what a part of the operations needs, by calls around all switches of plans; return the wrong ones."""
    mine = work[part::parts]
    bounds = switches(s, mine)
    bursts = Bursts(s, [(w, 1.0) for w in mine], 0)
    for n in (3, 5000, *(b + 1 for b in bounds if b < s.most)):
        bursts.settle()  # calls still read the inputs before, whose memory is that of others from here on
        s.inputs = [Input(s.gpu.xp, "groups", n, n, s.gpu.wait)]
        for _ in range(2 * len(mine)):
            bursts.burst()
            if bursts.full:
                bursts.settle()
    bursts.settle()
    print(*bursts.wrong, sep="\n")
    return len(bursts.wrong)


def warm_all(arguments: list[str], count: int) -> int:
    """Compile everything in several processes; return the greatest of their exit codes."""
    parts = max(min(os.cpu_count() or 1, count), 1)
    command = [sys.executable, __file__, *arguments]
    running = [subprocess.Popen([*command, "--warm", str(i), str(parts)]) for i in range(parts)]
    return max(p.wait() for p in running)


def options() -> argparse.ArgumentParser:
    """Return the parser of the program's options."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long calls go on, 60 by default")
    parser.add_argument("--groupings", type=int, default=1 << 62, help="end after this number of groupings")
    parser.add_argument("--seed", type=int, help="of all random choices; by default a new one")
    parser.add_argument("--streams", type=int, choices=range(1, 17), default=1, metavar="N", help="1 to 16 streams")
    parser.add_argument("--share", type=float, default=0.7, help="the share of groupings among calls, 0 to 1")
    parser.add_argument("--groupings-only", action="store_true", help="the same as --share 1")
    parser.add_argument(
        "--delay", action="store_true", help="launch kernels that wait, before calls and on another stream"
    )
    parser.add_argument("--kinds", help=f"kinds of keys, separated by commas: {', '.join(KINDS)}")
    parser.add_argument("--sizes", help="counts of keys, separated by commas, instead of random ones")
    parser.add_argument("--least", type=int, default=1, help="the least random count")
    parser.add_argument("--most", type=int, default=4_000_000, help=f"the greatest random count, up to {MOST}")
    parser.add_argument("--target", help="the name or file of a target; by default the one that matches the GPU")
    parser.add_argument("--keep-going", action="store_true", help="go on after a wrong result")
    parser.add_argument("--no-warm", action="store_true", help="compile kernels when a call needs them")
    parser.add_argument(
        "--warm", type=int, nargs=2, metavar=("PART", "PARTS"), help="compile a part of the kernels only"
    )
    return parser


def checked(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Return the options after checks; wrong ones end the program with 2."""
    given = parser.parse_args(argv)
    given.kinds = tuple(given.kinds.split(",")) if given.kinds else tuple(KINDS)
    if unknown := [k for k in given.kinds if k not in KINDS]:
        parser.error(f"--kinds: there is no {unknown[0]!r}; give some of {', '.join(KINDS)}")
    try:
        given.sizes = tuple(int(x) for x in given.sizes.split(",")) if given.sizes else ()
    except ValueError:
        parser.error(f"--sizes: {given.sizes!r} is no list of counts, such as 65537,3000003")
    counts = (*given.sizes, given.least, given.most)
    if not all(1 <= n <= MOST for n in counts) or given.least > given.most:
        parser.error(f"--sizes, --least and --most are counts of 1 to {MOST}, the least first")
    if not 0 <= given.share <= 1:
        parser.error("--share is a number from 0 to 1")
    given.share = 1.0 if given.groupings_only else given.share
    given.seed = Random().getrandbits(31) if given.seed is None else given.seed
    return given


def report(bursts: Bursts, seconds: float) -> None:
    """Print the number of calls of each operation."""
    s = bursts.s
    print("groupings by keys:", ", ".join(f"{k} {v}" for k, v in s.groupings.most_common()))
    print("calls:", ", ".join(f"{k} {v}" for k, v in s.counts.most_common()))
    wrong = f"{len(bursts.wrong)} wrong" if bursts.wrong else "0 wrong"
    print(f"seed {bursts.seed}: {bursts.number} calls, {s.groupings.total()} groupings in {seconds:.0f} s, {wrong}")


def main(argv: list[str]) -> int:
    """Run the program."""
    given = checked(options(), argv)
    try:
        gpu: Any = CupyGpu(given.streams, SLOTS)
        s = Stress(gpu, Random(given.seed), given.streams, given.delay, given.target, given.sizes, given.kinds,
                   given.least, given.most)  # fmt: skip
        work = weighted(given.share)
        if given.warm:
            return 1 if warm(s, [w for w, _ in work], *given.warm) else 0
        modes = f"{given.streams} streams{', delays' * given.delay}, {given.share:.0%} groupings"
        print(f"seed {given.seed}: {modes}, counts {given.sizes or f'{given.least} to {given.most}'}", flush=True)
        if not given.no_warm:
            begin = time.perf_counter()
            if code := warm_all(argv, len(work)):
                return code
            print(f"  kernels are compiled: {time.perf_counter() - begin:.0f} s", flush=True)
        switches(s, [w for w, _ in work])
        bursts = Bursts(s, work, given.seed)
        with gpu.scratch(s.scratch):
            seconds = repeat(bursts, given.seconds, given.groupings, going=given.keep_going)
        report(bursts, seconds)
        return 1 if bursts.wrong else 0
    except ImportError as e:
        print(f"stress: {e.name or e} is not installed", file=sys.stderr)
        return 3
    except HsgenError as e:
        print(f"stress: {e}", file=sys.stderr)
        return e.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
