"""Sorted input on the embedded device: detected by every strategy that can detect it, and never wrongly.

Scratch shows that nothing moved: it holds the keys' buffer before each pass, and the passes that ran.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from every import sort_of as target_sort
from nightly import thinned
from radices import shape, sort_of
from sorts import sort_by

from hsgen.algorithms import radix
from hsgen.algorithms.radix.words import words, words_binding
from hsgen.core.interpreter import Options, offset, passes
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.operations.oracle import permutation
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

WAYS: dict[str, dict[str, Any]] = {
    "bitmask": {},
    "alone": {"ranker": "serial", "work_group": 1, "items": 32},
    "walking": {"ranker": "serial", "work_group": 4, "items": 8},
    "lookback": {"coordination": "lookback"},
    "match_ballot": {"coordination": "lookback", "ranker": "match_ballot", "subgroup": 16},
    "endless": {"coordination": "lookback", "redo": False},
    "odd": {"coordination": "lookback", "bits": 11, "sets": 4},
}
FORMS = (
    Signature(),
    Signature(value="v4", key_transform=True),
    Signature(value="index"),
    Signature(key_transform=True, bit_range=True),
)


def inputs(ordered: Any, tile: int) -> dict[str, Any]:
    """Return sorted keys, these with two neighbours swapped at critical positions, reversed, and all equal."""
    made = {"sorted": ordered, "reversed": ordered[::-1].copy(), "equal": np.full_like(ordered, ordered[0])}
    for at in (1, tile, 2 * tile, len(ordered) - 1):
        keys = ordered.copy()
        keys[[at - 1, at]] = keys[[at, at - 1]]
        made[f"swapped at {at}"] = keys
    return made


def moved(engine: Direct, p: radix.Params, n: int, how: Options) -> int:
    """Return how many passes of the last sort moved keys."""
    at, begin = words(p), offset(words_binding(p), n)
    count = passes(how.begin, how.end or p.key.bits, p.digit)
    read = engine._compiled.scratch.read(engine.queue, begin, at.tile_states.start)
    if p.looks_back:
        return int(np.count_nonzero(read[at.pass_order.start :][:count]))
    places = [0, *read[at.buffers.start + 1 :][:count]]
    return sum(a != b for a, b in pairwise(places))


def tried(engine: Direct, frame: Frame, keys: Any, how: Options, *, in_place: bool) -> str | None:
    call = validation.call(engine.sort, keys, how, in_place=in_place, count=None, rng=np.random.default_rng(1))
    return frame.run(call, (1, 2))


@pytest.mark.device
@pytest.mark.parametrize(
    ("signature", "way"), thinned([(signature, way) for signature in FORMS for way in WAYS], 4, 3), ids=str
)
def test_sorted_and_nearly_sorted_keys_are_sorted(embedded: Host, way: str, signature: Signature) -> None:
    p = shape("u32", sorted_exit=True, signature=signature, **WAYS[way])
    if signature.bit_range and not p.looks_back:
        p = replace(p, sorted_exit=False)  # like `specialize`
    context = context_for(embedded)
    engine = Direct(context, Compiled(context, sort_of(p)))
    frame, rng = Frame(engine, 2000), np.random.default_rng(7)
    how = Options(kind=2, descending=True) if signature.key_transform else Options()
    how = replace(how, begin=3, end=21) if signature.bit_range else how
    least = 1 if p.looks_back else 0
    for n in (2 * p.tile + 1, 10 * p.tile):
        raw = rng.integers(0, 1 << 32, n, np.uint32)
        for name, keys in inputs(raw[permutation(raw, engine.sort, how)], p.tile).items():
            for in_place in (False, True):
                assert tried(engine, frame, keys, how, in_place=in_place) is None, (n, name, in_place)
                if name == "sorted" and p.sorted_exit:
                    assert moved(engine, p, n, how) == (least if not in_place else 2 * least if signature.index else 0)
                if name.startswith("swapped") and not signature.bit_range:
                    assert moved(engine, p, n, how) >= 2, name


def exiting(file: str, signature: Signature) -> Sort:
    """Return a hybrid sort of a test target that checks for sorted input."""
    p = replace(target_sort(file, "radix", "u32", signature).parts[0].params, sorted_exit=True)
    return sort_by("radix", p, signature)


@pytest.mark.device
@pytest.mark.parametrize(
    ("file", "signature"), [("buckets8.toml", Signature()), ("pairs8.toml", Signature(value="v4"))]
)
def test_buckets_do_not_move_sorted_keys(embedded: Host, file: str, signature: Signature) -> None:
    sort = exiting(file, signature)
    p = sort.parts[0].params
    context = context_for(embedded)
    engine = Direct(context, Compiled(context, sort))
    frame, rng, n = Frame(engine, 20_000), np.random.default_rng(7), 20_000
    for name, keys in inputs(
        np.sort(rng.integers(0, 1 << 32, n, np.uint32)), p.partition.size if p.partition else p.tile
    ).items():
        for in_place in (False, True):
            assert tried(engine, frame, keys, Options(), in_place=in_place) is None, (name, in_place)
            if name == "sorted":
                assert moved(engine, p, n, Options()) == (0 if in_place else 1)
