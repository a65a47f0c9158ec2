"""The request of a ``hsgen compile`` command: the targets, sorts, compilers and devices that it names, and the budgets,
files with limits for registers and other resources.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hsgen.cli.sort_options import Wanted
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS
from hsgen.targets import schema
from hsgen.targets import target as target_files
from hsgen.targets.isa import KINDS
from hsgen.targets.target import Target
from hsgen.tools.compile import budget, implicit, jobs
from hsgen.tools.compile.budget import Budget
from hsgen.tools.compile.jobs import Job, Planner
from hsgen.tools.compile.results import Missing


@dataclass(frozen=True, kw_only=True)
class Request:
    """The targets, sorts, compilers and devices that a command line names; an empty field means all."""

    names: tuple[str, ...]
    selection: Wanted
    algorithms: tuple[str, ...]
    compilers: tuple[str, ...]
    devices: tuple[str, ...]

    @property
    def plain(self) -> bool:
        """Whether the command line selects no sorts, or selects them only by key widths such as u32."""
        selection = self.selection
        widths = all(key in KEYS for key in selection.keys)
        return widths and not self.algorithms and not replace(selection, keys=())

    def targets(self) -> list[Target]:
        """Return the named targets, or all that come with hsgen.

        Raises:
            Usage: a target is named twice.
        """
        targets = [target_files.find(name) for name in self.names or target_files.names()]
        for i, one in enumerate(targets):
            if any(one.name == earlier.name for earlier in targets[:i]):
                raise Usage(f"target {one.name}: named twice; name it once")
        return targets

    def check_devices(self) -> None:
        """Check that each named device is known to a compiler.

        Raises:
            Usage: a device is unknown to all compilers.
        """
        known = {d for kind in KINDS.values() for d in kind.devices}
        known |= {f"vulkan{version}" for version in schema.VULKANS}
        for device in self.devices:
            if device not in known:
                close = difflib.get_close_matches(device, sorted(known), 1)
                hint = (
                    f"did you mean {close[0]}?" if close else "docs/guides/compile.md lists those that [isa] can name"
                )
                raise Usage(f"--device {device}: no compiler supports it; {hint}")

    def plan(self, targets: Sequence[Target], planner: Planner) -> tuple[list[Job], list[Missing]]:
        """Return the jobs of the request, and the missing compilers.

        Raises:
            Usage: a target that the command line names has nothing to compile, or no target has.
        """
        planned: list[Job] = []
        missing: list[Missing] = []
        for target in targets:
            try:
                where = self._places(target)
                sorts = self.selection.sorts(target, self.algorithms)
                if self.plain:
                    sorts += implicit.derived(target, self.selection.choice(target).widths)
            except Usage:
                if self.names:
                    raise
                continue
            more, lacking = planner.jobs(target, sorts, where)
            planned += more
            missing += lacking
        if not planned and not missing:
            raise Usage("nothing to compile: no target has such kernels for such a compiler; give fewer options")
        return planned, missing

    def _places(self, target: Target) -> list[tuple[str, str]]:
        """Return those (compiler, device) pairs of a target that the request selects.

        Raises:
            Usage: there is no such pair.
        """
        have = jobs.devices_of(target)
        places = [(c, d) for c, d in have if c in (self.compilers or (c,)) and d in (self.devices or (d,))]
        if not places:
            listed = ", ".join(
                f"{c} {' '.join(d for x, d in have if x == c)}" for c in dict.fromkeys(c for c, _ in have)
            )
            hint = f"it has {listed}" if have else "give it a table [isa] (docs/guides/compile.md)"
            raise Usage(f"target {target.name}: names no such compiler and device to compile for; {hint}")
        return places


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """The paths of resource budgets, or None: `budget` is compared with the results; `written` is to be written."""

    budget: Path | None
    written: Path | None

    def load(self, request: Request, targets: Sequence[Target]) -> dict[str, Budget | None] | None:
        """Check both paths, before anything is compiled; return the budgets to compare with, or None.

        Raises:
            Usage: the request selects sorts that budgets do not record, the two paths are the same, a budget cannot be
                read, or a budget to write would lack some kernels of a target.
        """
        read, written = self.budget, self.written
        if (read or written) and not request.plain:
            only = f"only --key {', '.join(KEYS)} may narrow them"
            raise Usage(f"--budget and --write-budget cover plain sorts of all algorithms; {only}")
        if written:
            if read and read.resolve() == written.resolve():
                raise Usage(f"--budget and --write-budget: both are {read}; compare first, then write")
            if request.selection.keys or request.compilers or request.devices:
                raise Usage("--write-budget: records all kernels of a target; omit --key, --compiler and --device")
            budget.place(written, targets)
        return budget.load(read, targets) if read else None
