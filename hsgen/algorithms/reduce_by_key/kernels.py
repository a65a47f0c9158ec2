"""The kernels of a reduction by key, by spans or by sections (see `hsgen.algorithms.reduce_by_key`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, SOURCE, word_array
from hsgen.algorithms.reduce_by_key.params import Params
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel
from hsgen.core.regions import Region, placed

_SPANS, _SECTIONS = "reduce_by_key/spans", "reduce_by_key/sections"

VALUES_IN = Buffer(name="values_in", type="u32", unit="value", read_only=True)
VALUES_OUT = Buffer(name="values_out", type="u32", unit="value")
COUNTS, FIRSTS = Buffer(name="counts", type="u32"), Buffer(name="firsts", type="u32")
REPORT, WORDS = Buffer(name="report", type="u32"), Buffer(name="words", type="u32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The part of a kernel's template that depends on the values (see `hsgen.core.kernels.VARIANT`).

    values: the name of the macros that reduce values.  For keys without values, other macros reduce nothing.
    """

    values: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanWords:
    """The words of each span in scratch.  The `start` of a region is a number f: word f x (number of spans) + g is that
    of span g.

    span_runs: the number of runs that start in the span.
    span_first: the index of the first key in the span that starts a run.
    span_last: the index of the last key in the span that starts a run.
    span_head: only with values, the reduction of the values before the first start.
    span_tail: only with values, the reduction of the values from the last start to the end of the span.
    """

    span_runs: Region
    span_first: Region
    span_last: Region
    span_head: Region
    span_tail: Region


def span_words() -> SpanWords:
    """Return the words of each span in scratch."""
    fields = (
        ("span_runs", 1, "x the number of spans: the runs that start in each span"),
        ("span_first", 1, "x the number of spans: the index of the first start in each span"),
        ("span_last", 1, "x the number of spans: the index of the last start in each span"),
        ("span_head", 1, "x the number of spans: the reduction of each span up to its first start"),
        ("span_tail", 1, "x the number of spans: the reduction of each span from its last start on"),
    )
    return SpanWords(**placed(fields))


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionWords:
    """The regions of scratch for a reduction by sections: a counter of tiles, and the states of tiles."""

    ticket: Region
    tile_states: Region


def section_words(p: Params) -> SectionWords:
    """Return the regions of scratch for a reduction by sections."""
    regions = (("ticket", p.states, "the number of tiles drawn"), ("tile_states", 0, f"{p.state_words} words a tile"))
    return SectionWords(**placed(regions))


def _kernel(p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], *arrays: Array) -> Kernel:
    """Return a kernel of a reduction by spans.  `_in_sections` turns it into a kernel of a reduction by sections."""
    return Kernel(
        name=name,
        template=f"{_SPANS}:{name}",
        summary=summary,
        work_group=p.work_group,
        buffers=(*buffers, DEVICE_N) if p.signature.device_count else buffers,
        arrays=arrays,
        always=name == "clear",
        resident=3 if p.valued and name != "count" else 0,  # else compilers spill registers
        algorithm="reduce_by_key",
        params=p,
        data=Body(values=f"{_SPANS}.j2:{'reduced' if p.valued else 'absent'}"),
        scratch=span_words(),
    )


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
    if p.sections:
        return _sections(p)
    sums, partials, starts = (word_array(name, p.work_group) for name in ("sums", "partials", "last_starts"))
    scanned = (sums, partials) if p.valued else (sums,)
    tile = (Array(name="keys", type="key", count=p.tile), word_array("staged", p.tile), *scanned)
    reads = (SOURCE, VALUES_IN) if p.valued else (SOURCE,)
    reduced = (VALUES_OUT,) if p.valued else ()
    all_kernels = (
        _clear(p),
        _kernel(
            p, "single", f"reduce up to {p.tile} keys", (*reads, DESTINATION, *reduced, COUNTS, FIRSTS, REPORT), *tile
        ),
        _kernel(p, "count", "count the runs that start in a span", (SOURCE, WORDS), sums),
        _kernel(p, "write", "reduce the runs of a span", (*reads, DESTINATION, *reduced, COUNTS, FIRSTS, WORDS), *tile),
        _kernel(p, "finish", "complete the runs of several spans", (*reduced, COUNTS, REPORT, WORDS), *scanned, starts),
    )
    return all_kernels if p.signature.device_count else all_kernels[1:]


def _clear(p: Params) -> Kernel:
    """Return the kernel that reports 0 groups first: if a device-side count is 0, no other kernel reports anything."""
    return _kernel(p, "clear", "report no groups, should the count on the device be 0", (REPORT,))


def _sections(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels of a reduction by sections."""
    of_subgroups = ("subgroup_runs", "subgroup_starts", *(["subgroup_carries"] if p.valued else []))
    tile = (
        Array(name="keys", type="key", count=p.tile),
        word_array("staged", p.tile),
        *(word_array(name, p.subgroups) for name in of_subgroups),
    )
    out = (DESTINATION, *((VALUES_OUT,) if p.valued else ()), COUNTS, FIRSTS, REPORT)
    buffers = (SOURCE, *((VALUES_IN,) if p.valued else ()), *out)

    def of_tiles(name: str, summary: str, values: str, more: tuple[Buffer, ...], *arrays: Array) -> Kernel:
        kernel = _in_sections(p, _kernel(p, name, summary, (*buffers, *more), *tile, *arrays))
        data = Body(values=f"{_SECTIONS}.j2:{values if p.valued else 'absent'}")
        return replace(kernel, data=data, resident=p.resident, subgroup=p.subgroup, vectors=True)

    all_kernels = (
        _clear(p),
        of_tiles("single", f"reduce up to {p.tile} keys", "reduced_tile", ()),
        _in_sections(p, _kernel(p, "begin", "clear the ticket and the states of tiles", (WORDS,))),
        of_tiles(
            "sections",
            "reduce a tile, look back in its section, store",
            "reduced",
            (WORDS,),
            word_array("ticket", 1),
        ),
    )
    return all_kernels if p.signature.device_count else all_kernels[1:]


def _in_sections(p: Params, kernel: Kernel) -> Kernel:
    """Return the kernel with the template and the scratch layout of a reduction by sections."""
    return replace(kernel, template=f"{_SECTIONS}:{kernel.name}", scratch=section_words(p))


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {}
