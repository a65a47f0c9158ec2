"""The kernels of a merge: its count of first keys, where tiles begin, and the tiles."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.buffers import DESTINATION, SOURCE, VALUES_IN, VALUES_OUT
from hsgen.algorithms.merge_path.params import Params
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

PARTS, SPLITS = 0, 32
"""Indices of 32-bit words in scratch: the keys of the first array; for each tile, and behind the last one, how many of
them come before it."""

WORDS = Buffer(name="words", type="u32")
SECOND = Buffer(name="second", read_only=True)
SECOND_VALUES = Buffer(name="second_values", type="value", read_only=True)


def _kernel(
    p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = (), body: str = ""
) -> Kernel:
    return Kernel(
        name=name,
        template=f"merge_path/{body or name}",
        summary=summary,
        work_group=p.work_group,
        buffers=buffers,
        arrays=arrays,
        algorithm="merge_path",
        params=p,
    )


def begin(p: Params) -> Kernel:
    """Return the kernel that keeps how many keys the first array has."""
    return _kernel(p, "begin", "keep the count of the first array", (WORDS,))


def split(p: Params) -> Kernel:
    """Return the kernel that finds where the parts of tiles begin in both arrays."""
    return _kernel(p, "split", "find where tiles begin in both arrays", (SOURCE, SECOND, WORDS))


def merge(p: Params) -> Kernel:
    """Return the kernel that merges the tiles."""
    values = (VALUES_IN, SECOND_VALUES, VALUES_OUT) if p.valued else ()
    arrays = [Array(name="tile", type="key", count=p.tile)] * (not p.walks)
    arrays += [Array(name="slots", type="u32", count=p.tile)] * (p.valued and not p.walks)
    body = "walk_rows" if p.row else "walk" if p.walks else "merge"
    what = f"merge {p.tile} keys in a work-group"
    made = _kernel(p, "merge", what, (SOURCE, SECOND, DESTINATION, *values, WORDS), tuple(arrays), body)
    return replace(made, row=p.row)


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return every kernel, in the order in which they run."""
    return (*([begin(p)] if p.noted else []), *([] if p.walks else [split(p)]), merge(p))


def context(p: Params) -> dict[str, object]:
    """Return what the templates need besides the kernel and the parameters."""
    return {"parts_at": PARTS, "splits_at": SPLITS}
