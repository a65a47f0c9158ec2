"""Sorts of every signature on the embedded device: types, orders, values, argsorts, bit ranges, device-side counts.

One compilation of a width and a kind of values serves every type, order, bit range and count, so their full product is
tried, at counts around those where a sort changes its way.  Values are distinct: only a stable sort is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from every import WHOLE, direct, few_counts, first_problem, hows, sort_of
from nightly import NIGHTLY, nightly_except

from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, Signature
from hsgen.engines.hosts import Host
from hsgen.targets import assembly
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

SOME = [
    ("forms8.toml", "auto", "u32", "none"),
    ("forms8.toml", "auto", "u32", "v4"),
    ("forms8.toml", "auto", "u32", "index"),
    ("forms8.toml", "auto", "u32", "packed"),
    ("forms8.toml", "auto", "u64", "v16"),
    ("forms8.toml", "auto", "u64", "index64"),
    ("forms8.toml", "auto", "u16", "v8"),
    ("forms8.toml", "auto", "u8", "index"),
    *(("several8.toml", "auto", "u32", value) for value in ("none", "v4", "v8", "index")),
    ("several8.toml", "auto", "u64", "index"),
    ("several8.toml", "auto", "u16", "v4"),
    ("several8.toml", "radix-mid", "u32", "packed"),
    *(("buckets8.toml", algorithm, "u32", "none") for algorithm in ("auto", "radix-few")),
    ("buckets8.toml", "auto", "u64", "none"),
    ("buckets8.toml", "auto", "u32", "v4"),
    *(("pairs8.toml", "auto", key, "v4") for key in ("u32", "u64")),
    ("pairs8.toml", "radix-few", "u32", "index"),
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
    *(("mixed8.toml", "auto", key, value) for key in ("u32", "u64") for value in ("none", "v4")),
    ("cpu", "auto", "u32", "v4"),
    ("cpu", "auto", "u64", "index"),
    ("cpu", "auto", "u8", "none"),
    *(("cpu", "auto", "u8", value) for value in ("v4", "v8", "index64")),
    *(("cpu", "auto", "u16", value) for value in ("v4", "v16", "index", "index64")),
    *(("cpu", "auto", "u32", value) for value in ("v16", "index64")),
    ("cpu", "auto", "u64", "v8"),
]
"""(target, algorithm, width, value); every width occurs with every kind of values."""

FAST = {
    ("forms8.toml", "auto", "u32", "packed"),
    ("forms8.toml", "auto", "u16", "v8"),
    ("forms8.toml", "auto", "u8", "index"),
    ("forms8.toml", "radix-walk", "u32", "v8"),
    ("several8.toml", "auto", "u32", "v4"),
    ("buckets8.toml", "radix-few", "u32", "none"),
    ("pairs8.toml", "auto", "u64", "v4"),
    ("forms1.toml", "auto", "u64", "none"),
    ("forms1.toml", "auto", "u8", "v16"),
    ("forms1.toml", "radix-split", "u32", "v4"),
    ("forms1.toml", "radix-serial", "u32", "index"),
    ("mixed8.toml", "auto", "u32", "v4"),
    ("cpu", "auto", "u16", "index64"),
    ("cpu", "auto", "u16", "v4"),
}
"""The cases of the fast run: every target, most algorithms, every width, every kind of values."""


def combinations() -> list[Any]:
    """Return what to compile: a few, nightly some, and on several targets every width with every kind of values."""
    labels = [("forms8.toml", "auto"), ("forms1.toml", "auto"), ("cpu", "auto"), ("generic", "auto")]
    every = [(t, a, k, v) for t, a in labels for k in KEYS for v in ("none", "v4", "v8", "v16", "index", "index64")]
    every += [(t, a, "u32", "packed") for t, a in labels]
    assert set(SOME) >= FAST
    return nightly_except(SOME, FAST) + [x for x in every if x not in SOME] * NIGHTLY


@pytest.mark.parametrize(("name", "algorithm", "key", "value"), combinations())
def test_every_way_to_call_a_sort(embedded: Host, name: str, algorithm: str, key: str, value: str) -> None:
    sort = sort_of(name, algorithm, key, Signature(value=value, **WHOLE))
    ns = few_counts(sort, all_near=NIGHTLY)
    calls, problem = first_problem(direct(embedded, sort), ns)
    assert problem is None and calls == len(ns) * len(list(hows(sort))), problem


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_all_keys_greatest_and_values_a_permutation(embedded: Host, key: str) -> None:
    """Padding equals the largest keys: at every count up to a block and more, it must not replace one."""
    sort = sort_of("forms8.toml", "bitonic", key, Signature(value="v4"))
    block = assembly.block(sort)
    frame = Frame(direct(embedded, sort), 2 * block)
    rng = np.random.default_rng(6)
    for n in range(2 * block + 1):
        keys = np.full(n, KEYS[key].greatest, f"u{KEYS[key].bytes}")
        for in_place in (False, True):
            made = validation.call(sort, keys, Options(), in_place=in_place, count=None, rng=rng)
            problem = frame.run(made)
            assert problem is None, f"{n} keys, in place: {in_place}: {problem}"


def test_features_that_were_not_requested_are_absent() -> None:
    """Plain sorts have no key transform, no values, no device-side count: the signature decides what is generated."""
    plain, whole = (
        sort_of("cpu", "auto", "u32", Signature()),
        sort_of("cpu", "auto", "u32", Signature(value="v4", **WHOLE)),
    )
    named = lambda sort: {b.name for k in sort.kernels for b in k.buffers}  # noqa: E731
    assert not named(plain) & {"values_in", "values_out", "device_n"}
    assert named(whole) >= {"values_in", "values_out", "device_n"}
