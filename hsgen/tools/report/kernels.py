"""The part of a report about kernels: the size of their text in each API, and the resources that CUDA reports."""

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
    """A kernel.

    `sizes` has the bytes of its text by API; None if the API does not use the kernel.  `use` has its resources if it
    was compiled for CUDA.
    """

    kernel: Kernel
    local_bytes: int
    sizes: dict[str, int | None]
    use: Use | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The kernels of a sort; `files` has the bytes of the sort's complete text by API."""

    rows: list[Row]
    files: dict[str, int]


@dataclass(slots=True)
class Builder:
    """Renders the kernels of sorts and, with `compiled`, compiles them for CUDA.

    `arch` is the NN of sm_NN; if it is None, kernels are compiled for the lowest compute capability of the target.
    `progress` is called with a line of text before each compilation.
    """

    compiled: bool
    arch: int | None
    progress: Callable[[str], None]
    _why: dict[str, str] = field(default_factory=dict)
    _by: dict[str, str] = field(default_factory=dict)

    def listing(self, target: Target, apis: Sequence[str], sort: Sort) -> Listing:
        """Return the kernels of a target's sort, with the sizes of their texts for `apis`.

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
        """Return a note for the page: which compiler reported a target's registers, or why they are unknown."""
        if nvrtc.API.name not in apis:
            return ""
        return self._why.get(target.name) or self._by.get(target.name, "")

    def _needs(self, target: Target, sort: Sort, source: Source) -> dict[str, Use]:
        """Return the resources of each kernel by name.

        If they are not available, the result is empty, and the reason is stored for `note`.
        """
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
