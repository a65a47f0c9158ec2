"""The kernels of a report: their size in each dialect, and the resources that a CUDA compiler reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hsgen.core.errors import Unavailable
from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.targets.target import Target
from hsgen.tools.compile import nvrtc
from hsgen.tools.compile.nvrtc import Use


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A kernel: its bytes of source by API (None: the API does not use the kernel), and its resources if compiled."""

    kernel: Kernel
    local_bytes: int
    sizes: dict[str, int | None]
    use: Use | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The kernels of a sort, and the bytes of its files by API."""

    rows: list[Row]
    files: dict[str, int]


@dataclass(slots=True)
class Builder:
    """Renders sorts, and compiles them if `compiled`.

    `arch` is the NN of sm_NN; None is the lowest compute capability of the target.  `progress` receives a line before
    each compilation.
    """

    compiled: bool
    arch: int | None
    progress: Callable[[str], None]
    _why: dict[str, str] = field(default_factory=dict)
    _by: dict[str, str] = field(default_factory=dict)

    def listing(self, target: Target, apis: Sequence[str], sort: Sort) -> Listing:
        """Return the kernels of a sort of a target for some APIs.

        Raises:
            Wrong: a compiler refuses a kernel.
        """
        sources = {api: render(sort, api) for api in apis}
        needs = self._needs(target, sort, sources[nvrtc.API.name]) if nvrtc.API.name in sources else {}
        rows = [
            Row(
                kernel=k,
                local_bytes=k.local_bytes(sort.key),
                sizes={api: _size(source, k.name) for api, source in sources.items()},
                use=needs.get(k.name),
            )
            for k in sort.kernels
        ]
        return Listing(rows=rows, files={api: len(s.text.encode()) for api, s in sources.items()})

    def note(self, target: Target, apis: Iterable[str]) -> str:
        """Return the note on the registers of a target: the compiler, or the reason why registers are unknown."""
        if nvrtc.API.name not in apis:
            return ""
        return self._why.get(target.name) or self._by.get(target.name, "")

    def _needs(self, target: Target, sort: Sort, source: Source) -> dict[str, Use]:
        """Return the resources of every kernel; if they are not available, note the reason and return nothing."""
        arch = self.arch or (target.match.compute[0] if target.match.compute else 0)
        if not self.compiled:
            self._why[target.name] = "Registers and spills: not requested; no kernel was compiled for this page."
        elif not arch:
            self._why[target.name] = (
                "Registers and spills: unknown: the target has no compute capability; --arch 80 would choose one."
            )
        if target.name in self._why:
            return {}
        try:
            compiler = nvrtc.compiler_for(arch)
        except Unavailable:
            why = f"Registers and spills: unknown: the machine that made this page has no compiler for sm_{arch}."
            self._why[target.name] = why
            self.progress(f"target {target.name}: no compiler for sm_{arch}; registers and spills are omitted")
            return {}
        self.progress(f"{sort.name}: compiling {len(sort.kernels)} kernels for sm_{arch}")
        self._by[target.name] = (
            f"Registers and spilled bytes of a lane, stored / loaded: {compiler.name} for sm_{arch}, without a device."
        )
        return compiler.compile(source.text, arch)


def _size(source: Source, name: str) -> int | None:
    return len(source.parts[name].encode()) if name in source.parts else None
