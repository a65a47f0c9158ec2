"""The rows of a sort whose buckets are finished on chip; what is wrong with its choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import finish
from hsgen.algorithms.radix.msd_plan import Row, launched
from hsgen.algorithms.radix.pair_fields import PAIR_FIELDS
from hsgen.algorithms.radix.params import Params
from hsgen.algorithms.radix.words import values_binding, words_binding
from hsgen.core.device import Device
from hsgen.core.flags import DIRECT
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, Grid, Step, fixed

KERNELS = ("finish_starts", "finish_bounds", "finish", "finish_rest", "finish_again")
"""The kernels, in the order of their launches."""


def span(p: Params, high: int) -> tuple[int, int]:
    """Return the counts above which, and up to which, buckets are tried, of those up to `high`."""
    return min(finish.least(p), high), min(finish.most(p), high)


def rows(p: Params, kernels: tuple[Kernel, ...], ahead: list[Step], high: int) -> list[Step]:
    """Return the rows for all bits of the keys and counts of the `span`; `ahead` are those of the two passes."""
    bound = {
        "destination": Binding(role="destination"),
        "values_out": Binding(role="values_out"),
        "bounds": values_binding(p),
        "words": words_binding(p),
        "device_n": Binding(role="count"),
    }
    low, high = span(p, high)
    found: list[Step] = []
    for kernel in (k for k in kernels if k.name in KERNELS):
        flags = DIRECT if kernel.name in ("finish_starts", "finish_again") else 0
        found += launched(kernel, bound, _grids(p, kernel.name), low, high, flags)
        if kernel.name == "finish_starts":
            found += [replace(step, guard=replace(step.guard, range="whole")) for step in ahead]
    return found


def _grids(p: Params, name: str) -> list[Row]:
    """The grids of a kernel; buckets have a row for each number of them, as in `hsgen.algorithms.radix.msd_plan`."""
    limit, top = finish.limit(p), finish.top_bits(p)
    if name == "finish" and not p.form.counted:
        return [(limit << b - 1, limit << b, fixed(1 << b)) for b in range(1, top + 1)]
    groups = {"finish_bounds": finish.bound_groups(p), "finish_rest": finish.groups(p)}.get(name, 1)
    grid = Grid(add=-1, div=limit, mul=2, cap=1 << top) if name == "finish" else fixed(groups)
    return [(0, finish.most(p), grid)]


def taken(p: Params, n: int) -> bool:
    """Whether buckets are tried for `n` keys."""
    return p.finish and finish.least(p) < n <= finish.most(p)


def moved(p: Params, step: Step, n: int) -> int | None:
    """Return the bytes that a launch reads and writes for `n` keys that buckets hold; None where it has no part in it.

    The passes behind them then do nothing; the two ahead of them are the rows that are for these counts only.
    """
    if not taken(p, n):
        return None
    buckets = 1 << finish.bits(p, n)
    own = {
        "finish_starts": 8 * len(p.digits) * p.radix,
        "finish_bounds": 4 * buckets,
        "finish": 2 * n * (p.key.bytes + p.form.value_bytes) + 4 * buckets,
        "finish_rest": 0,
        "finish_again": 4 * len(p.digits),
    }
    if step.kernel == "onesweep" and step.guard.min_n < finish.least(p):
        return 0
    return own.get(step.kernel)


def edges(p: Params) -> Iterator[int]:
    """Yield the counts at which buckets are first tried, and those at which there are twice as many."""
    low, limit = finish.least(p), finish.limit(p)
    yield low
    yield from (limit << b for b in range(finish.top_bits(p) + 1) if limit << b > low)


def problems(p: Params, device: Device) -> Iterator[Problem]:
    """Yield what cannot work with these choices."""
    given = [name for name in PAIR_FIELDS if getattr(p, name)]
    missing = [name for name in PAIR_FIELDS if name not in given]
    if not given:
        return
    if missing:
        yield (
            given[0],
            f"buckets take all of {', '.join(PAIR_FIELDS)}",
            f"give {', '.join(missing)} too, or none of them",
        )
        return
    if p.coordination != "lookback" or not device.promised:
        what = "buckets with values follow passes of a look-back that needs no second try"
        yield "finish_from", what, 'leave it out, or give "lookback" on a device with progress = "guaranteed"'
        return
    found = [*_sizes(p, device)]
    yield from found or _counts(p, device)


def _sizes(p: Params, device: Device) -> Iterator[Problem]:
    powers = True
    for name in ("finish_group", "finish_places"):
        value = getattr(p, name)
        if value & value - 1:
            powers = False
            yield name, f"{value} is no power of two", f"give {1 << value.bit_length() - 1}"
    if powers and p.finish_places % p.finish_group:
        what = f"{p.finish_places} places are not shared out evenly by {p.finish_group} lanes"
        yield "finish_places", what, f"give a multiple of {p.finish_group}"
    if p.finish_group % p.subgroup:
        what = f"{p.finish_group} lanes are no whole subgroups"
        yield "finish_group", what, f"give a multiple of {p.subgroup}"
    if p.finish_group > device.work_group:
        what = f"{p.finish_group} lanes exceed the work-group limit of {device.work_group}"
        yield "finish_group", what, f"give at most {device.work_group}"
    elif p.finish_items > (most := min(64, 65535 // p.finish_group)):
        yield "finish_items", f"{p.finish_items} keys do not fit the registers of a lane", f"give at most {most}"
    elif finish.capacity(p) < 16:
        yield (
            "finish_items",
            "the list of buckets takes the room of values",
            f"give at least {-(-16 // p.finish_group)}",
        )


def _counts(p: Params, device: Device) -> Iterator[Problem]:
    """The number of a slot takes the place of the bits that the keys of a bucket share."""
    count, room = len(p.digits), finish.slot_bits(p)
    need = (finish.capacity(p) * (p.key.held + 4) + 4 * p.finish_places) + 8 * p.finish_group + 8
    crowded = finish.capacity(p) * (p.key.held + 4) + 4 * (
        p.radix * (2 + p.finish_group // p.subgroup) + p.finish_group
    )
    least = finish.limit(p) << room - 1
    if p.key.bytes < 4:
        yield "finish_from", f"keys of {p.key.bits} bits have few passes anyway", "leave it out"
    elif count % 2 or count < 4:
        what = f"{count} passes would end in the wrong buffer, or leave nothing to finish"
        yield "finish_from", what, "leave it out, or give bits that make an even number of passes from 4 on"
    elif finish.top_bits(p) < room:
        yield (
            "finish_items",
            f"{finish.capacity(p)} slots take more bits than two digits have",
            "give fewer, or more bits",
        )
    elif p.finish_from < least:
        what = f"the keys of a bucket would share fewer bits than number {finish.capacity(p)} slots"
        yield "finish_from", what, f"give at least {least}"
    elif p.finish_from >= finish.most(p):
        what = f"two digits make small enough buckets of up to {finish.most(p)} pairs"
        yield "finish_from", what, "give less, or leave it out"
    elif max(need, crowded) > device.local_bytes:
        what = f"a bucket takes {max(need, crowded)} bytes of local memory, the device has {device.local_bytes}"
        yield "finish_items", what, "give fewer, or fewer places"
