"""The variables that templates of all strategies may use, besides `kernel` and `p`, the kernel and its parameters."""

from __future__ import annotations

from hsgen.algorithms.radix import portions
from hsgen.algorithms.radix.hybrid import buckets, pairs
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.tile import Tile
from hsgen.algorithms.radix.words import columns


def context(p: Tile) -> dict[str, object]:
    """Return the variables that templates of radix sorts may use, by name."""
    return {
        "key_buckets": buckets.sizes(p) if isinstance(p, Hybrid) and p.has_key_buckets else None,
        "pair_buckets": pairs.sizes(p) if isinstance(p, Hybrid) and (p.has_pair_buckets or p.pieces) else None,
        "status": pairs.STATUS,
        "early": pairs.EARLY,
        "portions": portions.count(p),
        "whole": portions.whole(p),
        "passes": p.digits,
        "part": p.signature.bit_range or (p.begin, p.end) != (0, None),
        "bit_range": None if p.signature.bit_range else (p.begin, p.last),
        "columns": columns(p),
        "index": "hs_i64" if p.index64 else "int",
        "count_type": "hs_u64" if p.index64 else "hs_u32",
    }
