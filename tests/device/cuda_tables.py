"""Tables, selections, gathers and groups of PyTorch's and CuPy's arrays on an NVIDIA GPU against numpy.

Run as a program on a machine with such a GPU: python tests/device/cuda_tables.py [CASES].  It prints a line for each
part, and exits with 1 if anything differs; with `warm K N` it only compiles part K of N of the kernels, and with
`speed` it compares their speed with PyTorch and CuPy.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cuda_arrays
import numpy as np
from cuda_arrays import RNG, Inside, arrays, bits_of, check, cupy, run, to_torch, torch, total

from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda import ColumnSorter, Field, Gatherer, GroupBy, ReduceByKey, TopK, run_length_encode, unique

COUNTS = (1, 2, 255, 256, 257, 1023, 4096, 4097, 30000, 100003, 524289)
COLUMNS = (
    ("u32",),
    (("f16", "descending"),),
    (("f32", "descending"), "u64"),
    ("i8", ("f16", "descending"), "u8"),
    ("u64", "u64"),
    ("u8", ("bf16", "descending"), "i8"),
    (("i32", "descending"), "f32"),
    ("u16", ("i32", "descending"), ("f32", "descending"), "f16", "u32"),
    ("bf16", ("i16", "descending"), ("f64", "descending"), "u8"),
)
SELECTED = (
    ("f32", "index", "descending"),
    ("bf16", "index64", "descending"),
    ("u64", None, "ascending"),
    ("i16", 8, "descending"),
)
REDUCED = (("u32", "f32"), ("u64", "u32"), ("f32", "i32"), ("u8", None), ("i64", "f32"))
REDUCTIONS = {"sum": np.add, "min": np.minimum, "max": np.maximum}


def bytes_of(name: str) -> int:
    return KEYS[TYPES[name].key].bytes


def few(name: str, n: int) -> Any:
    """Keys as bits, of few values, so that further columns matter."""
    return bits_of(name, n, int(RNG.integers(0, 4)) if RNG.integers(3) else 1)


def right_order(columns: list[Any], by: Any) -> Any:
    return np.lexsort([total(x, name, way == "descending") for x, (name, way) in zip(columns, by, strict=True)][::-1])


class Items(Inside):
    """Rows of bytes within a longer array."""

    def __init__(self, number: int, table: Any) -> None:
        array, back = arrays(number)
        self._rows = table.shape
        super().__init__(array, back, table.reshape(-1), "u8")
        self.part = self.part.reshape(table.shape)

    def get(self) -> Any:
        """See `Inside`."""
        return super().get().reshape(self._rows)


def tables(cases: int) -> None:
    """Columns of all kinds, in place or not, with values of any size, and records by fields."""
    made = [ColumnSorter(by) for by in COLUMNS]
    for number in range(cases):
        sorter = made[number % len(made)]
        n = int(RNG.choice(COUNTS[: -2 if number % 9 else None]))
        (records if number % 4 == 3 else one_table)(sorter, n, number)


def one_table(sorter: ColumnSorter, n: int, number: int) -> None:
    array, back = arrays(number)
    columns = [few(name, n) for name, _ in sorter.by]
    sizes = [int(x) for x in RNG.choice([1, 2, 3, 4, 7, 8, 12, 16, 20, 64, 256], int(RNG.integers(0, 3)))]
    values = [RNG.integers(0, 256, (n, size), np.uint8) for size in sizes]
    keys = [Inside(array, back, x, name) for x, (name, _) in zip(columns, sorter.by, strict=True)]
    moving, here, indexed = [Items(number, x) for x in values], bool(RNG.integers(2)), bool(RNG.integers(2))
    out = None if here else [Inside(array, back, x * 0, name) for x, (name, _) in zip(columns, sorter.by, strict=True)]
    moved = None if here else [Items(number, x * 0) for x in values]
    order = Inside(array, back, np.zeros(n, np.uint32), "i32") if indexed else None
    sorter(
        [x.part for x in keys],
        out and [x.part for x in out],
        values=[x.part for x in moving],
        values_out=None if moved is None else [x.part for x in moved],
        index_out=order and order.part,
    )
    right = right_order(columns, sorter.by)
    good = order is None or bool((order.get() == right).all())
    for found, x in zip(out or keys, columns, strict=True):
        good &= bool((found.get() == (x if here and indexed else x[right])).all())
    for found, x in zip(moved or moving, values, strict=True):
        good &= bool((found.get() == x[right]).all())
    check(good, f"ColumnSorter {sorter.by} n={n} in_place={here} index={indexed} values={sizes} {array.__name__}")


def records(sorter: ColumnSorter, n: int, number: int) -> None:
    sizes = [bytes_of(name) for name, _ in sorter.by]
    size = max(4 * int(RNG.integers(1, 17)), *(-(-x // 4) * 4 for x in sizes), 4)
    table, places = RNG.integers(0, 256, (n, size), np.uint8), [int(RNG.integers(0, size - x + 1)) for x in sizes]
    for (name, _), at, x in zip(sorter.by, places, sizes, strict=True):
        table[:, at : at + x] = few(name, n).view(np.uint8).reshape(n, x)
    columns = [table[:, at : at + x].copy().reshape(-1).view(f"u{x}") for at, x in zip(places, sizes, strict=True)]
    mine = Items(number, table)
    sorter([Field(mine.part, at) for at in places], values=[mine.part])
    good = bool((mine.get() == table[right_order(columns, sorter.by)]).all())
    check(good, f"records of {size} by {sorter.by} at {places} n={n}")


def selections(cases: int) -> None:
    """The first k of rows, with values, indices or neither."""
    made = [TopK(key, value=value, order=order) for key, value, order in SELECTED]
    for number in range(cases):
        (key, value, order), select = SELECTED[number % len(made)], made[number % len(made)]
        array, back = arrays(number)
        length = int(RNG.choice(COUNTS))
        rows = min(int(RNG.choice([1, 1, 3, 64])), max((1 << 19) // length, 1))
        k = min(int(RNG.choice([1, 5, 64, 300, 2048, length])), length)
        bits = bits_of(key, rows * length, int(RNG.integers(0, 4)))
        by = total(bits, key, order == "descending").reshape(rows, length)
        first = np.argsort(by, axis=1, kind="stable")[:, :k]
        first = first if k <= select.sorted_up_to else np.sort(first, axis=1)
        keys, out = Inside(array, back, bits, key), Inside(array, back, np.zeros(rows * k, bits.dtype), key)
        flat, more, places = (first + np.arange(rows)[:, None] * length).ravel(), {}, None
        if value is not None:
            size = {"index": 4, "index64": 8}.get(str(value)) or value
            places = Inside(array, back, np.zeros(rows * k, f"u{size}"), f"i{8 * size}")
            more["values_out"] = places.part
            if isinstance(value, int):
                more["values"] = array(np.arange(rows * length, dtype=f"u{size}"), f"i{8 * size}")
        select(keys.part, k, rows=rows, out=out.part, **more)
        good = bool((out.get() == bits[flat]).all() and (keys.get() == bits).all())
        wanted = flat if isinstance(value, int) else first.ravel()
        good &= places is None or bool((places.get() == wanted.astype(np.uint64)).all())
        check(good, f"TopK {key} {value} {order} {rows} x {length} k={k} {array.__name__}")


def gathers(cases: int) -> None:
    """Items of 4 to 256 bytes by random indices, some beyond the table, at any multiple of 4 bytes."""
    gather = Gatherer()
    for number in range(cases):
        array, _ = arrays(number)
        n, size = int(RNG.choice(COUNTS[:-1])), 4 * int(RNG.integers(1, 65))
        size = size if n < 30000 else min(size, 64)
        table = RNG.integers(0, 256, (int(RNG.integers(1, n + 1)), size), np.uint8)
        index = RNG.integers(0, len(table) + 2, n).astype(np.uint32)
        shift = 4 * int(RNG.integers(0, 4))
        source = array(np.concatenate([np.zeros(shift, np.uint8), table.ravel()]), "u8")[shift:]
        out = Items(number, np.full((n, size), 7, np.uint8))
        gather(array(index, "i32"), source, out.part.reshape(-1), item_bytes=size)
        valid = index < len(table)
        found = out.get()
        good = bool((found[valid] == table[index[valid]]).all() and (found[~valid] == 7).all())
        check(good, f"Gatherer n={n} size={size} shift={shift} {array.__name__}")


def groups(cases: int) -> None:
    """Reductions of runs and of groups; unique keys and run lengths."""
    made = [(ReduceByKey(k, value=v), GroupBy(k, value=v)) for k, v in REDUCED]
    for number in range(cases):
        (key, value), (reduce, group_by) = REDUCED[number % len(made)], made[number % len(made)]
        n = int(RNG.choice(COUNTS))
        distinct = np.sort(bits_of(key, int(RNG.integers(1, 2 * n + 1)), 0))
        bits = distinct[RNG.integers(0, len(distinct), n)]
        order = np.argsort(total(bits, key, False), kind="stable")
        runs = np.repeat(bits, RNG.integers(1, 5, n))[:n]
        one_reduction(reduce, runs, runs, None, key, value, number)
        one_reduction(group_by, bits, bits[order], order, key, value, number)
        if number % 3 == 0:
            array, back = arrays(number)
            found, counts = unique(array(bits, key), return_counts=True)
            begins = starts(bits[order])
            good = bool((back(found) == bits[order][begins]).all())
            check(good and bool((back(counts) == np.diff(begins, append=n)).all()), f"unique {key} n={n}")
            found, counts = run_length_encode(array(runs, key))
            begins = starts(runs)
            good = bool((back(found) == runs[begins]).all())
            check(good and bool((back(counts) == np.diff(begins, append=n)).all()), f"run_length_encode {key} n={n}")


def starts(keys: Any) -> Any:
    return np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])


def one_reduction(make: Any, bits: Any, runs: Any, order: Any, key: str, value: str | None, number: int) -> None:
    (array, back), n, name = arrays(number), len(bits), list(REDUCTIONS)[number % 3]
    outs = [Inside(array, back, np.zeros(n, np.uint32), "i32") for _ in range(2)]
    keys, out = Inside(array, back, bits, key), Inside(array, back, bits * 0, key)
    found = array(np.zeros(1, np.uint32), "i32")
    more: dict[str, Any] = {}
    numbers = RNG.integers(-500, 500, n) if value != "u32" else RNG.integers(0, 500, n)
    if value:
        typed = numbers.astype(TYPES[value].numpy)
        own = "i32" if value == "u32" else value
        sums = Inside(array, back, np.zeros(n, np.uint32), own)
        more = {"values": array(typed.view(np.uint32), own), "values_out": sums.part, "reduction": name}
    make(keys.part, out=out.part, groups=found, counts=outs[0].part, first_indices=outs[1].part, **more)
    begins = starts(runs)
    count = int(back(found)[0])
    good = count == len(begins) and bool((out.get()[:count] == runs[begins]).all())
    good = good and bool((outs[0].get()[:count] == np.diff(begins, append=n)).all())
    good = good and bool((outs[1].get()[:count] == begins).all()) and bool((keys.get() == bits).all())
    if value and good:
        ordered = typed if order is None else typed[order]  # sums of small integers are exact in f32
        good = bool((sums.get()[:count].view(TYPES[value].numpy) == REDUCTIONS[name].reduceat(ordered, begins)).all())
    check(good, f"{type(make).__name__} {key} {value} {name} n={n} groups={count} {array.__name__}")


def captured() -> None:
    """A table, a selection and a group in a captured graph, and on a stream of its own."""
    n = 100_000
    sorter, select, group_by = ColumnSorter([("f32", "descending"), "u64"]), TopK("f32", value="index"), GroupBy("u32")
    price, day = torch.randint(0, 50, (n,), device="cuda").float(), torch.randint(0, 1 << 40, (n,), device="cuda")
    order = torch.empty(n, dtype=torch.int32, device="cuda")
    best, places = torch.empty(100, device="cuda"), torch.empty(100, dtype=torch.int32, device="cuda")
    keys = torch.randint(0, 1000, (n,), dtype=torch.int32, device="cuda")
    out, number = torch.empty_like(keys), torch.empty(1, dtype=torch.int32, device="cuda")

    def run() -> None:
        sorter([price, day.view(torch.uint64)], index_out=order)
        select(price, 100, out=best, values_out=places)
        group_by(keys.view(torch.uint32), out=out.view(torch.uint32), groups=number)

    run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    for _ in range(3):
        price.copy_(torch.randint(0, 50, (n,), device="cuda").float())
        keys.copy_(torch.randint(0, int(torch.randint(1, 1000, (1,))), (n,), dtype=torch.int32, device="cuda"))
        graph.replay()
        right = np.lexsort((day.cpu().numpy(), -price.cpu().numpy()))
        check(bool((order.cpu().numpy() == right).all()), "captured table")
        check(torch.equal(best, torch.sort(price, descending=True, stable=True)[0][:100]), "captured selection")
        distinct = torch.unique(keys)
        check(int(number) == len(distinct) and torch.equal(out[: len(distinct)], distinct), "captured groups")
    stream = torch.cuda.Stream()
    order.zero_()
    torch.cuda.synchronize()
    sorter([price, day.view(torch.uint64)], index_out=order, stream=stream)
    stream.synchronize()
    check(bool((order.cpu().numpy() == right).all()), "a table on a stream of its own")


def guide() -> None:
    """The program of docs/guides/python-nvidia.md that uses these classes."""
    text = (Path(__file__).resolve().parents[2] / "docs/guides/python-nvidia.md").read_text(encoding="utf-8")
    (program,) = (x for x in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) if "ColumnSorter" in x)
    check(len(program.splitlines()) <= 40, "the program of the guide is short")
    exec(compile(program, "python-nvidia.md", "exec"), {})
    check(True, "the program of the guide")


def warm(part: int = 0, parts: int = 1) -> None:
    """Compile what the cases need, or a part of it."""
    work: list[Callable[[], Any]] = [lambda by=by: _warm_table(by) for by in COLUMNS]
    work += [lambda x=x: _warm_selection(*x) for x in SELECTED] + [lambda x=x: _warm_groups(*x) for x in REDUCED]
    for make in work[part::parts]:
        make()


def _warm_table(by: Any) -> None:
    sorter = ColumnSorter(by)
    for n in COUNTS:
        columns = [to_torch(np.zeros(n, f"u{bytes_of(name)}"), name) for name, _ in sorter.by]
        sorter(columns, values=[torch.zeros((n, 4 * k), dtype=torch.uint8, device="cuda") for k in (1, 2, 4)])


def _warm_selection(key: str, value: Any, order: str) -> None:
    select = TopK(key, value=value, order=order)
    for n in COUNTS:
        for k in (1, 300, 2048):
            how = {"segment_count": 1, "take": min(k, n)}
            select.prepared(n, cuda_arrays.replace(select.options(), **how), in_place=False)


def _warm_groups(key: str, value: Any) -> None:
    made = GroupBy(key, value=value)
    for n in COUNTS:
        keys = to_torch(np.zeros(n, f"u{bytes_of(key)}"), key)
        item = torch.int32 if value in (None, "u32") else getattr(torch, TYPES[value].element)
        more = {} if value is None else {x: torch.zeros(n, dtype=item, device="cuda") for x in ("values", "values_out")}
        made(keys, out=keys.clone(), groups=torch.zeros(1, dtype=torch.int32, device="cuda"), **more)


def timed(run: Callable[[], Any], calls: int = 20) -> float:
    """The least milliseconds of a call, by CUDA events."""
    best = float("inf")
    for _ in range(3):
        run()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(calls):
            run()
        end.record()
        end.synchronize()
        best = min(best, float(begin.elapsed_time(end)) / calls)
    return best


def speed() -> None:
    """Tables and groups compared with what PyTorch and CuPy have for them."""
    for log in (16, 20, 24):
        narrow_speed(log, 1 << log)
        wide_speed(log, 1 << log)
        group_speed(log, 1 << log)


def narrow_speed(log: int, n: int) -> None:
    """Two columns of 32 bits, which are one key."""
    a, b = torch.randint(0, 1000, (n,), dtype=torch.int32, device="cuda"), torch.rand(n, device="cuda")
    order, sorter = torch.empty(n, dtype=torch.int32, device="cuda"), ColumnSorter(["i32", "f32"])
    mine = timed(lambda: sorter([a, b], index_out=order))
    both = cupy.stack([cupy.asarray(b), cupy.asarray(a).astype(cupy.float32)])
    check(bool((cupy.asarray(order) == cupy.lexsort(both)).all()), "lexsort")
    theirs = timed(lambda: cupy.lexsort(both), 5)
    chain = timed(lambda: torch.sort(a[torch.sort(b, stable=True)[1]], stable=True)[1])
    print(f"2^{log} rows by i32, f32: {mine:.3f} ms; cupy.lexsort {theirs:.3f}; two torch.sort {chain:.3f}")


def wide_speed(log: int, n: int) -> None:
    """128-bit keys."""
    wide = [torch.randint(0, 1 << 62, (n,), device="cuda") for _ in range(2)]
    order, sorter = torch.empty(n, dtype=torch.int32, device="cuda"), ColumnSorter(["i64", "i64"])
    mine = timed(lambda: sorter(wide, index_out=order))
    first = torch.sort(wide[1], stable=True)[1]
    check(torch.equal(order.long(), first[torch.sort(wide[0][first], stable=True)[1]]), "two torch.sort")
    chain = timed(lambda: torch.sort(wide[0][torch.sort(wide[1], stable=True)[1]], stable=True)[1])
    print(f"2^{log} rows by two i64: {mine:.3f} ms; two torch.sort {chain:.3f}")


def group_speed(log: int, n: int) -> None:
    """Distinct keys and how many there are of each."""
    a = torch.randint(0, 1000, (n,), dtype=torch.int32, device="cuda")
    out, number, counts = torch.empty_like(a), torch.empty(1, dtype=torch.int32, device="cuda"), torch.empty_like(a)
    group_by = GroupBy("i32")
    mine = timed(lambda: group_by(a, out=out, groups=number, counts=counts))
    found, often = torch.unique(a, return_counts=True)
    check(torch.equal(out[: len(found)], found) and torch.equal(counts[: len(found)].long(), often), "torch.unique")
    theirs = timed(lambda: torch.unique(a, return_counts=True))
    print(f"2^{log} keys of 1000 values, groups with counts: {mine:.3f} ms; torch.unique {theirs:.3f}")


PARTS = ((tables, 4), (selections, 3), (gathers, 1), (groups, 2))
"""The parts of the cases, with their shares of 10."""


def main() -> int:
    """Run all parts."""
    if sys.argv[1:2] == ["warm"]:
        warm(int(sys.argv[2]), int(sys.argv[3]))
        return 0
    if sys.argv[1:2] == ["speed"]:
        return run([(speed, ())])
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    return run([*((part, (cases * share // 10,)) for part, share in PARTS), (captured, ()), (guide, ())])


if __name__ == "__main__":
    sys.exit(main())
