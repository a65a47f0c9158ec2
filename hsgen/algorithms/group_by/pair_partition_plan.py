"""The plan rows and the scratch of a group-by that partitions pairs.

Scratch has three parts.  First come the buffers `few` and `deals`, with the words by which the kernels communicate.
Next comes the memory of the sorted keys and values: the partition by the first digit stores its pairs there, before the
sorted pairs replace them.  Last comes the memory of the buckets; if passes sort the pairs, it has their second buffers.
"""

from __future__ import annotations

from hsgen.algorithms.group_by import pair_partition
from hsgen.algorithms.group_by.pair_partition import PairPartition
from hsgen.algorithms.group_by.pair_partition_kernels import buckets, tables
from hsgen.algorithms.radix.partition.params import words as rest_words
from hsgen.algorithms.reduce_by_key.plan import BOUND
from hsgen.core.flags import DIRECT
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, BitRange, Grid, Guard, Literal, Step, fixed
from hsgen.core.scratch import UNIT, ScratchRule, aligned


def words_bytes(p: pair_partition.Shape | None) -> int:
    """Return the size in bytes of the buffer `deals`; 0 if pairs are not partitioned."""
    return aligned(4 * pair_partition.words_count(p)) if p else 0


def bound(p: PairPartition) -> dict[str, Binding]:
    """Return the binding of each buffer, by its name in kernels.

    The bindings of the caller's arrays are those of a reduction by key.
    """
    deals = p.few.bytes
    first = deals + words_bytes(p.shape)
    item = p.key.bytes + p.signature.value_bytes
    return {
        **BOUND,
        "few": Binding(role="scratch"),
        "deals": Binding(role="scratch", plus=deals),
        "pairs": Binding(role="scratch", plus=first),
        "again": Binding(role="scratch", plus=first + 2 * UNIT, per_n=item),
        "other": Binding(role="scratch", plus=first + 2 * UNIT, per_n=item),
        "values_tmp": Binding(role="scratch", plus=first + 3 * UNIT, per_n=item + p.key.bytes),
        "rest": Binding(role="scratch", plus=first + 4 * UNIT, per_n=2 * item),
        "words": Binding(role="scratch", plus=first + 4 * UNIT, per_n=2 * item),
    }


def rule(p: PairPartition) -> ScratchRule:
    """Return the rule for the size of the scratch that the launches of the pair partition need."""
    rest = p.rest
    plus = bound(p)["rest"].plus + UNIT + (4 * rest_words(rest).tile_states.start if rest else 0)
    each = {"unit": rest.tile, "per_unit": 4 * rest.radix, "units": -(-p.shape.most // rest.tile)} if rest else {}
    return ScratchRule(min_n=p.few.least, max_n=p.shape.most, plus=plus, per_n=bound(p)["rest"].per_n, **each)


def steps(p: PairPartition, most: int, keys: Binding, values: Binding) -> list[Step]:
    """Return the plan rows of the pair partition for up to `most` keys.

    keys, values: the bindings of the sorted keys and of their values in scratch, which the reduction reads.
    """
    most, shape, bindings_ = min(most, p.shape.most), p.shape, bound(p)
    sorted_bindings = {**bindings_, "destination": keys, "values_out": values}
    again = shape.again.size
    grids = {
        "pairs_count": fixed(shape.cores),
        "pairs_starts": fixed(1),
        "pairs_deal": _tiles(shape.deal.size),
        "digit_tables": fixed(min(2 * shape.cores, 1 << shape.digits.first)),
        "pairs_again": _tiles(again, more=1 << shape.digits.least),  # each value may end in a partial tile
        "pairs_bucket": _buckets(p),
        "pairs_rest": fixed(2 * shape.cores),
    }

    def step(kernel: Kernel, least: int, bindings: dict[str, Binding]) -> Step:
        return Step(
            kernel=kernel.name,
            bindings=tuple(bindings[b.name] for b in kernel.buffers),
            guard=Guard(min_n=least, max_n=most, reduction="exact"),
            grid=grids[kernel.name],
            argument=BitRange(flags=DIRECT) if kernel.name == "pairs_rest" else Literal(),
        )

    more = [step(k, p.above, sorted_bindings) for k in buckets(p)] if p.bucketed and p.above < most else []
    return [*(step(k, p.few.least, bindings_) for k in tables(p)), *more]


def _buckets(p: PairPartition) -> Grid:
    """Return the grid of the bucket sort, with at least one work-group for each bucket.

    The number of buckets is a power of two, and so large that the mean number of pairs per bucket is at most
    `bucket.limit`.  The mean is more than half of that limit, except with the least number of buckets.
    """
    half, fewest = p.shape.bucket.limit // 2, 1 << p.shape.digits.least
    return _tiles(half, more=fewest if p.above < p.shape.bucket.limit * fewest else 0)


def _tiles(pairs: int, *, more: int = 0) -> Grid:
    return Grid(add=(more + 1) * pairs - 1, div=pairs)


def moved(p: PairPartition, step: Step, n: int) -> int:
    """Return the bytes that a launch reads and writes for `n` distinct keys, which go through buckets."""
    if n <= p.above:
        return 0  # nothing is partitioned
    both = 2 * n * (p.key.bytes + p.signature.value_bytes)
    return {"pairs_count": n * p.key.bytes, **dict.fromkeys(("pairs_deal", "pairs_again", "pairs_bucket"), both)}.get(
        step.kernel, 0
    )
