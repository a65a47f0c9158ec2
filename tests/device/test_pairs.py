"""Radix sorts of keys with 32-bit values, both in local memory, by every ranker of tiles.

Values are distinct, so that only a stable sort is right.  With match-by-ballot, values are prefetched for none, one, or
all keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from nightly import thinned
from radices import alone, shape, sort_of

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.emit.kernels import render
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.operations.inputs import KINDS
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "match_ballot": ("v4", {"ranker": "match_ballot", "subgroup": 8, "coordination": "lookback", "ahead": 0}),
    "match_ballot, one ahead": (
        "v4",
        {"ranker": "match_ballot", "subgroup": 16, "coordination": "lookback", "ahead": 1},
    ),
    "match_ballot, three ahead": ("index", {"ranker": "match_ballot", "subgroup": 8, "ahead": 3}),
    "match_ballot, all ahead": (
        "index",
        {"ranker": "match_ballot", "subgroup": 8, "coordination": "lookback", "ahead": 99},
    ),
    "match_broadcast": ("v4", {"ranker": "match_broadcast", "subgroup": 8, "coordination": "lookback"}),
    "bitmask": ("v4", {"ranker": "bitmask", "coordination": "lookback"}),
    "bitmask of an argsort": ("index", {"ranker": "bitmask", "work_group": 40, "items": 3}),
    "radix_split": ("v4", {"ranker": "radix_split", "coordination": "lookback"}),
}


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "key", "wide"),
    thinned([(name, key, wide) for name in SHAPES for key in ("u16", "u32", "u64") for wide in (False, True)], 5),
    ids=lambda x: x if isinstance(x, str) else "wide" * x,
)
def test_values_stay_with_their_keys(embedded: Host, name: str, key: str, wide: bool) -> None:
    """In full and partial tiles, of constant digits (whose keys do not move) and of many."""
    value, more = SHAPES[name]
    p = shape(key, **more, signature=Signature(value=value))
    sort = sort_of(alone(p) if wide else p)
    context = context_for(embedded)
    counts = [1, 51, p.tile - 1, p.tile, p.tile + 1, 3 * p.tile - 5, 5 * p.tile + 7]
    frame = Frame(Direct(context, Compiled(context, sort)), max(counts))
    rng = np.random.default_rng(2)
    for n in counts:
        for kind in ("random", "few distinct", "all greatest", "sorted"):
            keys = KINDS[kind](rng, n, np.dtype(f"u{p.key.bytes}"))
            for in_place in (False, True):
                problem = frame.run(validation.call(sort, keys, Options(), in_place=in_place, count=None, rng=rng))
                assert problem is None, f"{n} keys, {kind}, in place: {in_place}: {problem}"


def test_only_32_bit_values_are_in_local_memory_with_their_keys() -> None:
    """Where keys move once, so that no index within a tile is needed again."""
    again = "hs_to_int(order["
    for name, (_, more) in SHAPES.items():
        for value in ("v4", "index", "v8"):
            p = shape("u32", **more, signature=Signature(value=value))
            beside = value != "v8" and name.startswith(("match_ballot", "bitmask"))
            assert p.alongside == beside and (again in render(sort_of(p), "opencl").text) == (not beside), (name, value)
