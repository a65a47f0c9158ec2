"""Sorts of PyTorch's and CuPy's arrays on an NVIDIA GPU against numpy: all keys, orders and forms.

Run as a program on a machine with such a GPU: python tests/device/cuda_arrays.py [CASES].  It prints a line for each
part, and exits with 1 if anything differs; with `warm K N` it only compiles part K of N of the kernels, and with `two`
it only sorts on two GPUs at once.  If PyTorch or CuPy is missing, it says so and runs the other's parts.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from first_of_rows import drawn, first_of_rows

import hsgen.cuda
from hsgen.core.keys import TYPES
from hsgen.runners.row_numbers import NAMES

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]
try:
    import cupy
except ImportError:
    cupy = None

RNG = np.random.default_rng(2024)
COUNTS = (0, 1, 2, 3, 31, 32, 33, 255, 1000, 4095, 4096, 4097, 20000, 65536, 100003, 524289)
LENGTHS = (1, 2, 3, 31, 32, 33, 255, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 3073, 4095, 4096, 4097, 6145)
FORMS: tuple[tuple[str, Any, str], ...] = (
    ("u32", None, "ascending"),
    ("f32", "index64", "descending"),
    ("i64", 8, "ascending"),
    ("f64", "index", "descending"),
    ("u8", 4, "ascending"),
    ("bf16", 8, "descending"),
    ("f32", 4, "ascending"),
    ("i16", "index64", "ascending"),
)
"""Forms of segmented sorts: keys, values and order."""
TORCH = ("i8", "i16", "i32", "i64", "u8", "f16", "f32", "f64", "bf16", "u16", "u32", "u64")
FLOATS = {"f16": (np.uint16, 10, 5), "f32": (np.uint32, 23, 8), "f64": (np.uint64, 52, 11), "bf16": (np.uint16, 7, 8)}
FAILED: list[str] = []


def check(good: bool, what: str) -> bool:
    """Count a case; note a failure, of which the first 30 are printed."""
    check.cases += 1  # type: ignore[attr-defined]
    if not good:
        FAILED.append(what)
        if len(FAILED) <= 30:
            print("FAILED", what, flush=True)
    return good


check.cases = 0  # type: ignore[attr-defined]


def bits_of(key: str, n: int, kind: int) -> Any:
    """Keys as unsigned bits: random, few values, sorted, or all equal; floats with zeros, infinities and NaNs."""
    width = np.dtype(f"u{np.dtype(TYPES[key].numpy).itemsize}")
    bits = np.frombuffer(RNG.bytes(n * width.itemsize), width).copy()
    if kind == 1 and n:
        bits = bits[RNG.integers(0, min(n, 7), n)]
    if kind == 2:
        bits.sort()
    if kind == 3 and n:
        bits[:] = bits[0]
    if key in FLOATS and kind != 2 and n:
        _, fraction, exponent = FLOATS[key]
        infinity = ((1 << exponent) - 1) << fraction
        sign = 1 << (fraction + exponent)
        for value in (
            0,
            sign,
            infinity,
            infinity | sign,
            infinity | 1,
            infinity | sign | 5,
            infinity | 1 << (fraction - 1),
        ):
            bits[RNG.integers(0, n, max(1, n // 20))] = value
    return bits


def total(bits: Any, key: str, descending: bool) -> Any:
    """Bits as unsigned numbers in the order of the kernels."""
    width, kind = bits.dtype.itemsize * 8, TYPES[key].kind
    one = bits.dtype.type
    sign = one(1 << (width - 1))
    if kind == 1:
        bits = bits ^ sign
    if kind == 2:
        bits = np.where(bits & sign, ~bits, bits ^ sign)
    return ~bits if descending else bits


def numeric(bits: Any, key: str, descending: bool) -> Any:
    """Bits as unsigned numbers in the order of numpy and PyTorch: equal zeros, equal NaNs last."""
    if key in FLOATS:
        _, fraction, exponent = FLOATS[key]
        one = bits.dtype.type
        infinity, magnitude = one(((1 << exponent) - 1) << fraction), bits & one((1 << (fraction + exponent)) - 1)
        bits = np.where(magnitude == 0, one(0), np.where(magnitude > infinity, infinity | one(1), bits))
    return total(bits, key, descending)


def to_torch(bits: Any, key: str) -> Any:
    signed = torch.from_numpy(bits.view(f"i{bits.dtype.itemsize}").copy()).cuda()
    return signed.view(getattr(torch, TYPES[key].element))


def from_torch(x: Any) -> Any:
    size = x.element_size()
    signed = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size]
    return x.contiguous().view(signed).cpu().numpy().view(f"u{size}")


def torch_functions(cases: int) -> None:
    """hsgen.torch.sort and argsort: all keys, both orders, counts, rows, and dimensions."""
    import hsgen.torch

    for number in range(cases):
        key, descending = TORCH[number % len(TORCH)], bool(number // len(TORCH) % 2)
        n = int(RNG.choice(COUNTS)) if number % 4 else int(RNG.integers(0, 3000))
        shape = _shape(n, number)
        size = int(np.prod(shape))
        bits = bits_of(key, size, int(RNG.integers(0, 4))).reshape(shape)
        dim = int(RNG.integers(-len(shape), len(shape)))
        x = to_torch(bits.reshape(-1), key).reshape(shape)
        said = f"torch {key} {shape} dim={dim} descending={descending}"
        order = np.argsort(numeric(bits, key, descending), axis=dim, kind="stable")
        if number % 5 == 4:
            got = hsgen.torch.argsort(x, dim=dim, descending=descending)
            check(bool((got.cpu().numpy() == order).all()), f"arg{said}")
            continue
        values, indices = hsgen.torch.sort(x, dim=dim, descending=descending)
        good = indices.dtype == torch.int64 and bool((indices.cpu().numpy() == order).all())
        check(good and bool((from_torch(values) == np.take_along_axis(bits, order, dim)).all()), said)
        check(bool((from_torch(x) == bits).all()), f"{said}: the input changed")


def selections(cases: int) -> None:
    """The functions topk of hsgen.torch and hsgen.cupy: all keys, both orders, rows, dimensions, numbers of rows."""
    sets: tuple[tuple[str, ...], ...] = ((), (), (), ("lengths",), (), NAMES, ("takes",), ("starts",), (), ("table",))
    for number in range(cases):
        key, largest, ordered = TORCH[number % len(TORCH)], bool(number // len(TORCH) % 2), number % 7 > 1
        names = sets[number % len(sets)]
        shape = _shape(max(int(RNG.choice(COUNTS)), 1), number)
        bits = bits_of(key, int(np.prod(shape)), int(RNG.integers(0, 4))).reshape(shape)
        dim = int(RNG.integers(-len(shape), len(shape)))
        length = shape[dim]
        k = int(RNG.integers(1, min(length, int(RNG.choice([3, 70, 3000, length]))) + 1))
        for library in (torch, None if key == "bf16" else cupy):
            if library is not None:
                one_selection(library, key, bits, k, dim, largest, ordered, names)


def one_selection(
    library: Any, key: str, bits: Any, k: int, dim: int, largest: bool, ordered: bool, names: tuple[str, ...]
) -> None:
    """Compare a selection with its definition in numpy, bit by bit."""
    length, rows = bits.shape[dim], np.ascontiguousarray(np.moveaxis(bits, dim, -1))
    without, matrix = rows.shape[:-1], rows.reshape(-1, bits.shape[dim])
    flat = drawn(RNG, names, len(matrix), length, k)
    ranks = numeric(matrix, key, largest)
    expected = first_of_rows(key, matrix, ranks, k, largest=largest, numbers=flat)
    numbers = {name: x if name in ("count", "table") else x.reshape(without) for name, x in flat.items()}
    if "table" in names and "table_starts" not in names:
        numbers["table"] = np.moveaxis(flat["table"].reshape(rows.shape), -1, dim)
    named: dict[str, Any] = {"largest": largest, "sorted": ordered}
    if library is torch:
        import hsgen.torch

        x = to_torch(bits.reshape(-1), key).reshape(bits.shape)
        passed = {name: torch.from_numpy(np.ascontiguousarray(y)).cuda() for name, y in numbers.items()}
        values, *more = hsgen.torch.topk(x, k, dim, **named, **passed)
        values, more, after = from_torch(values), [y.cpu().numpy() for y in more], from_torch(x)
    else:
        import hsgen.cupy

        x = cupy.asarray(bits.view(TYPES[key].numpy))
        passed = {name: cupy.asarray(y) for name, y in numbers.items()}
        values, *more = hsgen.cupy.topk(x, k, dim, **named, **passed)
        values, more, after = values.get().view(bits.dtype), [y.get() for y in more], x.get().view(bits.dtype)
    got = [np.moveaxis(y, dim, -1).reshape(-1, k) for y in (values, *more)]
    right = [y for y in expected if y is not None]
    if not ordered:
        got, right = (
            [np.take_along_axis(y, np.argsort(every[1], axis=1, kind="stable"), 1) for y in every]
            for every in (got, right)
        )
    text = f"{library.__name__} topk {key} {bits.shape} k={k} dim={dim} {named} {names}"
    same = len(got) == len(right) and all(bool((a == b).all()) for a, b in zip(got, right, strict=False))
    check(same, text)
    check(bool((after == bits).all()), f"{text}: the input changed")


def _shape(n: int, number: int) -> tuple[int, ...]:
    if number % 3 or n < 2:
        return (n,)
    rows = int(RNG.choice([1, 2, 3, 7, 64]))
    return (rows, max(n // rows, 1)) if number % 2 else (rows, 3, max(n // (3 * rows), 1))


def sorters(cases: int) -> None:
    """hsgen.cuda's classes with tensors or CuPy arrays: values, indices, bit ranges, counts, in place or not."""
    made: dict[Any, Any] = {}
    forms = [(k, v) for k in TYPES for v in (None, 4, 8, "index", "index64")] + [("f32", "packed"), ("u32", "packed")]
    for number in range(cases):
        key, value = forms[int(RNG.integers(len(forms)))]
        order = ("ascending", "descending")[int(RNG.integers(2))]
        ranged = number % 5 == 0
        if value == "packed":
            continue
        what = key, value, order, ranged
        if what not in made:
            made[what] = hsgen.cuda.Sorter(key, value=value, order=order, bit_range=ranged)
        one_sort(made[what], what, int(RNG.choice(COUNTS)), number)


def warm(part: int = 0, parts: int = 1) -> None:
    """Compile what the cases need, or a part of it."""
    from hsgen.cuda.order import Shape, order

    def sorter(what: tuple[Any, ...]) -> None:
        key, value, way, ranged = what
        made = hsgen.cuda.Sorter(key, value=value, order=way, bit_range=ranged)
        for n in COUNTS:
            for here in (False, True):
                made.prepared(n, made.options(), in_place=here)

    def rows(what: tuple[Any, ...]) -> None:
        key, count, keys, descending = what
        for length in (31, 255, 1000, 2000, 4096, 4097, 20000, 65536, 524289):
            if count * length < 1 << 20:
                shape = Shape(number=0, key=key, rows=count, length=length, keys=keys, descending=descending)
                order(shape)

    def equal(what: tuple[Any, ...]) -> None:
        made = hsgen.cuda.SegmentedSorter(what[0], value=what[1], order=what[2])
        for length in (31, 600, 1100, 2049, 4096, 6145):
            how = replace(made.options(), segment_count=3, rows=True)
            made.prepared(3 * length, how, in_place=False)

    forms = [
        (k, v, o, r)
        for k in TYPES
        for v in (None, 4, 8, "index", "index64")
        for o in ("ascending", "descending")
        for r in (False, True)
    ]
    shapes = [(k, c, x, d) for k in TORCH for c in (1, 3) for x in (True, False) for d in (True, False)]
    distinct = {}
    for k, v, o, r in forms:  # sorters of one width share their text, except plain keys
        distinct[TYPES[k].key, v, r, TYPES[k].kind == 0 and o == "ascending"] = k, v, o, r
    whole = [(sorter, x) for x in distinct.values()]
    for make, given in [*((rows, x) for x in shapes), *whole, *((equal, x) for x in FORMS)][part::parts]:
        make(given)


def one_sort(sorter: Any, what: Any, n: int, number: int) -> None:
    key, value, order, ranged = what
    bits = bits_of(key, n, int(RNG.integers(0, 4)))
    if bits.dtype.itemsize < 4 and n > 4096:
        bits, n = bits[:4096], 4096
    by = total(bits, key, order == "descending")
    begin, end = 0, None
    if ranged:
        begin, end = sorted(int(x) for x in RNG.integers(0, 8 * bits.dtype.itemsize + 1, 2))
        by = (
            by >> by.dtype.type(begin) & by.dtype.type((1 << (end - begin)) - 1)
            if begin < end
            else by * by.dtype.type(0)
        )
    expected = np.argsort(by, kind="stable")
    array, back = arrays(number)
    keys, out = array(bits, key), array(bits * 0, key)
    more: dict[str, Any] = {}
    moved = None
    if value in ("index", "index64"):
        moved = array(np.zeros(n, np.uint32 if value == "index" else np.uint64), "i32" if value == "index" else "i64")
        more["values_out"] = moved
    elif value is not None:
        numbers = np.arange(n, dtype=f"u{value}")
        more["values"], moved = array(numbers, f"i{8 * value}"), array(numbers * 0, f"i{8 * value}")
        more["values_out"] = moved
    here = number % 2 == 0
    if here:
        out = None
        if value in (4, 8):
            moved = more["values"]
            del more["values_out"]
    if ranged:
        more |= {"begin_bit": begin, "end_bit": end}
    sorter(keys, out, **more)
    good = bool((back(keys if here else out) == bits[expected]).all())
    if moved is not None:
        good &= bool((back(moved) == expected.astype(np.uint64)).all())
    check(good, f"Sorter {what} n={n} in_place={here} bits={begin}:{end} {array.__name__}")


def arrays(number: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """How to make arrays of one of the libraries, and read them."""
    if torch is None or (cupy is not None and number % 3 == 0):
        return to_cupy, from_cupy
    return to_torch, from_torch


def to_cupy(bits: Any, key: str) -> Any:
    kind = TYPES[key]
    return cupy.asarray(bits.view(kind.numpy))


def from_cupy(x: Any) -> Any:
    return x.get().view(f"u{x.dtype.itemsize}")


def segments(cases: int) -> None:
    """Segmented sorts with offsets; merges, sums and digests."""
    made: dict[Any, Any] = {}
    for number in range(cases):
        key = list(TYPES)[int(RNG.integers(len(TYPES)))]
        order = ("ascending", "descending")[number % 2]
        if (key, order) not in made:
            made[key, order] = (
                hsgen.cuda.SegmentedSorter(key, value="index", order=order),
                hsgen.cuda.Merger(key, value=4, order=order),
                hsgen.cuda.Checker(key, order=order),
            )
        sorter, merger, checker = made[key, order]
        n = int(RNG.choice(COUNTS[1:]))
        array, back = arrays(number)
        bits = bits_of(key, n, 0)
        by = total(bits, key, order == "descending")
        cuts = np.sort(np.concatenate([[0, n], RNG.integers(0, n + 1, int(RNG.integers(0, 50)))]))
        of = np.searchsorted(cuts, np.arange(n), side="right")
        expected = np.lexsort((by, of))
        out, moved = array(bits * 0, key), array(np.zeros(n, np.uint32), "i32")
        sorter(array(bits, key), array(cuts.astype(np.uint32), "i32"), out=out, values_out=moved)
        sorter.check()
        good = bool((back(out) == bits[expected]).all() and (back(moved) == expected).all())
        check(good, f"SegmentedSorter {key} {order} n={n} segments={len(cuts) - 1}")
        half = n // 3
        left, right = (
            x[np.argsort(total(x, key, order == "descending"), kind="stable")] for x in (bits[:half], bits[half:])
        )
        both = np.concatenate([left, right])
        expected = np.argsort(total(both, key, order == "descending"), kind="stable")
        places = np.arange(n, dtype=np.uint32)
        values = array(places[:half].copy(), "i32"), array(places[half:].copy(), "i32")
        merged = array(bits * 0, key)
        merger(array(left, key), array(right, key), merged, a_values=values[0], b_values=values[1], values_out=moved)
        good = bool((back(merged) == both[expected]).all() and (back(moved) == expected).all())
        check(good, f"Merger {key} {order} {half}+{n - half}")
        found = checker(merged).faults(checker(array(bits, key)))
        check(found == (), f"Checker {key} {order} n={n}: {found}")


def rows(cases: int) -> None:
    """Rows of equal length, of a work-group or longer, between guard elements, with all values, in place or not."""
    made = {(k, v, o): hsgen.cuda.SegmentedSorter(k, value=v, order=o) for k, v, o in FORMS}
    for number in range(cases):
        key, value, order = FORMS[number % len(FORMS)]
        sorter, here = made[key, value, order], bool(RNG.integers(2))
        length = int(RNG.choice(LENGTHS))
        count = min(int(RNG.choice([1, 2, 3, 65, 5000])), (1 << 20) // length)
        n, (array, back) = count * length, arrays(number)
        bits = bits_of(key, n, int(RNG.integers(0, 4)))
        by = total(bits, key, order == "descending").reshape(count, length)
        expected = (np.argsort(by, axis=1, kind="stable") + np.arange(count)[:, None] * length).ravel()
        keys, moved, more = Inside(array, back, bits, key), None, {}
        out = keys if here else Inside(array, back, bits * 0, key)
        if value is not None:
            size = {"index": 4, "index64": 8}.get(str(value)) or value
            given = Inside(array, back, np.arange(n, dtype=f"u{size}"), f"i{8 * size}")
            moved = given if here else Inside(array, back, np.zeros(n, f"u{size}"), f"i{8 * size}")
            more = {"values": given.part} if isinstance(value, int) else {}
            more |= {} if here and more else {"values_out": moved.part}
        sorter(keys.part, segments=count, out=None if here else out.part, **more)
        good = bool((out.get() == bits[expected]).all()) and bool(here or (keys.get() == bits).all())
        good &= moved is None or bool((moved.get() == expected.astype(np.uint64)).all())
        check(good, f"rows {key} {value} {order} {count} x {length} in_place={here} {array.__name__}")


class Inside:
    """An array within a longer one, whose other elements must not change."""

    def __init__(self, array: Callable[..., Any], back: Callable[..., Any], bits: Any, key: str) -> None:
        self._back, self._before = back, np.full(len(bits) + 128, 0xA5, bits.dtype)
        self._before[64:-64] = bits
        self._whole = array(self._before, key)
        self.part = self._whole[64 : len(bits) + 64]

    def get(self) -> Any:
        """Return the elements, after a check of the others."""
        found = self._back(self._whole)
        same = (found[:64] == self._before[:64]).all() and (found[-64:] == self._before[-64:]).all()
        check(bool(same), "elements next to an array changed")
        return found[64:-64]


def sums(cases: int) -> None:
    """Prefix sums."""
    made = {
        (k, c, x): hsgen.cuda.Scanner(k, columns=c, exclusive=x) for k in ("u32", "u64") for c in (1, 4) for x in (0, 1)
    }
    for number in range(cases):
        (key, columns, exclusive), scanner = list(made.items())[number % len(made)]
        n = int(RNG.choice(COUNTS))
        bits = bits_of(key, n * columns, 0)
        array, back = arrays(number)
        x = array(bits, key)
        table = bits.reshape(n, columns)
        expected = np.cumsum(table, axis=0, dtype=table.dtype)
        if exclusive:
            expected -= table
        scanner(x)
        check(bool((back(x) == expected.ravel()).all()), f"Scanner {key} {columns} {exclusive} n={n}")


def cupy_functions(cases: int) -> None:
    """hsgen.cupy.sort and argsort."""
    import hsgen.cupy

    keys = [k for k in TYPES if k != "bf16"]
    for number in range(cases):
        key = keys[number % len(keys)]
        shape = _shape(int(RNG.choice(COUNTS)), number)
        bits = bits_of(key, int(np.prod(shape)), int(RNG.integers(0, 4))).reshape(shape)
        x = cupy.asarray(bits.view(TYPES[key].numpy))
        axis = int(RNG.integers(-len(shape), len(shape)))
        with cupy.cuda.Stream(non_blocking=True) if number % 2 else cupy.cuda.Stream.null as stream:
            out, order = hsgen.cupy.sort(x, axis=axis), hsgen.cupy.argsort(x, axis=axis)
            stream.synchronize()
        expected = np.argsort(numeric(bits, key, False), axis=axis, kind="stable")
        said = f"cupy {key} {shape} axis={axis}"
        check(bool((order.get() == expected).all()), f"{said} argsort")
        check(np.array_equal(out.get(), np.sort(x.get(), axis=axis), equal_nan=key in FLOATS), said)


def compiled_and_captured() -> None:
    """torch.compile(fullgraph=True), a captured graph, opcheck and gradients."""
    import hsgen.torch
    from hsgen.torch import operators

    x = torch.randn(100_000, device="cuda")
    expected = torch.sort(x, stable=True)
    both = torch.compile(lambda t: hsgen.torch.sort(t * 1, descending=False), fullgraph=True)
    found = both(x)
    check(torch.equal(found[0], expected[0]) and torch.equal(found[1], expected[1]), "torch.compile")
    hsgen.torch.sort(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = hsgen.torch.sort(x)
    for _ in range(3):
        x.copy_(torch.randn_like(x))
        graph.replay()
        expected = torch.sort(x, stable=True)
        check(torch.equal(kept[0], expected[0]) and torch.equal(kept[1], expected[1]), "captured graph")
    y = torch.randn(10_000, device="cuda")
    cold = torch.cuda.CUDAGraph()
    with torch.cuda.graph(cold):
        early = hsgen.torch.sort(y.half())
    cold.replay()
    check(torch.equal(early[0], torch.sort(y.half(), stable=True)[0]), "captured graph, compiled while it is captured")
    grown = torch.randn(50, device="cuda", requires_grad=True)
    empty, single = torch.randint(9, (0,), device="cuda"), torch.tensor(3.0, device="cuda")
    for t in (torch.randn(7, 300, device="cuda"), grown, empty, torch.randn(5), single):
        torch.library.opcheck(operators.SORT, (t, 0, True))
        torch.library.opcheck(operators.ARGSORT, (t.detach(), -1, False))
        check(True, "opcheck")
    a = torch.randn(3, 500, device="cuda", dtype=torch.float64, requires_grad=True)
    check(torch.autograd.gradcheck(lambda t: hsgen.torch.sort(t, dim=1)[0], (a[:, :40],)), "gradcheck")
    weights = torch.randn(3, 500, device="cuda", dtype=torch.float64)
    mine, theirs = (torch.autograd.grad((f(a, dim=1)[0] * weights).sum(), a)[0] for f in (hsgen.torch.sort, torch.sort))
    check(torch.equal(mine, theirs), "gradients")


def streams_and_threads() -> None:
    """Two streams, and eight threads."""
    import hsgen.torch

    sorter = hsgen.cuda.Sorter("f32", value="index")

    def work(number: int) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for i in range(40):
                x = torch.randn(1000 + 5000 * (i % 7), device="cuda")
                out, order = torch.empty_like(x), torch.empty(len(x), dtype=torch.int32, device="cuda")
                sorter(x, out, values_out=order)
                values, indices = hsgen.torch.sort(x)
                expected = torch.sort(x, stable=True)
                good = torch.equal(values, expected[0]) and torch.equal(indices, expected[1])
                good &= torch.equal(out, expected[0]) and torch.equal(order.long(), expected[1])
                check(good, f"thread {number} {i}")

    workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    one, two = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.randn(1 << 20, device="cuda")
    torch.cuda.synchronize()
    plain = hsgen.cuda.Sorter("f32")
    outs = [torch.empty_like(x) for _ in range(2)]
    for _ in range(10):
        plain(x, outs[0], stream=one)
        plain(x, outs[1], stream=two.cuda_stream)
    torch.cuda.synchronize()
    check(all(torch.equal(o, torch.sort(x)[0]) for o in outs), "two streams")


TWO = (("float32", (1000, 70_001, 300_000, 1 << 20, 1_310_720, (1 << 22) + 1)), ("int32", (5000, 1 << 20, 3_000_000)))
"""Types and counts that two GPUs sort at once."""


def two_gpus() -> None:
    """Two threads, each with a stream on both of two GPUs; graphs; arrays of the other GPU, which are refused."""
    if torch.cuda.device_count() < 2:
        print("  left out: there is one GPU")
        return
    start, results = threading.Barrier(2), [[], []]  # type: ignore[var-annotated]
    workers = [threading.Thread(target=on_both, args=(i, start, results[i])) for i in range(2)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    for number, found in enumerate(results):
        for good, what in found:
            check(good, f"thread {number} {what}")
        check(found[-1:] == [(True, "all done")], f"thread {number} does not end")
    for number in range(2):
        graph_on(number)
        not_on(number)
        if cupy is not None:
            cupy_on(number)


def on_both(thread: int, start: threading.Barrier, results: list[tuple[bool, str]]) -> None:
    """Sort on two GPUs by turns, while another thread does so on the other one, also in the first calls."""
    try:
        streams = [torch.cuda.Stream(device=d) for d in range(2)]
        sorters = [hsgen.cuda.Sorter("f32", value="index", device=d) for d in range(2)]
        for turn in range(6):
            start.wait(300)
            number = (thread + turn) % 2
            for good, what in one_turn(sorters[number], number, streams[number], number if turn < 3 else 1 - number):
                results.append((good, f"turn {turn} {what}"))
        results.append((True, "all done"))
    except Exception:
        traceback.print_exc()
        start.abort()


def one_turn(sorter: Any, number: int, stream: Any, current: int) -> list[tuple[bool, str]]:
    """Sort on a stream of a GPU, with that or the other as the current one; return whether each result is right."""
    import hsgen.torch

    shapes = [(t, (n,)) for t, counts in TWO for n in counts] + [("float32", (5, 3000)), ("float32", (3, 9000))]
    sorted_, found = [], []
    with torch.cuda.stream(stream):
        for name, shape in shapes:
            x = (torch.randn(shape, device=f"cuda:{number}") * 1e8).to(getattr(torch, name))
            out, order = torch.empty_like(x), torch.empty_like(x, dtype=torch.int32)
            with torch.cuda.device(current):
                results = [hsgen.torch.sort(x), (None, hsgen.torch.argsort(x))]
                if name == "float32" and len(shape) == 1 and len(x) <= 1 << 20:
                    sorter(x, out, values_out=order, stream=stream)
                    results.append((out, order))
            sorted_.append((f"GPU {number} {name} {shape}", x, results))
        for what, x, results in sorted_:
            keys, indices = torch.sort(x, stable=True)
            for k, i in results:
                good = i.get_device() == number and torch.equal(i.long(), indices)
                found.append((good and (k is None or (k.get_device() == number and torch.equal(k, keys))), what))
    return found


def graph_on(number: int) -> None:
    """A graph of one GPU, replayed while the other is the current one."""
    import hsgen.torch

    with torch.cuda.device(number):
        x = torch.randn(70_001, device=f"cuda:{number}")
        hsgen.torch.sort(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.Stream(device=number)):  # by default one of the first GPU
            kept = hsgen.torch.sort(x)
    for _ in range(3):
        x.copy_(torch.randn_like(x))
        torch.cuda.synchronize(number)
        with torch.cuda.device(number):
            graph.replay()
        torch.cuda.synchronize(number)
        check(all(map(torch.equal, kept, torch.sort(x, stable=True))), f"graph of GPU {number}")


def not_on(number: int) -> None:
    """Arrays and streams of the other GPU are refused, and nothing is launched."""
    other, sorter = 1 - number, hsgen.cuda.Sorter("f32", device=number)
    pairs = hsgen.cuda.Sorter("f32", value=4, device=number)
    x, y = (torch.randn(5000, device=f"cuda:{d}") for d in (number, other))
    before, places = (x.clone(), y.clone()), torch.arange(5000, dtype=torch.int32, device=f"cuda:{other}")
    refused(ValueError, f"keys is on GPU {other}, this sort on GPU {number}", lambda: sorter(y))
    refused(ValueError, f"out is on GPU {other}, this sort on GPU {number}", lambda: sorter(x, y))
    refused(ValueError, f"values is on GPU {other}, this sort on GPU {number}", lambda: pairs(x, values=places))
    stream = torch.cuda.Stream(device=other)
    refused(ValueError, f"the stream belongs to GPU {other}", lambda: sorter(x, stream=stream))
    refused(ValueError, f"the stream belongs to GPU {other}", lambda: sorter(x, stream=stream.cuda_stream))
    [torch.cuda.synchronize(d) for d in range(2)]
    check(torch.equal(x, before[0]) and torch.equal(y, before[1]), "a refused call changed keys")
    with torch.cuda.device(other):
        sorter(x)
    check(torch.equal(x, torch.sort(before[0])[0]), f"sorter of GPU {number} after calls that were refused")


def cupy_on(number: int) -> None:
    """Arrays of CuPy on a GPU, while it is the current one."""
    import hsgen.cupy

    with cupy.cuda.Device(number):
        for n in (3000, 100_000):
            x = cupy.asarray(RNG.standard_normal(n).astype(np.float32))
            out, order = hsgen.cupy.sort(x), hsgen.cupy.argsort(x)
            good = out.device.id == number and bool((out.get() == np.sort(x.get())).all())
            good &= bool((order.get() == np.argsort(x.get(), kind="stable")).all())
            hsgen.cuda.Sorter("f32", device=number)(x)
            check(good and bool((x == out).all()), f"CuPy on GPU {number}, {n} keys")


def refused(kind: type[Exception], words: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except kind as e:
        check(words in str(e) and "\n" not in str(e), f"{words}: said {e}")
        return
    check(False, f"{words}: not refused")


def errors() -> None:
    """What is refused, and launches nothing."""
    sorter = hsgen.cuda.Sorter("f32")
    x = torch.randn(1000, device="cuda")
    refused(ValueError, "keys is on the CPU", lambda: sorter(x.cpu()))
    refused(ValueError, "keys is not contiguous", lambda: sorter(x[::2]))
    refused(ValueError, "elements of int32", lambda: sorter(x.view(torch.int32)))
    refused(ValueError, "keys and out overlap", lambda: sorter(x[:600], x[400:]))
    refused(ValueError, "out holds 10 keys", lambda: sorter(x, x[:10].clone()))
    refused(TypeError, "keys is a ndarray", lambda: sorter(x.cpu().numpy()))
    refused(TypeError, "stream is a str", lambda: sorter(x, stream="main"))


def others() -> None:
    """Arrays of Numba and JAX, if they are installed."""
    data = RNG.random(5000, np.float32)
    try:
        from numba import cuda

        x = cuda.to_device(data)
        hsgen.cuda.Sorter("f32")(x)
        check(bool((x.copy_to_host() == np.sort(data)).all()), "Numba")
    except ImportError as e:
        print(f"  left out: Numba ({e})")
    try:
        import jax

        y = jax.device_put(data, jax.devices("gpu")[0])
        out = torch.empty(5000, device="cuda") if torch else cupy.empty(5000, np.float32)
        hsgen.cuda.Sorter("f32")(y, out)
        check(bool((from_torch(out) == np.sort(data).view(np.uint32)).all()), "JAX")
    except (ImportError, RuntimeError) as e:
        print(f"  left out: JAX ({e})")


def parts(cases: int) -> Iterator[tuple[Callable[..., None], tuple[int, ...]]]:
    """The parts with their share of the cases."""
    if torch:
        yield torch_functions, (cases * 4 // 20,)
        yield selections, (cases // 20,)
    yield sorters, (cases * 9 // 20,)
    yield segments, (cases * 2 // 20 // 3,)
    yield rows, (cases * 2 // 20,)
    yield sums, (cases // 20,)
    if cupy:
        yield cupy_functions, (cases * 2 // 20,)
    if torch:
        yield compiled_and_captured, ()
        yield streams_and_threads, ()
        yield two_gpus, ()
        yield errors, ()
        yield others, ()


def run(work: Iterable[tuple[Callable[..., None], tuple[int, ...]]]) -> int:
    """Run parts with what each is given, and print a line for each; return the exit code."""
    for part, given in work:
        begin, before = time.perf_counter(), check.cases  # type: ignore[attr-defined]
        try:
            part(*given)
        except Exception:
            traceback.print_exc()
            FAILED.append(part.__name__)
        cases = check.cases - before  # type: ignore[attr-defined]
        print(f"{part.__name__:24} {cases:6} cases {time.perf_counter() - begin:7.1f} s", flush=True)
    print(f"{check.cases} cases, {len(FAILED)} failures")  # type: ignore[attr-defined]
    return 1 if FAILED else 0


def main() -> int:
    """Run all parts."""
    os.environ["HSGEN_BACKGROUND"] = "0"  # PyTorch must not serve calls of hsgen
    if sys.argv[1:2] == ["warm"]:
        warm(int(sys.argv[2]), int(sys.argv[3]))
        return 0
    if sys.argv[1:2] == ["two"]:
        return run([(two_gpus, ())])
    print(*(f"{name} is not installed" for name, x in (("PyTorch", torch), ("CuPy", cupy)) if x is None))
    return run(parts(int(sys.argv[1]) if len(sys.argv) > 1 else 22_000))


if __name__ == "__main__":
    sys.exit(main())
