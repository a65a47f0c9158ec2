"""What a report says of kernels: their size in each dialect, and what a CUDA compiler makes of them."""

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
    """A kernel: its bytes of source by API, None where an API goes without it, and its needs if it was compiled."""

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
    """Renders sorts, and compiles them where that is wanted.

    `compiled` is whether registers are asked for, `arch` the number of sm_NN, None for the least that the target
    matches.  `told` gets a line before each compilation.
    """

    compiled: bool
    arch: int | None
    told: Callable[[str], None]
    _why: dict[str, str] = field(default_factory=dict)
    _by: dict[str, str] = field(default_factory=dict)

    def listing(self, found: Target, apis: Sequence[str], sort: Sort) -> Listing:
        """Return the kernels of a sort of a target for some APIs.

        Raises:
            Wrong: a compiler refuses a kernel.
        """
        sources = {api: render(sort, api) for api in apis}
        needs = self._needs(found, sort, sources[nvrtc.API.name]) if nvrtc.API.name in sources else {}
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

    def note(self, found: Target, apis: Iterable[str]) -> str:
        """Return what there is to say of the registers of a target: by what they were found, or why they were not."""
        if nvrtc.API.name not in apis:
            return ""
        return self._why.get(found.name) or self._by.get(found.name, "")

    def _needs(self, found: Target, sort: Sort, source: Source) -> dict[str, Use]:
        """What every kernel takes; nothing, with the reason noted, where no compiler can say."""
        arch = self.arch or (found.match.compute[0] if found.match.compute else 0)
        if not self.compiled:
            self._why[found.name] = "Registers and spills: not asked for; no kernel was compiled for this page."
        elif not arch:
            self._why[found.name] = (
                "Registers and spills: unknown, for the target names no compute capability; --arch 80 would choose one."
            )
        if found.name in self._why:
            return {}
        try:
            compiler = nvrtc.compiler_for(arch)
        except Unavailable:
            why = f"Registers and spills: unknown, for the machine that made this page has no compiler for sm_{arch}."
            self._why[found.name] = why
            self.told(f"target {found.name}: no compiler for sm_{arch}; registers and spills are left out")
            return {}
        self.told(f"{sort.name}: compiling {len(sort.kernels)} kernels for sm_{arch}")
        self._by[found.name] = (
            f"Registers of a lane and bytes that it spills, stored / loaded: {compiler.name} for sm_{arch}, without "
            "a device."
        )
        return compiler.compile(source.text, arch)


def _size(source: Source, name: str) -> int | None:
    return len(source.parts[name].encode()) if name in source.parts else None
