"""Writes the results of offline compilers as Markdown; equal results give equal text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hsgen import __version__
from hsgen.tools.compile.base import Use
from hsgen.tools.compile.results import TOGETHER, Missing, Place, Result, Summary, places, summaries

HEAD = """# Kernels as offline compilers see them

hsgen {version}. No device was used: offline compilers generated code for each device's instruction set and reported
these numbers. [compile.md](../guides/compile.md) explains them.

    {command}

{summary}
"""

_SUMMARY = ("compiler", "device", "kernels", "most registers", "spill", "least occupancy", "of", "by")


def page(results: Sequence[Result], missing: Sequence[Missing], command: str, *, kernels: bool) -> str:
    """Return a page with a table for each target, which has a row for each device.

    With `kernels`, there is also a table for each compiler, with a row for each kernel.
    """
    spilling, failed = sum(r.spills for r in results), sum(r.use is None for r in results)
    counts = f"{len({(r.place.target, r.sort, r.kernel) for r in results})} kernels, {len(places(results))} pairs of a"
    summary = f"{counts} target and a device: {spilling or 'no'} spills, {failed or 'no'} failures."
    lines = [HEAD.format(version=__version__, command=command, summary=summary).rstrip()]
    by: dict[str, list[Result]] = {}
    for r in results:
        by.setdefault(r.place.target, []).append(r)
    for target, of_target in by.items():
        lines += ["", f"## {target}", "", *_table(_SUMMARY, map(_row, summaries(of_target)))]
        for compiler in dict.fromkeys(r.place.compiler for r in of_target) if kernels else ():
            lines += ["", *_kernels([r for r in of_target if r.place.compiler == compiler])]
    if missing:
        lines += ["", "## Not compiled", "", "No compiler was available for:", ""]
        lines += [f"- {m.target}: {m.compiler} {', '.join(m.devices)}" for m in missing]
    return "\n".join(lines) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"


def _row(s: Summary) -> list[object]:
    counts = f"{s.kernels}, {s.failed} failed" if s.failed else s.kernels
    least = "-" if s.occupancy is None else f"{100 * s.occupancy:.0f} %"
    registers = "-" if s.registers is None else s.registers
    return [s.place.compiler, s.place.device, counts, registers, s.spilling, least, s.tightest, s.identity]


def _kernels(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines of a compiler's table, with a row for each kernel and a column for each device.

    Yield nothing if no cell has a number and no kernel failed.
    """
    columns = places(results)
    cells: dict[tuple[str, str], dict[Place, str]] = {}
    for r in results:
        if r.kernel != TOGETHER:
            cells.setdefault((r.sort, r.kernel), {})[r.place] = "failed" if r.use is None else _cell(r.use)
    if all(cell == "fine" for row in cells.values() for cell in row.values()):
        return
    rows = ([*name, *(row.get(p, "-") for p in columns)] for name, row in cells.items())
    yield "A cell: registers of a lane, spilled bytes in parentheses, occupancy."
    yield ""
    yield from _table(("sort", "kernel", *(p.device for p in columns)), rows)


def _cell(use: Use) -> str:
    words = [] if use.registers is None else [str(use.registers)]
    words += [f"(**{use.spill_bytes}**)"] if use.spill_bytes else []
    words += [] if use.occupancy is None else [f"{100 * use.occupancy:.0f} %"]
    return " ".join(words) or "fine"
