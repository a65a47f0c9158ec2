"""Look-back under stress: tiles that publish late or never, one thread, more work-groups than fit, dirty scratch.

Keys hold their index in the lower half of the bits, and only the upper half is sorted: only a stable sort is right.
Where a repeated pass would be a failure, the limit on look-back polls exceeds any device's delay.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from nightly import NIGHTLY, nightly, thinned
from radices import engine, payloads, shape, sort_of, tried

from hsgen.algorithms import radix
from hsgen.algorithms.radix import portions
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Part, Sort
from hsgen.emit.kernels import render
from hsgen.engines.builds import build, standard
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.targets import assembly as sorts_of
from hsgen.tools.validate import validation
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame

PATIENT = 1 << 27
COUNT = 20011
SHAPES: dict[str, dict[str, Any]] = {
    "bitmask": {"ranker": "bitmask", "items": 2},
    "ballot16": {"ranker": "match_ballot", "subgroup": 16, "items": 2},
    "radix_split": {"ranker": "radix_split", "items": 2},
}
PASSES = {2: {"bits": 8, "begin": 16}, 3: {"bits": 6, "begin": 16}}
"""Even and odd numbers of passes differ in the buffers that keys take, in and out of place."""


def base(ranker: str, passes: int = 2) -> radix.Params:
    """Return a shape with tiles small enough for hundreds of them."""
    return shape("u32", coordination="lookback", single=0, spins=PATIENT, **SHAPES[ranker], **PASSES[passes])


@cache
def compiled(host: Host, p: radix.Params) -> tuple[Any, dict[str, Any]]:
    """Compile every kernel of a shape once; return the context and the kernels."""
    context, sort = context_for(host), sort_of(p)
    option = standard(context, lanes=sort.lanes > 1)
    return context, build(context, render(sort, "opencl").text, "shape", [k.name for k in sort.kernels], option)


def variant(host: Host, p: radix.Params, **values: int) -> Direct:
    """Return a shape's sort with other values in its look-back kernel only."""
    context, kernels = compiled(host, p)
    sort = sort_of(replace(p, **values))
    source = render(sort, "opencl")
    option = standard(context, lanes=sort.lanes > 1)
    one = build(context, source.only("onesweep"), "variant", ["onesweep"], option)
    return Direct(context, Compiled(context, sort, source, {**kernels, **one}))


def sorts(made: Direct, frame: Frame, n: int, times: int = 1, seed: int = 1) -> list[int]:
    """Sort `n` keys in place and out of place `times` times; return the number of repeated passes of each."""
    rng = np.random.default_rng(seed)
    again = []
    for number in range(times):
        keys, right = payloads(rng, n, made.sort.key.name)
        for in_place in (False, True):
            assert tried(frame, keys, right, in_place=in_place, shifts=(number % 7, number % 5)) is None, (
                number,
                in_place,
            )
            again.append(made.device_status())
    return again


@pytest.mark.device
@pytest.mark.parametrize(
    ("ranker", "every"), thinned([(r, every) for r in ("bitmask", "ballot16") for every in (2, 3, 8, 64, 512)], 3, 1)
)
def test_tiles_that_publish_late_are_waited_for(embedded: Host, ranker: str, every: int) -> None:
    made = variant(embedded, base(ranker), withhold=every)
    assert sorts(made, Frame(made, COUNT), COUNT, times=3) == [0] * 6


@pytest.mark.device
@pytest.mark.parametrize(
    ("ranker", "every", "passes"),
    thinned([(r, every, q) for r in ("bitmask", "radix_split") for every in (2, 3, 8, 64) for q in PASSES], 5),
)
def test_a_device_that_starves_ends_in_the_right_order(embedded: Host, ranker: str, every: int, passes: int) -> None:
    """Tiles that never publish: the first pass fails and is repeated, and so are those after it; the status says so.

    (A starving tile ends here, while a real one would keep its kernel running.  So a later one must wait for it.)
    """
    made = variant(embedded, base(ranker, passes), starve=every, spins=50)
    frame = Frame(made, COUNT)
    assert sorts(made, frame, COUNT, times=2) == [1] * 4
    assert sorts(made, frame, made.sort.parts[0].params.tile) == [0, 0]  # one that does not starve


@pytest.mark.device
@pytest.mark.parametrize("values", [{}, {"withhold": 3}, {"starve": 3, "spins": 50}, {"redo": False}], ids=str)
@pytest.mark.parametrize("passes", PASSES)
def test_a_pass_in_portions(embedded: Host, passes: int, values: dict[str, int]) -> None:
    """Several launches of a pass share a small table: counts at and around the first that needs them, all in one frame,
    so that states of other counts are left in scratch; some passes are odd in number, so that states change meaning.

    A tile that starves must have one after it in its portion, which waits for it, as the launch does on a device.
    """
    p = replace(base("ballot16", passes), split_above=1000, **values)
    unit, sort = portions.count(p) * p.tile, sort_of(p)
    assert portions.count(p) > 4
    context = context_for(embedded)
    made = Direct(context, Compiled(context, sort))
    frame = Frame(made, COUNT)
    starved = (COUNT, 999, 4 * unit)
    for n in starved if "starve" in values else (COUNT, 999, 1000, 1001, *around([unit, 2 * unit, 7 * unit], COUNT)):
        assert sorts(made, frame, n, times=3) == [int("starve" in values)] * 6, n


@pytest.mark.device
@pytest.mark.parametrize("constant", ["first", "last", "all"])
def test_passes_without_work_are_skipped_next_to_failing_ones(embedded: Host, constant: str) -> None:
    p = base("bitmask", 3)
    kept = {"first": 0xFC0, "last": 0x03F, "all": 0}[constant]  # of 16 bits: passes of 6, 5 and 5
    for values in ({}, {"starve": 3, "spins": 50}):
        made = variant(embedded, p, **values)
        frame = Frame(made, COUNT)
        index = np.arange(COUNT, dtype=np.uint32)
        keys = (np.random.default_rng(1).integers(0, 1 << 16, COUNT, np.uint32) & np.uint32(kept)) << np.uint32(16)
        keys |= index & np.uint32(0xFFFF)
        right = keys[np.argsort(keys >> np.uint32(16), kind="stable")]
        for in_place in (False, True):
            assert tried(frame, keys, right, in_place=in_place) is None
            # out of place a pass moves the keys even if all digits are constant
            assert made.device_status() == (1 if values and (kept or not in_place) else 0)


@pytest.mark.device
@pytest.mark.parametrize("value", ["none", "v4", "index"])
@pytest.mark.parametrize("passes", [2, 3])
@pytest.mark.parametrize("redo", [True, False])
def test_every_set_of_constant_digits_ends_in_the_destination(
    embedded: Host, *, redo: bool, passes: int, value: str
) -> None:
    """For all sets of constant digits, in and out of place, with and without tiles that starve."""
    p = replace(base("bitmask", passes), redo=redo, signature=Signature(value=value))
    kernels, plan, parts = sorts_of.assemble(
        [Part(algorithm="radix", params=p, min_n=0, max_n=2**62)], "shape", p.signature
    )
    assert ("copy" in {k.name for k in kernels}) == (passes == 3) and ("scatter" in {k.name for k in kernels}) == redo
    sort = Sort(
        target="shape", algorithm="radix", key=p.key, kernels=kernels, plan=plan, parts=parts, signature=p.signature
    )
    context = context_for(embedded)
    made = Direct(context, Compiled(context, sort))
    frame, rng = Frame(made, 5000), np.random.default_rng(2)
    for moving in range(1 << passes):
        mask = sum((1 << width) - 1 << shift for q, (shift, width) in enumerate(p.digits) if moving >> q & 1)
        keys = rng.integers(0, 1 << 32, 5000, np.uint32) & np.uint32(mask)
        for in_place in (False, True):
            call = validation.call(sort, keys, Options(), in_place=in_place, count=None, rng=rng)
            assert frame.run(call) is None, (moving, in_place)
            assert made.device_status() == 0


@pytest.mark.device
@pytest.mark.parametrize(
    ("ranker", "every"), thinned([(r, every) for r in ("bitmask", "ballot16") for every in (2, 3, 64)], 2)
)
def test_waits_without_bound_end(embedded: Host, ranker: str, every: int) -> None:
    """Kernels without a poll limit wait for tiles that publish only after their own look-back."""
    p = replace(base(ranker), redo=False)
    made = engine(embedded, replace(p, withhold=every))
    assert "spins" not in render(made.sort, "opencl").text
    assert sorts(made, Frame(made, COUNT), COUNT, times=2) == [0] * 4


@pytest.mark.device
@pytest.mark.parametrize("ranker", ["bitmask", "ballot16", nightly("radix_split")])
def test_many_more_work_groups_than_fit_end_alike_every_time(embedded: Host, ranker: str) -> None:
    """More than 150 work-groups on a few threads; 100 results, or 30 in the fast run, are identical bit for bit."""
    made = variant(embedded, base(ranker))
    n = COUNT if NIGHTLY else COUNT // 2
    frame = Frame(made, n)
    keys, right = payloads(np.random.default_rng(5), n, "u32")
    assert n > 150 * made.sort.parts[0].params.tile
    for number in range(100 if NIGHTLY else 30):
        assert tried(frame, keys, right, in_place=number % 2 == 1) is None, number
        assert made.device_status() == 0, number


@pytest.mark.device
def test_u64_keys_keep_their_order_too(embedded: Host) -> None:
    p = shape("u64", coordination="lookback", bits=8, begin=32, single=0, spins=PATIENT, work_group=64)
    made = engine(embedded, p)
    frame = Frame(made, 5 * COUNT)
    assert sorts(made, frame, 5 * COUNT) == [0] * 2


@pytest.mark.device
def test_earlier_content_of_scratch_does_not_matter(embedded: Host) -> None:
    """Large, small, large in one scratch; all of it poisoned with bytes that resemble states, flags and tickets."""
    made = variant(embedded, base("bitmask"))
    frame = Frame(made, COUNT)
    for n in (COUNT, 700, 65, COUNT, 64, COUNT - 1):
        assert sorts(made, frame, n, seed=n) == [0, 0]
    scratch = made._compiled.scratch
    for byte in (0x00, 0x01, 0x40, 0x55, 0x80, 0xAA, 0xC0, 0xFF)[:: 1 if NIGHTLY else 3]:
        for n in (COUNT, 500):
            assert sorts(made, frame, n, seed=byte) == [0, 0]  # allocates its parts
            for number, size in enumerate(scratch._sizes.values()):
                scratch._fill(made.queue, number, byte, 0, size)
            assert sorts(made, frame, n, seed=byte) == [0, 0]


@pytest.mark.device
def test_the_status_is_that_of_the_last_sort(embedded: Host) -> None:
    """The status does not report an older sort's failure, nor a sort without look-back."""
    made = variant(embedded, replace(base("bitmask"), single=40), starve=40, spins=50)
    frame = Frame(made, COUNT)
    for n, expected in ((COUNT, 1), (30, 0), (60, 0), (COUNT, 1), (0, 0)):
        assert sorts(made, frame, n) == [expected] * 2


def alone(*tests: str, **variables: str) -> str:
    """Run tests of this file in a process with these environment variables."""
    named = [f"{__file__}::{test}" for test in tests]
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:xdist", *named]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.device
def test_one_thread_suffices(embedded: Host) -> None:
    """Tile numbers are drawn, so a work-group waits only for work-groups that have started: here, for none."""
    late, starving = "tiles_that_publish_late_are_waited_for", "a_device_that_starves_ends_in_the_right_order"
    assert "2 passed" in alone(f"test_{late}[bitmask-3]", f"test_{starving}[bitmask-8-3]", DPCPP_CPU_NUM_CUS="1")
