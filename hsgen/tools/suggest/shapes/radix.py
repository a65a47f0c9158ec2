"""Suggests shapes of radix sorts, and the counts from which they are faster than merge sorts.

The number of keys of a lane is that of Fuchsia's radix sort, because no other sort has published shapes for so many
families of GPUs.  Shapes for CPUs were measured on the embedded OpenCL device and on lavapipe.  Crossovers are read
from published charts.
"""

from __future__ import annotations

from collections.abc import Iterator

from hsgen.algorithms.radix import STRATEGY
from hsgen.core.networks import pow2_ceil, pow2_floor
from hsgen.targets.ranges import RANGES, VALUED
from hsgen.tools.suggest.facts import Choice, Facts, Table, lessened

_ITEMS = {16: (8, 6), 32: (15, 10), 64: (17, 14)}
"""Fuchsia's numbers of keys of a lane, as (32-bit keys, 64-bit keys), by subgroup width.

An entry applies to subgroups up to its width, and the last entry also to wider subgroups.
"""
_MEMORY = {1: (8, 6), 4: (10, 7), 64: (11, 9)}
"""Fuchsia's numbers of keys of a lane, as in `_ITEMS`, for Arm's Bifrost: its local memory lies in ordinary memory."""
_GROUPS = 512  # work-groups of a launch, if it is unknown how many the device holds at once
_CROSSING = {1: (131072, 131072), 16: (49152, 65536), 32: (131072, 131072), 64: (65536, 131072)}
"""The greatest counts at which merge sorts are faster, as (32-bit keys, 64-bit keys), by subgroup width as in `_ITEMS`.

The counts are those of Mali G52 and HD 615 (up to 16 lanes) and RX 560 (64 lanes).
"""


ALONE = "radix sorts are faster from the first key where lanes take turns"


def tables(f: Facts, size: int, width: int) -> dict[str, Table]:
    """Return a table, with its strategy, for keys of `size` bytes; `width` is the subgroup width of the merge sort."""
    return {"": _table(f, size, width)}


def _table(f: Facts, size: int, width: int) -> Table:
    if f.cpu:
        return _per_thread(f)
    most, wide, memory = f.device.work_group, size == 8, f.device.local == "memory"
    ranker, why = "bitmask", "needs no subgroup operation"
    if 1 < width <= 16:
        ranker, why = "match_broadcast", "lanes of narrow subgroups compare with each other faster than they vote"
    elif width > 16 and f.ballot:
        ranker, why = "match_ballot", "lanes vote on each bit of a digit"
    elif width == 32:
        ranker, why = "match_broadcast", "lanes cannot vote, but compare with each other"
    lanes, why_lanes = 256, "256 lanes, or as many as a work-group may have"
    if width > 1 and memory:
        lanes, why_lanes = 8 * width, "8 subgroups: their counters lie in ordinary memory"
    elif 1 < width <= 16:
        lanes, why_lanes = 128, "128 lanes, as Fuchsia's sort has for narrow subgroups"
    lanes = max(width, pow2_floor(min(lanes, most)))
    why_items = "as in Fuchsia's sort for such subgroups"
    looks = f.device.forward_progress and ranker == "match_ballot"
    return {
        STRATEGY: Choice(
            "onesweep" if looks else "reduce_scan",
            "work-groups continue once started: one launch a digit" if looks else "no work-group waits for another",
        ),
        "bits": Choice(8, "4 passes of 8 bits for 32-bit keys, 8 for 64-bit ones"),
        "items": Choice(_by_width(_MEMORY if memory else _ITEMS, width)[wide], why_items),
        "work_group": Choice(lanes, why_lanes),
        "subgroup": Choice(1 if ranker == "bitmask" else width, "the width of merges, since one sort has one"),
        "ranker": Choice(ranker, why),
        "groups": groups(f, lanes // max(width, 1) if width > 1 else -(-lanes // 32)),
    }


def groups(f: Facts, subgroups: int, times: int = 2) -> Choice:
    """Return the greatest number of work-groups in a launch.

    The result is `times` the number of work-groups that the device holds at once.  If `times` exceeds 1, the result is
    rounded up to a power of two.  `subgroups` is the number of subgroups of a work-group.
    """
    resident = f.resident(subgroups)
    if resident is None:
        return Choice(min(_GROUPS, f.device.groups), "512, since it is not known how many the device holds")
    most = min(32768, pow2_floor(f.device.groups))
    many = pow2_ceil(times * resident) if times > 1 else resident
    return Choice(
        min(most, many), f"{times} x {resident}, what the device holds at once" + ", or a little more" * (times > 1)
    )


def _by_width(table: dict[int, tuple[int, int]], width: int) -> tuple[int, int]:
    return next((values for most, values in table.items() if width <= most), table[max(table)])


def _per_thread(f: Facts) -> Table:
    """Return the table for a CPU, on which each lane sorts a chunk of its own.

    If the runtime runs a work-group of one lane as a plain loop (`lone_lanes`), work-groups have one lane.
    """
    alone = f.lone_lanes
    lanes = 1 if alone else pow2_floor(min(16, f.device.work_group))
    count = min(f.device.groups, 256, pow2_ceil(4 * f.device.cores) if f.device.cores else 8)
    table = {
        STRATEGY: Choice("per_thread", "a core walks a chunk faster than lanes rank it together"),
        "bits": Choice(8, "256 counters stay in a first-level cache"),
        "items": Choice(1024 if alone else 64, "chunks long enough that counting them costs little"),
        "work_group": Choice(lanes, "a lane a core" if alone else "16 lanes a core, which take turns"),
        "subgroup": Choice(1, "lanes walk alone"),
        "groups": Choice(count, "four chunks a core, 8 where the cores are not known"),
        "single": Choice(65536 if alone else 2048, "below, launches cost more than they save"),
    }
    if alone:
        table["single_bits"] = Choice(11, "fewer passes where all keys are in caches")
    return table


def serves_all(f: Facts) -> bool:
    """Return True for a CPU whose runtime does not run a work-group of one lane as a plain loop (`lone_lanes`)."""
    return f.cpu and not f.lone_lanes


def takeover(f: Facts, size: int, width: int) -> Table:
    """Return the greatest counts at which a merge sort is faster than the radix sort."""
    if f.cpu:
        most = Choice([65536], "estimated from the embedded OpenCL device")
        return {RANGES: most, VALUED: Choice([1024 if size == 4 else 1], most.why)}
    crossing = _by_width(_CROSSING, width)[size == 8]
    return {RANGES: Choice([crossing], "estimated from published charts of such GPUs, not measured")}


def smaller(table: Table) -> Iterator[Table]:
    """Yield smaller tables: first with fewer keys of a lane, then with fewer bits of a digit, then with fewer lanes.

    If each lane sorts a chunk of its own, the first tables have fewer `single_bits` instead of fewer keys of a lane.
    """
    now, chunks = dict(table), "ranker" not in table
    least = {"work_group": 1 if chunks else now["subgroup"].value}
    order = ("single_bits" if chunks else "items", "bits", "work_group")
    while True:
        name = next((n for n in order if n in now and now[n].value > least.get(n, 1)), None)
        if name is None:
            return
        value = now[name].value // 2 if name == "work_group" else now[name].value - 1
        now[name] = lessened(table, name, value)
        yield dict(now)
