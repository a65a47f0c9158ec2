"""Prints the results of ``hsgen compile`` as tables or JSON, and records them as evidence."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from hsgen import __version__
from hsgen.cli.output import emit_table, fault
from hsgen.cli.target_file import replace, target_file
from hsgen.core.errors import Usage
from hsgen.targets import evidence
from hsgen.targets import target as target_files
from hsgen.targets.isa import KINDS
from hsgen.targets.target import Target
from hsgen.tools.compile.base import Use
from hsgen.tools.compile.jobs import Done
from hsgen.tools.compile.results import Missing, Result, Summary, places, summaries

SCHEMA = 1
_USE = ("registers", "spill_bytes", "local_bytes", "occupancy", "instructions")
_KERNELS = (
    "sort",
    "kernel",
    "compiler",
    "devices",
    "registers",
    "spill bytes",
    "local bytes",
    "occupancy",
    "instructions",
)
_DEVICES = ("target", "compiler", "device", "kernels", "failed", "spilling", "most registers", "least occupancy", "by")


def record(done: Sequence[Done], missing: Sequence[Missing]) -> dict[str, Any]:
    """Return the JSON object that ``--json`` prints."""
    results = [r for d in done for r in d.results]
    rows = [
        {
            **asdict(r.place),
            "sort": r.sort,
            "kernel": r.kernel,
            **(asdict(r.use) if r.use else dict.fromkeys(_USE)),
            "problem": r.problem,
            "log": r.log,
        }
        for r in results
    ]
    compilers = []
    for place in places(results):
        jobs = [d for d in done if d.job.place == place]
        compilers.append(
            {
                **asdict(place),
                "identity": jobs[0].job.identity,
                "jobs": len(jobs),
                "kept": sum(d.cached for d in jobs),
                "seconds": round(sum(d.seconds for d in jobs), 3),
            }
        )
    lacking = [{**asdict(m), "devices": list(m.devices)} for m in missing]
    return {"schema": SCHEMA, "hsgen": __version__, "compilers": compilers, "missing": lacking, "kernels": rows}


def show_results(results: Sequence[Result], *, kernels: bool) -> None:
    """Print a table with a line for each target and device; with `kernels`, first print a table of the kernels.

    If a kernel needs equal resources on several devices, these devices share a line.
    """
    styles = {"registers": lambda cell: "bold red" * (cell == "failed"), "spill bytes": fault}
    for target in dict.fromkeys(r.place.target for r in results) if kernels else ():
        click.echo(f"{target}:")
        emit_table(_KERNELS, _lines([r for r in results if r.place.target == target]), styles)
        click.echo()
    emit_table(_DEVICES, map(_line, summaries(results)), {"failed": fault, "spilling": fault})


def _lines(results: Sequence[Result]) -> list[list[object]]:
    devices: dict[tuple[str, str, str, Use | None], list[str]] = {}
    for r in results:
        devices.setdefault((r.sort, r.kernel, r.place.compiler, r.use), []).append(r.place.device)
    order = {name: i for i, name in enumerate(dict.fromkeys((r.sort, r.kernel) for r in results))}
    lines = sorted(devices.items(), key=lambda x: order[x[0][:2]])
    return [[s, k, c, " ".join(where), *_cells(use)] for (s, k, c, use), where in lines]


def _cells(use: Use | None) -> list[object]:
    if use is None:
        return ["failed", *["-"] * 4]
    shown = [use.registers, use.spill_bytes, use.local_bytes, _percent(use.occupancy), use.instructions]
    return ["-" if x is None else x for x in shown]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def _line(s: Summary) -> list[object]:
    registers = "-" if s.registers is None else s.registers
    p = s.place
    return [
        p.target,
        p.compiler,
        p.device,
        s.kernels,
        s.failed,
        s.spilling,
        registers,
        _percent(s.occupancy),
        s.identity,
    ]


def evidence_files(names: Sequence[str], *, narrowed: bool) -> list[Path]:
    """Return the target files in which evidence is recorded: those of `names`, or of all targets of hsgen.

    Raises:
        Usage: the command compiles only some of the kernels (`narrowed`), or a file is part of an installation.
    """
    if narrowed:
        raise Usage("--record: is about all plain sorts on all devices; omit --record, or the options that narrow them")
    return [target_file(name, write=True) for name in names or target_files.names()]


def emit_evidence(file: Path, target: Target, results: Sequence[Result], missing: Sequence[Missing]) -> None:
    """Record evidence in a target's file: each compiler that compiled all kernels for all devices without a spill.

    The SPIR-V validator is not recorded, because it does not compile for an instruction set.

    Raises:
        Usage: the file cannot be edited or written.
    """
    compiled = [r for r in results if r.place.target == target.name and r.place.compiler in KINDS]
    lacking = {m.compiler for m in missing if m.target == target.name}
    for name in dict.fromkeys(r.place.compiler for r in compiled):
        of_compiler = [r for r in compiled if r.place.compiler == name]
        if name in lacking or any(r.use is None or r.spills for r in of_compiler):
            click.echo(
                f"hsgen: target {target.name}: {name}: not recorded: not every kernel compiles without spills", err=True
            )
            continue
        most = max((r.use.registers or 0 for r in of_compiler if r.use), default=0)
        row = {
            "level": "compiled",
            "api": KINDS[name].api,
            "device": ", ".join(dict.fromkeys(r.place.device for r in of_compiler)),
            "driver": ", ".join(dict.fromkeys(r.identity for r in of_compiler)),
            "date": datetime.date.today().isoformat(),
            "result": f"compile: {len({(r.sort, r.kernel) for r in of_compiler})} kernels, none spills"
            + (f", at most {most} registers" if most else ""),
        }
        text = evidence.recorded(file.read_text(encoding="utf-8"), str(file), row)
        replace(file, text, "nothing was recorded")
