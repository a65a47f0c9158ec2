"""Radix sorts of tiny shapes on devices: every ranker, both coordinations, digits of 1 to 11 bits.

A shape is tried with every kind of keys at its boundary counts, and with every count from a tile to two tiles plus one,
in and out of place, between guard bytes, at shifted offsets.  Shapes that sort the upper half of the bits have the
index in the lower half, so that only a stable sort is right.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import OCLGRIND, missing
from nightly import NIGHTLY, nightly
from radices import Keys, alone, engine, payloads, shape, sort_of, tried

from hsgen.algorithms import radix
from hsgen.algorithms.radix.onesweep import Onesweep
from hsgen.algorithms.radix.tile import recast
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct
from hsgen.operations.inputs import KINDS
from hsgen.system import toolchain
from hsgen.targets import assembly
from hsgen.tools.validate import validation
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame

RANKERS: dict[str, dict[str, Any]] = {
    "ballot4": {"ranker": "match_ballot", "subgroup": 4},
    "ballot8": {"ranker": "match_ballot", "subgroup": 8, "items": 3},
    "ballot16": {"ranker": "match_ballot", "subgroup": 16},
    "broadcast4": {"ranker": "match_broadcast", "subgroup": 4},
    "broadcast8": {"ranker": "match_broadcast", "subgroup": 8},
    "bitmask": {"ranker": "bitmask", "work_group": 40, "items": 3},
    "split1": {"ranker": "radix_split", "split": 1},
    "split2": {"ranker": "radix_split", "split": 2, "work_group": 24, "items": 5},
    "serial1": {"ranker": "serial", "work_group": 1, "items": 64},
    "serial16": {"ranker": "serial", "work_group": 16, "items": 6},
    "walk8": {"ranker": "serial", "work_group": 8, "subgroup": 8, "items": 12},
    "walk16": {"ranker": "serial", "work_group": 16, "subgroup": 16, "items": 6},
    "lines": {"ranker": "serial", "work_group": 1, "items": 64, "stream_from": 100},
}
"""Shapes of every ranker, some with tiles of odd sizes."""

SOME = [
    ("ballot4", "scan", "u32", 8, False),
    ("ballot8", "lookback", "u64", 5, True),
    ("ballot16", "lookback", "u32", 8, False),
    ("broadcast4", "lookback", "u32", 5, True),
    ("broadcast8", "scan", "u64", 8, True),
    ("bitmask", "lookback", "u32", 8, True),
    ("bitmask", "scan", "u64", 5, False),
    ("bitmask", "scan", "u32", 1, True),
    ("split1", "scan", "u32", 5, False),
    ("split2", "lookback", "u64", 8, True),
    ("serial1", "scan", "u32", 8, False),
    ("serial1", "scan", "u64", 11, True),
    ("serial16", "scan", "u32", 5, True),
    ("walk8", "scan", "u32", 4, False),
    ("walk16", "scan", "u64", 2, True),
    ("lines", "scan", "u32", 8, True),
    ("lines", "scan", "u64", 8, False),
]
"""(ranker, coordination, key type, bits, whether half of the bits are sorted): all rankers, both coordinations."""

SLOW = {
    ("ballot16", "lookback", "u32", 8, False),
    ("broadcast4", "lookback", "u32", 5, True),
    ("bitmask", "scan", "u64", 5, False),
    ("split2", "lookback", "u64", 8, True),
    ("walk8", "scan", "u32", 4, False),
    ("lines", "scan", "u64", 8, False),
}
"""The slowest of them, which resemble others: nightly only."""


def ways() -> list[Any]:
    """Return the combinations to try: some, or nightly all."""
    coordinations = [
        (r, c) for r in RANKERS for c in ("scan", "lookback") if c == "scan" or "serial" not in str(RANKERS[r])
    ]
    digits = [(8, False), (5, True)]
    every = [(r, c, k, b, half) for r, c in coordinations for k in ("u32", "u64") for b, half in digits]
    every += [
        (r, "scan", k, b, True)
        for r in RANKERS
        for k, b in (("u32", 11), ("u64", 1))
        if b < 11 or "radix_split" not in r
    ]
    found = SOME + [w for w in every if w not in SOME] * NIGHTLY
    made = {w: "-".join([*map(str, w[:4]), "half"][: 5 if w[4] else 4]) for w in found}
    return [nightly(*w, id=name) if w in SLOW else pytest.param(*w, id=name) for w, name in made.items()]


def made(ranker: str, coordination: str, key: str, bits: int, half: bool) -> radix.Params:
    """Return a shape; those that sort half of the bits have no sort by a single work-group."""
    more = {"begin": 16 if key == "u32" else 32, "single": 0} if half else {}
    return shape(key, coordination=coordination, bits=bits, **{**RANKERS[ranker], **more})


def expected(p: radix.Params, keys: Keys) -> Keys:
    """Return `keys` stably sorted by the bits from p.begin on."""
    return keys[np.argsort(keys >> keys.dtype.type(p.begin), kind="stable")]


def inputs(p: radix.Params, n: int, number: int) -> Iterator[Keys]:
    """Yield two inputs: one of the kinds in turn, with its upper bits, and few upper halves over an index."""
    rng = np.random.default_rng([n, number])
    dtype = np.dtype(f"u{p.key.bytes}")
    kinds = list(KINDS.values())
    yield kinds[number % len(kinds)](rng, n, dtype)
    yield payloads(rng, n, p.key.name)[0]


def check(made: Direct, p: radix.Params, counts: list[int], frame: Frame | None = None) -> None:
    """Sort each count in place and out of place, at changing offsets."""
    frame = frame or Frame(made, max(counts))
    for number, n in enumerate(counts):
        for keys in inputs(p, n, number):
            right = expected(p, keys)
            shifts = (number * 5 % validation.SHIFTS, number * 7 % validation.SHIFTS)
            for in_place in (False, True):
                assert tried(frame, keys, right, in_place=in_place, shifts=shifts) is None, (n, number, in_place)


@pytest.mark.device
@pytest.mark.parametrize(("ranker", "coordination", "key", "bits", "half"), ways())
def test_sorts(embedded: Host, ranker: str, coordination: str, key: str, bits: int, half: bool) -> None:
    """Every count across a tile boundary, then every kind of keys at the counts where the sort changes its way."""
    p = made(ranker, coordination, key, bits, half)
    top = 2 * p.groups * p.tile + 1
    test_counts = [*assembly.test_counts(sort_of(p), top), p.groups * p.tile, p.stream or 0]
    ready = engine(embedded, p)
    check(ready, p, [*range(p.tile, 2 * p.tile + 2), *assembly.row_test_counts(sort_of(p), top)])
    check(ready, p, [*sorted(around(test_counts, top)), 9973])


@pytest.mark.device
@pytest.mark.parametrize("ranker", ["ballot16", nightly("broadcast8"), "bitmask", nightly("split2")])
def test_kernels_of_64_bit_indices_sort_small_counts(embedded: Host, ranker: str) -> None:
    """The kernels for 2^30 keys and more; no pass is repeated, for any content of scratch."""
    p = alone(made(ranker, "lookback", "u64" if "8" in ranker else "u32", 8, True))
    ready = engine(embedded, p)
    check(ready, p, [*range(1, 40, 13), p.tile - 1, p.tile, p.tile + 1, 2 * p.tile, 4 * p.tile + 1, 9973])
    whole = recast(p, Onesweep, index64=False, large=True, single=None)
    told = radix.plan(whole).device_status
    assert told is not None and told == radix.plan(replace(whole, large=False)).device_status
    scratch = ready._compiled.scratch
    assert (scratch.read(ready.queue, -(-(told.binding.per_n * 9973) // 1024) * 1024, told.words) == 0).all()


@pytest.mark.device
@pytest.mark.parametrize(
    ("platform", "key"), [nightly("embedded", "u32"), ("embedded", "u64"), ("pocl", "u32"), nightly("pocl", "u64")]
)
def test_lines_are_stored_wherever_memory_begins(platform: str, key: str, request: pytest.FixtureRequest) -> None:
    """Keys that start anywhere in a line of 64 bytes: host memory, which these devices use in place."""
    p = made("lines", "scan", key, 8, False)
    ready = engine(request.getfixturevalue(platform), p)
    cl = toolchain.pyopencl()
    rng = np.random.default_rng(1)
    n = 1500
    for slip in range(p.line):
        kept, places = [], {}
        keys = rng.integers(0, p.key.greatest, n, f"u{p.key.bytes}", endpoint=True)
        for role in ("source", "destination"):
            raw = np.full(n + 8 * p.line, 0x5A, keys.dtype)
            first = -(raw.ctypes.data // p.key.bytes) % p.line + p.line + slip
            raw[first : first + n] = keys if role == "source" else 0
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
            places[role] = cl.Buffer(ready.context, flags, hostbuf=raw[first : first + n + p.line])
            kept.append(raw)
        ready._compiled.run(ready.queue, places, n)
        out = np.empty(n + p.line, keys.dtype)
        cl.enqueue_copy(ready.queue, out, places["destination"], is_blocking=True)
        assert (out[:n] == np.sort(keys)).all() and (out[n:] == 0x5A).all(), slip
        assert (kept[1][: kept[1].nonzero()[0][0] + p.line] == 0x5A).all()


GENERIC = [r for r, v in RANKERS.items() if v.get("subgroup", 1) == 1]


@pytest.mark.device
@pytest.mark.parametrize("ranker", [nightly(r) if r in ("split2", "serial16", "lines") else r for r in GENERIC])
def test_forms_without_subgroups_sort_on_another_device(pocl: Host, ranker: str) -> None:
    """OpenCL C 1.2, compiled by another runtime.

    Work-groups that rank tiles have no more lanes than a digit has values: PoCL 3.1 vectorises others wrongly
    (POCL_WORK_GROUP_METHOD=workitemrepl does not).
    """
    for number, coordination in enumerate(("scan", "lookback") if NIGHTLY else ("scan",)):
        key = "u64" if (number + GENERIC.index(ranker)) % 2 else "u32"
        p = made(ranker, coordination, key, 4, True)
        if not p.serial:
            p = replace(p, work_group=16)
        if coordination == "scan" or not p.serial:
            check(engine(pocl, p), p, [1, 2, p.tile - 1, p.tile, p.tile + 1, 2 * p.tile, 4 * p.tile + 1, 1000])


@pytest.mark.device
@pytest.mark.parametrize(
    "ranker",
    [
        nightly(r) if r in ("split2", "serial16", "endless", "pairs") else r
        for r in (*GENERIC, "endless", "buckets", "pairs")
    ],
)
def test_oclgrind_reports_nothing(ranker: str) -> None:
    """No race, no uninitialised read, no access out of bounds; the fast run has few sorts by buckets."""
    done = grind(ranker, *["few"] * (ranker == "buckets" and not NIGHTLY))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sorted Oclgrind" in done.stdout and done.stderr.strip() == ""


@pytest.mark.device
def test_oclgrind_reports_a_missing_barrier() -> None:
    assert "race" in grind("bitmask", "drop-barrier").stderr


def grind(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run grind_radix.py in oclgrind."""
    if not Path(OCLGRIND).exists():
        missing("oclgrind is not installed (apt-get install oclgrind)")
    checks = {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNINITIALIZED": "1", "PYOPENCL_NO_CACHE": "1"}
    command = [sys.executable, str(Path(__file__).with_name("grind_radix.py")), *arguments]
    env = {**os.environ, "OCL_ICD_VENDORS": OCLGRIND, **checks}
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=600, check=False)
