"""The launch plan of the strategy `partition`, and the bytes that its launches move."""

from __future__ import annotations

from hsgen.algorithms.radix import rows, single
from hsgen.algorithms.radix.partition.kernels import bucket, count, fallback, partition, scan
from hsgen.algorithms.radix.partition.params import FOLD, MAX_N, Partition, columns, most, passing, words
from hsgen.core.flags import DIRECT
from hsgen.core.plan import BitRange, Plan, Step
from hsgen.core.scratch import Scratch, ScratchRule


def plan(p: Partition) -> Plan:
    """Return the launch plan of the sort."""
    steps = rows.single(p, single.kernel(single.of(p)))
    steps.append(rows.row(p, count(p), rows.tiles(p), high=MAX_N))
    low, high = p.alone, most(p)
    if low < high:
        folded = max(low, FOLD * p.tile)
        if folded < high and p.groups > FOLD:
            grid = rows.fixed(p.radix // columns(p))
            steps.append(rows.row(p, scan(p), grid, low=folded, high=high, part="whole"))
        steps.append(rows.row(p, partition(p), rows.tiles(p), high=high, part="whole"))
        steps.append(rows.row(p, bucket(p), rows.fixed(1 << p.first), high=high, part="whole"))
    steps.append(rows.row(p, fallback(p), rows.tiles(passing(p)), BitRange(flags=DIRECT), high=MAX_N))
    bits = p.last - p.begin
    return Plan(steps=tuple(steps), max_n=MAX_N, first_bit=p.begin, bits=bits, scratch=_scratch(p))


def _scratch(p: Partition) -> Scratch:
    """Return the size of scratch: second buffers, regions, and a table with a row of counts or states for each tile."""
    unit = min(p.tile, passing(p).tile)
    rule = ScratchRule(
        min_n=p.alone,
        plus=4 * words(p).tile_states.start + 2048 + 1024 * p.valued,
        per_n=p.key.bytes + p.signature.value_bytes,
        unit=unit,
        per_unit=4 * p.radix,
        units=MAX_N // unit + 1,
    )
    return Scratch((rule,))


def moved(p: Partition, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` reads and writes for `n` keys, if every bucket fits a work-group."""
    groups = min(-(-n // p.tile), p.groups)
    table, both, read = 4 * p.radix * groups, rows.both(p, step, n), n * p.key.bytes
    if step.kernel == "partition_rest":
        states = 12 * p.radix * -(-n // passing(p).tile)  # a state is written twice, and read at least once
        return 0 if p.partitioned and n <= most(p) else read + len(p.digits) * (both + states)
    bytes_of = {
        "partition_count": read + table,
        "partition_scan": 2 * table,
        "partition_scatter": both + table * (groups if groups <= FOLD else 1),
        "partition_bucket": 2 * n * (p.key.bytes + p.signature.value_bytes),
    }
    return bytes_of[step.kernel] if step.kernel in bytes_of else rows.moved(p, step, n)


def test_counts(p: Partition, greatest: int) -> set[int]:
    """Return the counts at which the launches or their grids change; some may exceed `greatest`."""
    bounds = {FOLD * p.tile, most(p)} if p.partitioned else set()
    tiles = rows.test_counts(p, greatest) | rows.test_counts(passing(p), greatest)
    return tiles | {n + more for n in bounds for more in (0, 1)}
