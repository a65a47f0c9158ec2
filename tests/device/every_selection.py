"""Selections on an NVIDIA GPU, at both ends of each range of lengths and of k in a plan.

The calls are few enough for compute-sanitizer's tools.

Usage: python tests/device/every_selection.py [--most COUNT] [--key KEY] [--few] [--shrunk] [--forms plain|rows]
Each result is compared with numpy's, or with CuPy's for more keys.  With --few, keys are of one kind and rows are two.
Forms are plain selections, and those with numbers of rows in device memory: lengths, starts, numbers of keys to take,
a number of rows, starts of values.  With --shrunk, launches of rows longer than --most also select from rows of --most
keys, if no shorter row has the kernels (`shrunk.py`).  The last lines name the kernels that were never launched,
which takes rows longer than --most (by default 2^25).  Exit code 0 if all results are right, 1 if not, 3 without CuPy
or hsgen[cuda].  With --shrunk, a kernel that was never launched is a failure.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from every_sort import planned, with_cupy
from grouping_ways import recorded
from shrunk import shrunk

import hsgen.cuda
from hsgen.operations.top_k import call_of_rows

KEYS: dict[str, Any] = {"u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
NUMBERS = {
    "lengths": "other",
    "starts": "other_values",
    "takes": "takes",
    "row_count": "count",
    "value_starts": "value_starts",
}
"""The arguments of `hsgen.cuda.TopK` for numbers of rows, and the fields of a call that hold the numbers."""
GUARD = 64
"""The elements behind each result, which a selection must not write."""
ON_HOST = 1 << 20
"""The greatest number of keys that numpy selects from."""
ROWS_MOST = 1 << 22
"""The greatest number of keys for numbers of rows in device memory, which numpy selects from."""


@dataclass(frozen=True)
class Form:
    """A kind of selection: the values, and the numbers of rows that calls pass."""

    value: Any
    numbers: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The word of the option --forms."""
        return "rows" if self.numbers else "plain"

    def __str__(self) -> str:
        return f"{self.value} {' '.join(self.numbers)}".strip()


FORMS = (
    Form(None),
    Form("index"),
    Form(4),
    Form("index", ("lengths",)),
    Form("index", ("lengths", "starts")),
    Form("index", ("takes",)),
    Form("index", ("row_count",)),
    Form(4, ("value_starts",)),
    Form(4, tuple(NUMBERS)),
    Form(None, ("lengths", "starts", "takes", "row_count")),
)


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


def inputs(xp: Any, dtype: Any, n: int) -> Iterator[tuple[str, Any]]:
    """Yield keys of CuPy or numpy: crowded in few values, even, equal, and periodic."""
    rng = xp.random.default_rng(n)
    even = (rng.integers(0, 1 << 62, n, dtype=np.int64) * 2 + 1).astype(dtype)
    yield "crowded", even & dtype(0x103)
    yield "even", even
    yield "equal", xp.full(n, 7, dtype)
    yield "periodic", (xp.arange(n) & 255).astype(dtype)


def expected(xp: Any, keys: Any, k: int, in_order: bool) -> tuple[Any, Any]:
    """Return the least keys of each row and their indices, stable; by index if `in_order` is false."""
    order = xp.argsort(keys, axis=1, kind="stable")[:, :k]
    if not in_order:
        order = xp.sort(order, axis=1)
    return xp.take_along_axis(keys, order, 1), order.astype(np.uint32)


def results(cupy: Any, dtype: Any, form: Form, size: int) -> tuple[Any, Any]:
    """Return arrays for `size` keys and values with guards, full of 0x5A."""
    out = cupy.asarray(np.full(size + GUARD, 0x5A, dtype))
    return out, cupy.asarray(np.full(size + GUARD, 0x5A5A5A5A, np.uint32)) if form.value else None


def right(cupy: Any, select: Any, keys: Any, k: int, form: Form) -> bool:
    """Whether a plain selection is right; values are computed from places, so a stable selection has one result."""
    rows, length = keys.shape
    size = rows * k
    xp = np if keys.size <= ON_HOST else cupy
    out, values_out = results(cupy, keys.dtype, form, size)
    more: dict[str, Any] = {}
    if form.value == 4:
        more["values"] = cupy.asarray(xp.arange(rows * length, dtype=np.uint32) * 3 + 1)
    if values_out is not None:
        more["values_out"] = values_out[:size]
    select(cupy.asarray(keys.ravel()), k, rows=rows, out=out[:size], **more)
    if xp is np:
        out, values_out = cupy.asnumpy(out), None if values_out is None else cupy.asnumpy(values_out)
    picked, order = expected(xp, keys, k, k <= select.sorted_up_to)
    fine = bool((out[:size].reshape(rows, k) == picked).all() and (out[size:] == 0x5A).all())
    if values_out is not None:
        if form.value == 4:
            order = (order + xp.arange(rows, dtype=np.uint32)[:, None] * length) * 3 + 1
        got = values_out[:size].reshape(rows, k)
        fine = fine and bool((got == order).all() and (values_out[size:] == 0x5A5A5A5A).all())
    return fine


def right_of_rows(cupy: Any, select: Any, keys: Any, k: int, form: Form) -> bool:
    """Whether a selection with random numbers of rows is right: some are 0, or beyond the greatest."""
    rows, length = keys.shape
    size = rows * k
    sort, rng = select._sort, np.random.default_rng(k + length)
    options = replace(select._calls.options, segment_count=rows, take=k)
    values = np.arange(keys.size, dtype=np.uint32)[:, None] * np.uint32(3) + np.uint32(1) if form.value == 4 else None
    call = call_of_rows(sort, keys.ravel(), values, options, rng)
    out, values_out = results(cupy, keys.dtype, form, size)
    more: dict[str, Any] = {}
    for name in form.numbers:
        numbers = getattr(call, NUMBERS[name])
        argument = "count" if name == "row_count" else name
        more[argument] = cupy.asarray(np.array([numbers], np.uint32) if name == "row_count" else numbers)
    if values is not None:
        more["values"] = cupy.asarray(values.ravel())
    if values_out is not None:
        more["values_out"] = values_out[:size]
    select(cupy.asarray(call.keys), k, rows=rows, out=out[:size], **more)
    unchanged = np.zeros(size, bool) if call.unchanged is None else call.unchanged
    pairs = [(out, call.expected, keys.dtype.type(0x5A))]
    if values_out is not None:
        assert call.values_expected is not None
        pairs.append((values_out, call.values_expected.ravel(), np.uint32(0x5A5A5A5A)))
    for stored, expected_, blank in pairs:
        result = cupy.asnumpy(stored)
        fine = (result[:size] == np.where(unchanged, blank, expected_)).all() and (result[size:] == blank).all()
        if not fine:
            return False
    return True


def calls_of(select: Any, most: int, options: argparse.Namespace) -> Iterator[tuple[Any, int, int, int]]:
    """Yield selections with rows, lengths and k."""
    plan = select._sort.plan
    yield from ((select, *shape) for shape in shapes(plan.steps, most, options.few))
    if not options.shrunk:
        return
    seen = {s.kernel for s in plan.steps if s.guard.min_n < most}
    for _, small in shrunk(plan, most):
        new = [s for s in small.steps if s.kernel not in seen]
        seen |= {s.kernel for s in new}
        ends = {k for s in new for k in (s.guard.min_take + 1, min(s.guard.max_take, most))}
        yield from ((planned(select, small), 2, most, k) for k in sorted(ends))


def run(cupy: Any, library: Any, options: argparse.Namespace) -> int:
    """Run all selections; return the exit code."""
    calls = wrong = kernels = 0
    never: dict[str, int] = {}
    forms = [FORMS[i] for i in options.form] if options.form else FORMS
    forms = [form for form in forms if options.forms in (None, form.group)]
    with recorded(library) as done:
        for key in options.key or sorted(KEYS):
            for form in forms:
                features = dict.fromkeys(form.numbers, True)
                select = hsgen.cuda.TopK(key, value=form.value, order="ascending", target=options.target, **features)
                check = right_of_rows if form.numbers else right
                plan, launched = select._sort.plan, set[str]()
                most = min(options.most, ROWS_MOST // 2) if form.numbers else options.most
                for one, rows, length, k in calls_of(select, most, options):
                    xp = np if form.numbers or rows * length <= ON_HOST else cupy
                    for kind, keys in islice(inputs(xp, KEYS[key], rows * length), 1 if options.few else None):
                        done.clear()
                        fine = check(cupy, one, keys.reshape(rows, length), k, form)
                        launched |= set(done.kernels)
                        calls, wrong = calls + 1, wrong + (not fine)
                        if not fine:
                            print(f"WRONG {key} {form}: {rows} x {length} k={k} {kind}", flush=True)
                kernels += len(launched)
                print(f"{key} {form}: {calls} calls so far, launched {' '.join(sorted(launched))}", flush=True)
                for step in plan.steps:
                    if step.kernel not in launched:
                        name = f"{key} {form}: {step.kernel}"
                        never[name] = min(never.get(name, 1 << 62), step.guard.min_n)
    for name, least in sorted(never.items()):
        print(f"never launched: {name}, from {least + 1} keys of a row on")
    print(f"{calls} calls, {wrong} wrong, {kernels} kernels launched, {len(never)} never", flush=True)
    return 1 if wrong or (options.shrunk and never) else 0


def parsed(argv: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--most", type=int, default=1 << 25, help="the greatest length of a row")
    parser.add_argument("--key", choices=sorted(KEYS), action="append", help="a key type (all)")
    parser.add_argument("--few", action="store_true", help="keys of one kind, and two rows")
    parser.add_argument("--shrunk", action="store_true", help="rows of --most keys by the launches of longer rows")
    parser.add_argument("--forms", choices=("plain", "rows"), help="selections without numbers of rows, or with these")
    numbers = range(len(FORMS))
    parser.add_argument("--form", type=int, choices=numbers, action="append", help="a form by its number in FORMS")
    parser.add_argument("--target", help="the name or file of a target; by default the one that matches the GPU")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """Run the program."""
    return with_cupy("every_selection", run, parsed(argv))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
