"""Budgets on disk: a file for one target, or a folder with a file NAME.toml for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hsgen.core.errors import Usage
from hsgen.targets.target import Target
from hsgen.tools.compile.budget import Budget, compare, read, recorded, text
from hsgen.tools.compile.results import Missing, Result


def place(path: Path, targets: Sequence[Target]) -> dict[str, Path]:
    """Return the file of each target; a path that ends in .toml is a file, any other one a folder.

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
    found: dict[str, Budget | None] = {}
    for name, file in place(path, targets).items():
        found[name] = read(file) if file.is_file() or path.suffix == ".toml" else None
        if (budget := found[name]) and budget.target != name:
            raise Usage(f"budget {file}: is of target {budget.target}, not {name}; give each its own")
    return found


def compared(known: Mapping[str, Budget | None], results: Sequence[Result], whole: bool) -> tuple[list[str], list[str]]:
    """Return the results that are worse than recorded, and other notes; see `hsgen.tools.compile.budget.compare`."""
    worse: list[str] = []
    notes: list[str] = []
    for name, budget in known.items():
        some = [r for r in results if r.place.target == name]
        more, said = compare(budget or Budget(name), some, whole)
        worse += more
        notes += said
    return worse, notes


def write(path: Path, targets: Sequence[Target], results: Sequence[Result], missing: Sequence[Missing]) -> list[str]:
    """Write the budgets of targets whose kernels all compiled; return a line for each other target.

    Targets without offline compilers get no file.

    Raises:
        Usage: a file cannot be written.
    """
    lines = []
    for name, file in place(path, targets).items():
        some = [r for r in results if r.place.target == name]
        budget = recorded(name, some)
        if any(r.use is None for r in some) or any(m.target == name for m in missing):
            lines.append(f"budget {file}: not written: not every kernel was compiled for every device")
        elif budget.columns:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                part = file.with_name(f".{file.name}.part")  # an interrupt leaves the old one
                part.write_text(text(budget), encoding="utf-8")
                part.replace(file)
            except OSError as e:
                raise Usage(f"budget {file}: cannot be written ({e.strerror}); name another place") from None
    return lines
