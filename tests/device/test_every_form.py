"""Sorts of every form on the embedded device: types and orders, values and argsorts, bit ranges, counts on the device.

One compilation of a width and a kind of values serves every type, order, range and count, so their whole product is
tried, at counts around those where a sort changes its way.  Values are distinct: only a stable sort is right.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from hsgen import sorts, target, validate
from hsgen.backends.hosts import Host
from hsgen.backends.opencl import Compiled, Direct, context_for
from hsgen.cases import KINDS, around
from hsgen.frames import Frame
from hsgen.keys import KEYS, TYPES, Form
from hsgen.plan import Options
from hsgen.spec import Sort

LANES = Path(__file__).parent / "lanes"
NIGHTLY = os.environ.get("HSGEN_NIGHTLY") == "1"
WHOLE = {"typed": True, "ranged": True, "counted": True}
COUNTED = ("all", "fewer", "more", "none")
KIND_NAMES = ("few distinct", "random", "all greatest", "sorted")

SOME = [
    ("forms8.toml", "auto", "u32", "none"),
    ("forms8.toml", "auto", "u32", "v4"),
    ("forms8.toml", "auto", "u32", "index"),
    ("forms8.toml", "auto", "u32", "packed"),
    ("forms8.toml", "auto", "u64", "v16"),
    ("forms8.toml", "auto", "u64", "index64"),
    ("forms8.toml", "auto", "u16", "v8"),
    ("forms8.toml", "auto", "u8", "index"),
    ("forms8.toml", "radix-walk", "u32", "v8"),
    ("forms8.toml", "radix-walk", "u32", "index"),
    ("forms1.toml", "auto", "u32", "v8"),
    ("forms1.toml", "auto", "u64", "v4"),
    ("forms1.toml", "auto", "u64", "none"),
    ("forms1.toml", "auto", "u8", "v16"),
    ("forms1.toml", "auto", "u16", "none"),
    ("forms1.toml", "radix-split", "u32", "v4"),
    ("forms1.toml", "radix-split", "u32", "index"),
    ("forms1.toml", "radix-serial", "u32", "index"),
    ("cpu", "auto", "u32", "v4"),
    ("cpu", "auto", "u64", "index"),
    ("cpu", "auto", "u8", "none"),
]
"""(target, algorithm, width, value) that are always tried."""


def combinations() -> list[tuple[str, str, str, str]]:
    """Return what to compile: some, or nightly every width with every kind of values."""
    labels = [("forms8.toml", "auto"), ("forms1.toml", "auto"), ("cpu", "auto"), ("generic", "auto")]
    every = [(t, a, k, v) for t, a in labels for k in KEYS for v in ("none", "v4", "v8", "v16", "index", "index64")]
    every += [(t, a, "u32", "packed") for t, a in labels]
    return SOME + [x for x in every if x not in SOME] * NIGHTLY


def sort_of(name: str, algorithm: str, key: str, form: Form) -> Sort:
    """Return a sort of a target of the tests, or of one that comes with hsgen."""
    return target.find(str(LANES / name) if name.endswith(".toml") else name).sort(algorithm, key, form)


def engine(host: Host, sort: Sort) -> Direct:
    """Return the sort, ready on a device."""
    context = context_for(host)
    return Direct(context, Compiled(context, sort))


def few_counts(sort: Sort) -> list[int]:
    """Return counts around those at which the sort changes its way: the first few of them, and the last."""
    most = 4_000 if sort.target in ("cpu", "generic") else 1_500
    inner = {p.min_n for p in sort.parts} | {sorts.block(sort)}
    near = around([0, *inner, *sorts.edges(sort, most)[:3]], most)
    return sorted({*near, most}) if NIGHTLY else [*sorted(near)[:: max(1, len(near) // 8)], most]


def ranges(sort: Sort) -> list[tuple[int, int | None]]:
    """Return bit ranges: all, halves, one bit, no bit, all but the ends."""
    bits = sort.plan.bits
    return [(0, None), (0, bits // 2), (bits // 2, bits), (bits - 1, bits), (3, 3), (1, bits - 1)]


def hows(sort: Sort) -> Iterator[tuple[Options, str]]:
    """Yield every way to call the sort: type, order, bit range, where the count is."""
    kinds = [t.kind for t in TYPES.values() if KEYS[t.key].bits == sort.plan.bits]
    for kind, descending in product(kinds, (False, True)):
        plain = Options(kind=kind, descending=descending)
        for number, (begin, end) in enumerate(ranges(sort)):
            discard = sort.form.index and number % 2 == 1
            yield replace(plain, begin=begin, end=end, discard=discard), ""
        for where in COUNTED:
            yield replace(plain, counted=True), where


def live(where: str, n: int) -> int | None:
    """Return the count that lies on the device."""
    return {"": None, "all": n, "fewer": n // 2, "more": n + 7, "none": 0}[where]


@pytest.mark.parametrize(("name", "algorithm", "key", "value"), combinations())
def test_every_way_to_call_a_sort(embedded: Host, name: str, algorithm: str, key: str, value: str) -> None:
    sort = sort_of(name, algorithm, key, Form(value=value, **WHOLE))
    ns = few_counts(sort)
    frame = Frame(engine(embedded, sort), max(ns))
    rng = np.random.default_rng(5)
    dtype = np.dtype(f"u{sort.key.bytes}")
    for number, (how, where) in enumerate(hows(sort)):
        for turn, n in enumerate(ns):
            kind = KIND_NAMES[(number + turn) % len(KIND_NAMES)]
            keys = KINDS[kind](rng, n, dtype)
            in_place = (number + turn // 2) % 2 == 0
            made = validate.call(sort, keys, how, in_place=in_place, count=live(where, n), rng=rng)
            problem = frame.run(made, (number % 16, turn % 16))
            assert problem is None, f"{n} keys, {kind}, in place: {in_place}, {how}, count: {where}: {problem}"


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_all_keys_greatest_and_values_a_permutation(embedded: Host, key: str) -> None:
    """Pads tie with the greatest keys: at every count up to a block and more, none may take the place of one."""
    sort = sort_of("forms8.toml", "merge", key, Form(value="v4"))
    block = sorts.block(sort)
    frame = Frame(engine(embedded, sort), 2 * block)
    rng = np.random.default_rng(6)
    for n in range(2 * block + 1):
        keys = np.full(n, KEYS[key].greatest, f"u{KEYS[key].bytes}")
        for in_place in (False, True):
            made = validate.call(sort, keys, Options(), in_place=in_place, count=None, rng=rng)
            problem = frame.run(made)
            assert problem is None, f"{n} keys, in place: {in_place}: {problem}"


def test_what_was_not_asked_for_is_not_there() -> None:
    """Plain sorts have no twiddle, no values, no count: the form decides what is generated."""
    plain, whole = sort_of("cpu", "auto", "u32", Form()), sort_of("cpu", "auto", "u32", Form(value="v4", **WHOLE))
    named = lambda sort: {b.name for k in sort.kernels for b in k.buffers}  # noqa: E731
    assert not named(plain) & {"values_in", "values_out", "device_n"}
    assert named(whole) >= {"values_in", "values_out", "device_n"}
