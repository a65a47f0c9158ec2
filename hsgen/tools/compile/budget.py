"""Resource budgets: files with the recorded resources of a target's kernels, with which new resources are compared.

A file belongs to one target.  For each offline compiler it lists devices, with the version of the compiler for each
device, and three tables: registers of a lane, spilled bytes, and occupancy in percent.  A table has a line for each
kernel, with a number for each device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hsgen.core.errors import Usage
from hsgen.system import documents
from hsgen.targets.isa import KINDS
from hsgen.targets.target import Target
from hsgen.tools.compile.base import Use
from hsgen.tools.compile.results import TOGETHER, Missing, Place, Result

SCHEMA = 1
UNREPORTED = -1
"""Stands for a number that the compiler does not report."""
TABLES = {"registers": UNREPORTED, "spills": 0, "occupancy": UNREPORTED}
"""The tables of a compiler in a budget file.  A kernel without a line in a table has this number there."""
AGAIN = "--write-budget writes it again"

_Numbers = dict[str, int]


@dataclass(slots=True)
class Column:
    """The numbers of one device.

    `identity` is the name and version of the compiler.  `kernels` has the numbers of each kernel by table; a kernel's
    name is "SORT KERNEL".
    """

    identity: str
    kernels: dict[str, _Numbers] = field(default_factory=dict)


@dataclass(slots=True)
class Budget:
    """The recorded numbers of a target; `columns` are by (compiler, device)."""

    target: str
    columns: dict[tuple[str, str], Column] = field(default_factory=dict)


def numbers(use: Use) -> _Numbers:
    """Return a kernel's registers, spilled bytes and percent of occupancy, by the tables of a budget that hold them."""
    return {
        "registers": UNREPORTED if use.registers is None else use.registers,
        "spills": use.spill_bytes,
        "occupancy": UNREPORTED if use.occupancy is None else round(100 * use.occupancy),
    }


def recorded(target: str, results: Iterable[Result]) -> Budget:
    """Return the budget with a target's results; failed kernels and results of spirv-val are left out."""
    budget = Budget(target)
    for r in results:
        if r.place.compiler in KINDS and r.use is not None:
            column = budget.columns.setdefault((r.place.compiler, r.place.device), Column(r.identity))
            column.kernels[f"{r.sort} {r.kernel}"] = numbers(r.use)
    return budget


def text(budget: Budget) -> str:
    """Return the text of a budget's file; equal budgets give equal texts.

    All columns of a compiler must have the same kernels.
    """
    lines = [
        f"# Kernels of {budget.target}, as offline compilers report them: one number per device, occupancy in percent.",
        "# `hsgen compile --budget` compares with this file, `hsgen compile --write-budget` writes it.",
        f"schema = {SCHEMA}",
        f'target = "{budget.target}"',
    ]
    for compiler in dict.fromkeys(name for name, _ in budget.columns):
        columns = {device: c for (name, device), c in budget.columns.items() if name == compiler}
        lines += ["", f"[{compiler}]", f"devices = {_list(columns)}"]
        lines += [f"identities = {_list(c.identity for c in columns.values())}"]
        kernels = next(iter(columns.values())).kernels
        for table, unreported in TABLES.items():
            rows = {k: [c.kernels[k][table] for c in columns.values()] for k in kernels}
            reported = {k: row for k, row in rows.items() if set(row) != {unreported}}
            if reported:
                lines += ["", f"[{compiler}.{table}]"]
                lines += [f'"{k}" = [{", ".join(map(str, row))}]' for k, row in reported.items()]
        silent = [k for k in kernels if all(c.kernels[k] == TABLES for c in columns.values())]
        if silent:
            lines += ["", f"[{compiler}.silent]", f"kernels = {_list(silent)}"]
    return "\n".join(lines) + "\n"


def _list(words: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{w}"' for w in words) + "]"


def read(path: Path) -> Budget:
    """Return the budget in a file.

    Raises:
        Usage: the file cannot be read, or does not have the format of `text`.
    """
    name = f"budget {path}"
    content = documents.text(path, "--write-budget writes one", most=documents.JSON_BYTES, name=name)
    data = documents.toml(content, name, AGAIN)
    if data.get("schema") != SCHEMA:
        raise Usage(f"budget {path}: schema is {data.get('schema')}, not {SCHEMA}; {AGAIN}")
    try:
        return _read(data)
    except (AttributeError, LookupError, TypeError, ValueError) as e:
        raise Usage(f"budget {path}: is not what hsgen writes ({type(e).__name__}: {e}); {AGAIN}") from None


def _read(data: Mapping[str, Any]) -> Budget:
    budget = Budget(data["target"])
    if not isinstance(budget.target, str):
        raise TypeError("target is no string")
    for compiler in (name for name in data if name not in ("schema", "target")):
        table = data[compiler]
        columns = [Column(identity) for identity in table["identities"]]
        budget.columns.update(zip(((compiler, d) for d in table["devices"]), columns, strict=True))
        rows = {name: table.get(name, {}) for name in TABLES}
        every = [*dict.fromkeys(k for name in TABLES for k in rows[name]), *table.get("silent", {}).get("kernels", ())]
        for kernel in every:
            known = {name: rows[name][kernel] for name in TABLES if kernel in rows[name]}
            for i, column in enumerate(columns):
                column.kernels[kernel] = {**TABLES, **{name: int(row[i]) for name, row in known.items()}}
        if any(len(row) != len(columns) for name in TABLES for row in rows[name].values()):
            raise ValueError(f"{compiler}: a line lacks a number for each device")
    return budget


def compare(budget: Budget, results: Sequence[Result], complete: bool) -> tuple[list[str], list[str]]:
    """Compare results with a budget; return a line for each result that is worse than recorded, and further notes.

    A result is worse if it has a larger spill, more registers, or less occupancy than recorded.  If the version of the
    compiler differs from the recorded version, a result is worse only if the kernel spills and did not spill before.  A
    kernel or device that the budget lacks counts as worse.  With `complete`, `results` has all kernels of the target;
    then a kernel that only the budget has counts as worse too.
    """
    worse: list[str] = []
    notes: list[str] = []
    by_place: dict[Place, list[Result]] = {}
    for r in results:
        if r.place.compiler in KINDS and r.kernel != TOGETHER:
            by_place.setdefault(r.place, []).append(r)
    for place, compiled in by_place.items():
        where = f"{place.target}: {place.compiler} {place.device}"
        column = budget.columns.get((place.compiler, place.device))
        if column is None:
            worse.append(f"{where}: is not in the budget; {AGAIN}")
            continue
        same = column.identity == compiled[0].identity
        if not same:
            notes.append(
                f"{where}: recorded with {column.identity}, compiled with {compiled[0].identity}: only spills count"
            )
        names = {f"{r.sort} {r.kernel}": r.use for r in compiled}
        for name, use in names.items():
            if use is not None:
                worse += [f"{where}: {name}: {line}" for line in _worse(column.kernels.get(name), numbers(use), same)]
        gone = [k for k in column.kernels if k not in names] if complete else []
        worse += [f"{where}: {name}: is only in the budget; {AGAIN}" for name in gone]
    return worse, notes


def _worse(old: _Numbers | None, new: _Numbers, same: bool) -> list[str]:
    """Return a line for each number of a kernel that is worse; `same`: the compiler's version is the recorded one."""
    if old is None:
        return [f"is not in the budget; {AGAIN}"]
    lines = []
    if new["spills"] > (old["spills"] if same else 0) and (same or old["spills"] == 0):
        lines.append(f"spills {new['spills']} bytes, recorded are {old['spills']}")
    if same and new["registers"] > old["registers"]:
        lines.append(f"takes {new['registers']} registers, recorded are {old['registers']}")
    if same and new["occupancy"] < old["occupancy"]:
        lines.append(f"has an occupancy of {new['occupancy']} %, recorded are {old['occupancy']} %")
    return lines


def place(path: Path, targets: Sequence[Target]) -> dict[str, Path]:
    """Return the path of each target's budget file; `path` is a file if it ends in .toml, and otherwise a folder.

    Raises:
        Usage: one file is given for several targets.
    """
    if path.suffix != ".toml":
        return {t.name: path / f"{t.name}.toml" for t in targets}
    if len(targets) != 1:
        raise Usage(f"budget {path}: a file holds one target; name it with -t, or give a folder")
    return {targets[0].name: path}


def load(path: Path, targets: Sequence[Target]) -> dict[str, Budget | None]:
    """Return the budget of each target, by the target's name.

    `path` is a file or a folder, as in `place`.  If a folder has no file for a target, the target's budget is None.

    Raises:
        Usage: the file or folder `path` does not exist, or a file is invalid or belongs to another target; or `path` is
            a file, and there are several targets.
    """
    if path.suffix != ".toml" and not path.is_dir():
        raise Usage(f"budget {path}: no such folder; --write-budget makes it")
    budgets: dict[str, Budget | None] = {}
    for name, file in place(path, targets).items():
        budgets[name] = read(file) if file.is_file() or path.suffix == ".toml" else None
        if (budget := budgets[name]) and budget.target != name:
            raise Usage(f"budget {file}: is of target {budget.target}, not {name}; give each its own")
    return budgets


def compared(
    known: Mapping[str, Budget | None], results: Sequence[Result], complete: bool
) -> tuple[list[str], list[str]]:
    """Compare the results of several targets with their budgets, by `compare`; return all its lines and notes."""
    worse: list[str] = []
    notes: list[str] = []
    for name, budget in known.items():
        of_target = [r for r in results if r.place.target == name]
        more, more_notes = compare(budget or Budget(name), of_target, complete)
        worse += more
        notes += more_notes
    return worse, notes


def write(path: Path, targets: Sequence[Target], results: Sequence[Result], missing: Sequence[Missing]) -> list[str]:
    """Write a budget file for each target whose kernels all compiled for all devices.

    Return a line for each target whose file was not written because of a failure or a missing compiler.  Targets
    without results of offline compilers get no file, and no line.

    Raises:
        Usage: a file cannot be written.
    """
    lines = []
    for name, file in place(path, targets).items():
        of_target = [r for r in results if r.place.target == name]
        budget = recorded(name, of_target)
        if any(r.use is None for r in of_target) or any(m.target == name for m in missing):
            lines.append(f"budget {file}: not written: not every kernel was compiled for every device")
        elif budget.columns:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                part = file.with_name(f".{file.name}.part")  # renamed when complete, so an interrupt keeps the old file
                part.write_text(text(budget), encoding="utf-8")
                part.replace(file)
            except OSError as e:
                raise Usage(f"budget {file}: cannot be written ({e.strerror}); name another place") from None
    return lines
