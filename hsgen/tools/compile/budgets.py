"""Budgets on disk: a file for one target, or a folder with a file NAME.toml for each target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hsgen.core.errors import Usage
from hsgen.targets.target import Target
from hsgen.tools.compile.budget import Budget, compare, read, recorded, text
from hsgen.tools.compile.results import Missing, Result


def place(path: Path, targets: Sequence[Target]) -> dict[str, Path]:
    """Return the file of each target; a path that ends in .toml is a file, any other path a folder.

    Raises:
        Usage: one file is given for several targets.
    """
    if path.suffix != ".toml":
        return {t.name: path / f"{t.name}.toml" for t in targets}
    if len(targets) != 1:
        raise Usage(f"budget {path}: a file holds one target; name it with -t, or give a folder")
    return {targets[0].name: path}


def load(path: Path, targets: Sequence[Target]) -> dict[str, Budget | None]:
    """Return the budgets of targets; None: the folder has no file for the target.

    Raises:
        Usage: there is no such file or folder, or a file is invalid or of another target.
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
    """Return lines about results that are worse than recorded, and further notes; see `budget.compare`."""
    worse: list[str] = []
    notes: list[str] = []
    for name, budget in known.items():
        of_target = [r for r in results if r.place.target == name]
        more, more_notes = compare(budget or Budget(name), of_target, complete)
        worse += more
        notes += more_notes
    return worse, notes


def write(path: Path, targets: Sequence[Target], results: Sequence[Result], missing: Sequence[Missing]) -> list[str]:
    """Write the budgets of targets whose kernels all compiled; return a line for each target with a failure.

    Targets without offline compilers get no file.

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
                part = file.with_name(f".{file.name}.part")  # an interrupt leaves the old file
                part.write_text(text(budget), encoding="utf-8")
                part.replace(file)
            except OSError as e:
                raise Usage(f"budget {file}: cannot be written ({e.strerror}); name another place") from None
    return lines
