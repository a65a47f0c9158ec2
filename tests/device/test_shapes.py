"""A sample of the shapes that hypothesis draws compiles and sorts on the embedded device."""

from __future__ import annotations

import numpy as np
import pytest
from every import direct
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import NIGHTLY, nightly
from sorts import sort_by

from hsgen.algorithms import bitonic
from hsgen.algorithms.bitonic import Params
from hsgen.core.keys import KEYS
from hsgen.core.networks import pow2_ceil, pow2_floor
from hsgen.engines.hosts import Host
from hsgen.operations.inputs import KINDS
from hsgen.targets import target
from hsgen.tools.validate import validation

FACTS = target.find("cpu").device
LONGEST, TALLEST = (256, 24) if NIGHTLY else (64, 10)  # keys of a column, of a slab: compile time grows with both


@st.composite
def shapes(draw: st.DrawFn) -> Params:
    """Shapes within width 1-64, height 2-24 (fast run: 2-10), slabs 1-32 (fewer for long kernels).

    Groups of fewer than 16 single lanes are left out: Intel's CPU compiler crashes on some of them.
    """
    width = draw(st.sampled_from([1, 4, 8, 16, 32, 64]))
    height = 2 * draw(st.integers(1, TALLEST // 2))
    slabs = draw(st.integers(1, min(32, max(2, LONGEST // height // (8 if width > 16 else 1)))))
    clean = 1 << draw(st.integers(0, pow2_ceil(slabs).bit_length() - 1))
    chunk = clean * pow2_floor(height) * width
    group = width << draw(st.integers(0, max(0, (chunk // width).bit_length() - 1)))
    scales = st.integers(1, 4)
    return Params(
        key=KEYS[draw(st.sampled_from(["u32", "u64"]))],
        subgroup=width,
        height=height,
        slabs=slabs,
        clean_slabs=clean,
        local_scale=draw(scales),
        flip_scale=draw(scales),
        half_scale=draw(scales),
        stream_group=min(max(group, min(16, chunk)), 1024),
        bank_pad=draw(st.integers(0, 3)),
        exchange=draw(st.sampled_from(["minmax", "select"])),
    )


def check(host: Host, p: Params) -> None:
    """Compile a shape and sort counts around its boundaries, up to eight blocks."""
    engine = direct(host, sort_by("bitonic", p))
    top = 8 * p.block + 1
    ns = bitonic.test_counts(p, top)
    ns = [*ns[:: max(1, len(ns) // 40)], top]
    pairs = [(n, list(KINDS)[i % len(KINDS)]) for i, n in enumerate(ns)] + [(n, "random") for n in ns]
    report = validation.run(engine, pairs, int(np.sum(ns)), stop=1)
    assert not report.failed, (p, report.failures)


@pytest.mark.device
@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(p=shapes())
def test_drawn_shapes_sort(embedded: Host, p: Params) -> None:
    if not bitonic.problems(p, FACTS):
        check(embedded, p)


@pytest.mark.device
@pytest.mark.parametrize("key", ["u32", "u64"])
@pytest.mark.parametrize(
    ("subgroup", "height", "slabs"),
    [(8, 4, 8), (16, 2, 8), (16, 16, 1), *(nightly(*x) for x in ((32, 8, 4), (64, 4, 2)))],
)
def test_block_sorts_with_loops_sort(embedded: Host, subgroup: int, height: int, slabs: int, key: str) -> None:
    """Every count up to two blocks, so that the last block has each width: constant masks and others, and lanes beyond
    the rows of a slab."""
    scale = height.bit_length() - 1
    p = Params(
        key=KEYS[key],
        subgroup=subgroup,
        height=height,
        slabs=slabs,
        clean_slabs=slabs,
        local_scale=scale,
        flip_scale=scale,
        half_scale=scale,
        stream_group=subgroup,
        bank_pad=3,
        compact=True,
    )
    assert p.looped and not bitonic.problems(p, FACTS)
    engine = direct(embedded, sort_by("bitonic", p))
    report = validation.run(engine, [(n, list(KINDS)[n % len(KINDS)]) for n in range(2 * p.block + 2)], 1, stop=1)
    assert not report.failed, (p, report.failures)


@pytest.mark.device
@pytest.mark.parametrize(
    ("subgroup", "height", "slabs"),
    [*(nightly(8, *x) for x in ((16, 12), (16, 18), (16, 28), (24, 4))), (16, 8, 17), (16, 6, 3)],
    ids=lambda v: str(v),
)
def test_blocks_that_are_no_power_of_two_sort(embedded: Host, subgroup: int, height: int, slabs: int) -> None:
    """Nightly HotSort's blocks for odd thread pools and its taller slab; fast run 17 slabs, which form no single tall
    column, and a small block."""
    check(
        embedded,
        Params(
            key=KEYS["u32"],
            subgroup=subgroup,
            height=height,
            slabs=slabs,
            clean_slabs=pow2_floor(slabs),
            local_scale=4,
            flip_scale=4,
            half_scale=3,
            stream_group=32,
        ),
    )
