"""Segments that are tiny on average, where windows are sorted by bins: networks, comparisons, and falling back.

- Lengths at which a network or a comparison ends, in windows whose average is just below the limit and just above.
- Windows without segments, whose notes must be empty, and segments that one lane, a subgroup or nobody takes.
- Planted faults: each way sorts what it may take, and a fault of each is detected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest
from every import changed, direct
from nightly import NIGHTLY, nightly

from hsgen.algorithms.segmented.capacity import NETWORKS, TINY
from hsgen.core.keys import Signature
from hsgen.emit.kernels import render
from hsgen.engines.hosts import Host
from hsgen.operations import layouts
from hsgen.operations.layouts import Offsets
from hsgen.targets import target
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device

FEW, SOME = NETWORKS[4]
MOST = target.find("nvidia-sm90").sort("segmented_sort", "u32").parts[0].params.compared
ENDS = [0, 1, FEW - 1, FEW, FEW + 1, SOME - 1, SOME, SOME + 1, MOST - 1, MOST]
KINDS = ("random", "few distinct", "all equal", "reversed")
COUNTS = [0, 1, 9, 64, 65, 500, 2880, 2881, 9001, 20_001]
"""Counts of keys: of a part of a window and of several; a window of u32 keys has 2880."""
TIMES = 4 if NIGHTLY else 1
"""How often each count has each kind of keys, with other lengths each time; one more time to see a fault."""


def _of(lengths: Iterable[int], n: int, front: int = 3) -> Offsets:
    """The offsets of segments of these lengths that n keys hold, after some keys that are in none."""
    offsets = min(front, n) + np.concatenate([[0], np.cumsum(list(lengths))]).astype(np.int64)
    return offsets[offsets <= n]


def _fits(rng: np.random.Generator, n: int, lengths: list[int], mean: float) -> Offsets:
    """Segments of these lengths in a random order, with as many of one key as bring the average to `mean` or below."""
    one = max(0, int(np.ceil((sum(lengths) - mean * len(lengths)) / (mean - 1))))
    every = rng.permutation(np.tile([*lengths, *[1] * one], n // (sum(lengths) + one) + 1))
    return _of(every, n)


def _gap(rng: np.random.Generator, n: int) -> Offsets:
    """Tiny segments, one so long that no segment starts in the windows after it, empty ones, and tiny ones."""
    return _of([*rng.integers(0, 6, n // 20), n // 2, *[0] * 70, *rng.integers(0, 6, n // 20)], n)


WAYS: dict[str, Callable[[np.random.Generator, int, int, int], Offsets]] = {
    "each length": lambda rng, n, small, tile: _fits(rng, n, ENDS, TINY),
    "one too long": lambda rng, n, small, tile: _fits(rng, n, [*ENDS, MOST + 1], TINY),
    "just below": lambda rng, n, small, tile: _of([TINY] * (n // TINY), n, 0),
    "just above": lambda rng, n, small, tile: _of([*[TINY] * 9, TINY + 1] * (n // TINY), n, 0),
    "one network": lambda rng, n, small, tile: _fits(rng, n, [FEW - 1, FEW], FEW),
    "compared": lambda rng, n, small, tile: _fits(rng, n, [MOST, MOST - 1, 33, 32, 31], TINY),
    "empty windows": lambda rng, n, small, tile: _gap(rng, n),
    "mostly empty": lambda rng, n, small, tile: np.sort(np.append(rng.integers(0, n + 1, 20), [n // 2] * 3000)),
}


@pytest.mark.parametrize("way", WAYS)
def test_lengths_are_those_meant(way: str) -> None:
    offsets = WAYS[way](np.random.default_rng(1), 20_001, 960, 6144)
    lengths = np.diff(offsets)
    assert (lengths >= 0).all() and offsets[0] >= 0 and offsets[-1] <= 20_001
    if way in ("each length", "one too long"):
        assert set(ENDS) <= set(lengths.tolist()) and lengths.mean() <= TINY
    if way in ("just below", "just above"):
        assert (lengths.mean() > TINY) == (way == "just above")
    if way == "empty windows":
        assert len(set(range(6)) - set((offsets // 2880).tolist())) >= 2


FORMS = [
    ("u32", Signature()),
    nightly("f32", Signature(key_transform=True)),
    nightly("u64", Signature(key_transform=True)),
    nightly("u8", Signature()),
    nightly("u32", Signature(segment_count=True)),
    nightly("u32", Signature(segment_ends=True)),
    nightly("u32", Signature(bit_range=True)),
    nightly("u64", Signature(value="v4")),
    nightly("u32", Signature(value="index")),
]


@pytest.mark.parametrize(("key", "signature"), FORMS, ids=lambda x: repr(x)[:60])
def test_tiny_segments(embedded: Host, monkeypatch: pytest.MonkeyPatch, key: str, signature: Signature) -> None:
    """In place and not, in both orders, of a count on the device, of rows; other forms search no bounds either."""
    monkeypatch.setattr(layouts, "LAYOUTS", WAYS)
    made = direct(embedded, target.find("nvidia-sm90").sort("segmented_sort", key, signature))
    pairs = [(n, kind) for n in COUNTS * TIMES for kind in KINDS]
    report = validation.run(made, pairs, 3, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


@pytest.mark.parametrize(
    ("kernel", "old", "new", "right"),
    [
        ("windows", f"if ((valid + {TINY - 1}) / {TINY} <= b - a)", "if (false)", True),  # all by bins
        nightly(
            "windows", f"if ((valid + {TINY - 1}) / {TINY} <= b - a)", "if (true)", True
        ),  # all that have no longer one
        nightly("windows", f"if (size > {MOST}) hs_local", "if (size > 1) hs_local", True),  # all fall back
        nightly("windows", f"if (size > {FEW}) order", "if (size > 1) order", True),  # none in the first step
        nightly("windows", f"if (size > {SOME}) bins", "if (size > 1) bins", True),  # nor in the second
        nightly("windows", f"if (size > {FEW}) order", "if (size > 9) order", False),  # a key of nine is lost
        nightly("windows", f"if (size > {SOME}) bins", "if (size > 17) bins", False),
        nightly("windows", "if (size > 32) for", "if (size > 33) for", False),  # the 33rd key of a subgroup
        nightly("windows", "(j < q0 && !hs_less(own0, near))", "false", False),  # equal keys at one position
        nightly("windows", "{ hs_key less = hs_min(m5, m6); m6 = hs_max(m5, m6); m5 = less; }", "", False),
        nightly("windows", "= tile[(hs_local_id()", "= HS_LEAST + 0 * tile[(hs_local_id()", False),  # not read again
        ("sift", "words[note + 1] = hs_to_u32(s + 1)", "words[note + 1] = hs_to_u32(s)", False),
        nightly("sift", "words[note] = hs_to_u32(s)", "words[note] = hs_to_u32(s + (s > 9 ? 1 : 0))", False),
    ],
)
def test_each_way_sorts_and_its_faults_are_seen(
    embedded: Host, monkeypatch: pytest.MonkeyPatch, kernel: str, old: str, new: str, right: bool
) -> None:
    monkeypatch.setattr(layouts, "LAYOUTS", WAYS)
    sort = target.find("nvidia-sm90").sort("segmented_sort", "u32", Signature())
    source = render(sort, "opencl")
    parts = {k: text.replace(old, new) if k == kernel else text for k, text in source.parts.items()}
    assert parts != source.parts, old
    made = changed(embedded, sort, replace(source, parts=parts))
    report = validation.run(made, [(n, kind) for n in COUNTS * (TIMES + 1) for kind in KINDS], 5, stop=1)
    assert bool(report.failed) is not right, report.failures
