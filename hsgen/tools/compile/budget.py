"""Recorded numbers of a target's kernels, and whether new ones are worse.

A file holds one target: for each compiler the devices with what compiled for them, then one line a kernel with a number
a device, in three tables: registers of a lane, bytes that spill, and occupancy in percent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hsgen.core.errors import Usage
from hsgen.system import documents
from hsgen.targets.isa import KINDS
from hsgen.tools.compile.base import Use
from hsgen.tools.compile.results import TOGETHER, Place, Result

SCHEMA = 1
UNTOLD = -1
"""Stands for a number that the compiler does not tell."""
TABLES = {"registers": UNTOLD, "spills": 0, "occupancy": UNTOLD}
"""The tables of a compiler, with the number of a kernel that has no line there."""
AGAIN = "--write-budget writes it again"

_Numbers = dict[str, int]


@dataclass(slots=True)
class Column:
    """A device: what compiled for it, and the numbers of every kernel (called "SORT KERNEL") by table."""

    identity: str
    kernels: dict[str, _Numbers] = field(default_factory=dict)


@dataclass(slots=True)
class Budget:
    """What is recorded of a target, by (compiler, device)."""

    target: str
    columns: dict[tuple[str, str], Column] = field(default_factory=dict)


def numbers(use: Use) -> _Numbers:
    """Return what is recorded of a kernel."""
    return {
        "registers": UNTOLD if use.registers is None else use.registers,
        "spills": use.spill_bytes,
        "occupancy": UNTOLD if use.occupancy is None else round(100 * use.occupancy),
    }


def recorded(target: str, results: Iterable[Result]) -> Budget:
    """Return the budget that results of a target make; checks that are no compilers leave no trace in it."""
    budget = Budget(target)
    for r in results:
        if r.place.compiler in KINDS and r.use is not None:
            column = budget.columns.setdefault((r.place.compiler, r.place.device), Column(r.identity))
            column.kernels[f"{r.sort} {r.kernel}"] = numbers(r.use)
    return budget


def text(budget: Budget) -> str:
    """Return the file of a budget, whose columns of a compiler all have the same kernels.

    The same numbers always make the same text.
    """
    lines = [
        f"# The kernels of {budget.target} as offline compilers see them: a number a device, occupancy in percent.",
        "# `hsgen compile --budget` compares with it, `hsgen compile --write-budget` writes it.",
        f"schema = {SCHEMA}",
        f'target = "{budget.target}"',
    ]
    for compiler in dict.fromkeys(name for name, _ in budget.columns):
        columns = {device: c for (name, device), c in budget.columns.items() if name == compiler}
        lines += ["", f"[{compiler}]", f"devices = {_list(columns)}"]
        lines += [f"identities = {_list(c.identity for c in columns.values())}"]
        kernels = next(iter(columns.values())).kernels
        for table, untold in TABLES.items():
            rows = {k: [c.kernels[k][table] for c in columns.values()] for k in kernels}
            told = {k: row for k, row in rows.items() if set(row) != {untold}}
            if told:
                lines += ["", f"[{compiler}.{table}]"]
                lines += [f'"{k}" = [{", ".join(map(str, row))}]' for k, row in told.items()]
        silent = [k for k in kernels if all(c.kernels[k] == TABLES for c in columns.values())]
        if silent:
            lines += ["", f"[{compiler}.silent]", f"kernels = {_list(silent)}"]
    return "\n".join(lines) + "\n"


def _list(words: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{w}"' for w in words) + "]"


def read(path: Path) -> Budget:
    """Return the budget in a file.

    Raises:
        Usage: it cannot be read, or is not what `text` writes.
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
            raise ValueError(f"{compiler}: a line has not a number for each device")
    return budget


def compare(budget: Budget, results: Sequence[Result], whole: bool) -> tuple[list[str], list[str]]:
    """Return what is worse than recorded, and what is to be said besides, a line each.

    Worse is: a spill that was not, or of more bytes; more registers; less occupancy.  Of another version of a compiler
    only new spills count.  Kernels and devices that are not recorded are told, too, and, if `whole`, recorded kernels
    that the target no longer has.
    """
    worse: list[str] = []
    notes: list[str] = []
    found: dict[Place, list[Result]] = {}
    for r in results:
        if r.place.compiler in KINDS and r.kernel != TOGETHER:
            found.setdefault(r.place, []).append(r)
    for place, some in found.items():
        where = f"{place.target}: {place.compiler} {place.device}"
        column = budget.columns.get((place.compiler, place.device))
        if column is None:
            worse.append(f"{where}: is not in the budget; {AGAIN}")
            continue
        same = column.identity == some[0].identity
        if not same:
            notes.append(f"{where}: recorded of {column.identity}, compiled by {some[0].identity}: only spills count")
        names = {f"{r.sort} {r.kernel}": r.use for r in some}
        for name, use in names.items():
            if use is not None:
                worse += [f"{where}: {name}: {line}" for line in _worse(column.kernels.get(name), numbers(use), same)]
        gone = [k for k in column.kernels if k not in names] if whole else []
        worse += [f"{where}: {name}: is in the budget alone; {AGAIN}" for name in gone]
    return worse, notes


def _worse(old: _Numbers | None, new: _Numbers, same: bool) -> list[str]:
    """What is worse in one kernel."""
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
