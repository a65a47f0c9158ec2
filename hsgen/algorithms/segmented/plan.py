"""The launch plan of a segmented sort."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.segmented.kernels import kernels
from hsgen.algorithms.segmented.params import Params
from hsgen.algorithms.segmented.words import OTHER, device_status, max_n, scratch, values_binding, words_binding
from hsgen.core.flags import DIRECT
from hsgen.core.plan import (
    Argument,
    Binding,
    BitRange,
    CallNumber,
    Grid,
    Guard,
    Literal,
    Pass,
    PassCount,
    Plan,
    Step,
    fixed,
)

_BOUND = {
    "source": Binding(role="source"),
    "destination": Binding(role="destination"),
    "other": OTHER,
    "values_in": Binding(role="values"),
    "values_out": Binding(role="values_out"),
    "offsets": Binding(role="other"),
    "stops": Binding(role="other_values"),
    "counted": Binding(role="count"),
}


def sifted(p: Params) -> int:
    """Return the number of segments that a work-group of the kernel `sift` examines."""
    return p.sifted


def plan(p: Params) -> Plan:
    """Return the launch plan: kernels for short and medium segments, then one pass per digit for long segments.

    Passes store to scratch and to the destination by turns.  The last pass must store to the destination.  With an even
    number of passes, the first pass therefore stores to scratch, otherwise to the destination.  In place, the first
    pass would overwrite its input, so it always stores to scratch; with an odd number of passes, a copy follows.  In a
    sort by a bit range, the bit range of a call determines the number of passes.
    """
    top, each = max_n(p), sifted(p)
    loop = Grid(add=p.tile - 1, div=p.tile, mul=2, cap=p.groups)  # two work-groups per tile, up to `groups`
    all_bits = BitRange if p.signature.bit_range else Literal  # for kernels that sort by the complete bit range
    cleared = p.wave // 2 * p.window  # keys per work-group of `begin`: a window has two words, and a lane clears one
    steps = [
        _row(p, "begin", 0, Grid(add=cleared, div=cleared) if p.bin_items else fixed(1), CallNumber()),
        _row(p, "sift", 0, Grid(x="number", add=each - 1, div=each)),
        _row(p, "windows", 0, Grid(add=p.window - 1, div=p.window), all_bits(flags=DIRECT)),
        *([_row(p, "windows_rest", 0, loop, all_bits())] if p.bin_items else []),
        _row(p, "alone", p.small, Grid(add=p.tile - 1, div=p.tile, mul=p.mediums) if p.apart else loop, all_bits()),
    ]
    for number in range(len(p.rank.digits)):
        looks = Pass(number=number, bits=p.rank.digit)
        steps += [
            _row(p, "count", p.tile, loop, looks),
            _row(p, "rows", p.tile, loop, looks),
            _row(p, "scatter", p.tile, loop, replace(looks, flags=DIRECT)),
        ]
    if p.signature.bit_range:
        steps.append(_row(p, "copy", p.tile, loop, PassCount(bits=p.rank.digit), place="in"))
    elif len(p.rank.digits) % 2:
        steps.append(_row(p, "copy", p.tile, loop, place="in"))
    return Plan(steps=tuple(steps), max_n=top, bits=p.key.bits, scratch=scratch(p), device_status=device_status(p))


def _row(p: Params, kernel: str, low: int, grid: Grid, argument: Argument | None = None, *, place: str = "any") -> Step:
    """Return the plan row of a kernel that runs for more than `low` keys."""
    bound = {**_BOUND, "values_tmp": values_binding(p), "words": words_binding(p)}
    used = next(k for k in kernels(p) if k.name == kernel)
    return Step(
        kernel=kernel,
        bindings=tuple(bound[b.name] for b in used.buffers),
        guard=Guard(min_n=low, max_n=max_n(p), place=place),
        grid=grid,
        argument=argument or Literal(),
    )


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` reads and writes for `n` keys, if all segments are short."""
    return 2 * n * (p.key.bytes + p.signature.value_bytes) if step.kernel == "windows" else 0


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the sort changes its method, with one segment or several."""
    counts = {0, 1, greatest, p.small, p.window, p.tile, p.window + p.small, 2 * p.tile, p.chunk, 3 * p.chunk}
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest`, one for each row of a tile: in this row, only half of the lanes have a key."""
    if p.serial:
        return []
    step = p.chip.subgroup if p.chip.subgroup > 1 else p.chip.work_group
    return [n for n in range(step // 2, p.tile, step) if n <= greatest]
