"""The results of offline compilers, and their summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hsgen.tools.compile.base import Use

TOGETHER = "*"
"""Stands for a kernel's name in the result for kernels that compile one by one, but not together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A target, the name of a compiler in ``[isa]``, and the compiler's name of a device."""

    target: str
    compiler: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of compiling a kernel for a device.

    `identity` is the name and version of the compiler.  `sort` is the name of the sort's file.  `use` is None if the
    compilation failed; `problem` is then a line about the failure, and `log` the file with the compiler's output.
    """

    place: Place
    identity: str
    sort: str
    kernel: str
    use: Use | None = None
    problem: str | None = None
    log: str | None = None

    @property
    def spills(self) -> bool:
        """Whether the kernel spills registers to memory."""
        return self.use is not None and self.use.spill_bytes > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A compiler that is not installed, and the devices of a target for which it would compile."""

    target: str
    compiler: str
    devices: tuple[str, ...]
    install: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary of all kernels of a target on a device; a number is None if the compiler does not report it.

    `kernels`, `failed` and `spilling` are numbers of kernels: all, those that did not compile, and those that spill.
    `registers`, `local_bytes` and `instructions` are the greatest of all kernels.  `occupancy` is the least, and
    `tightest` the kernel that has it.
    """

    place: Place
    identity: str
    kernels: int
    failed: int
    spilling: int
    registers: int | None
    local_bytes: int | None
    occupancy: float | None
    tightest: str
    instructions: int | None


def places(results: Iterable[Result]) -> list[Place]:
    """Return the distinct `Place`s of results, in the order in which they first occur."""
    return list(dict.fromkeys(r.place for r in results))


def summaries(results: Sequence[Result]) -> list[Summary]:
    """Return a summary for each `Place`, in the order in which the places first occur."""
    by: dict[Place, list[Result]] = {}
    for r in results:
        by.setdefault(r.place, []).append(r)
    return [_summary(place, group) for place, group in by.items()]


def _summary(place: Place, group: Sequence[Result]) -> Summary:
    uses = [r.use for r in group if r.use is not None]
    tight = min(
        ((r.use.occupancy, f"{r.sort} {r.kernel}") for r in group if r.use and r.use.occupancy is not None),
        default=(None, ""),
    )
    return Summary(
        place=place,
        identity=group[0].identity,
        kernels=len({(r.sort, r.kernel) for r in group if r.kernel != TOGETHER}),
        failed=sum(r.use is None for r in group),
        spilling=sum(r.spills for r in group),
        registers=max((u.registers for u in uses if u.registers is not None), default=None),
        local_bytes=max((u.local_bytes for u in uses if u.local_bytes is not None), default=None),
        occupancy=tight[0],
        tightest=tight[1],
        instructions=max((u.instructions for u in uses if u.instructions is not None), default=None),
    )


def wrongs(results: Iterable[Result], spills: bool = True) -> list[str]:
    """Return a message for each kernel that failed and, with `spills`, for each kernel that spills."""
    lines = []
    for r in results:
        where = f"{r.place.target}/{r.sort}: kernel {r.kernel}: {r.place.compiler} {r.place.device}: "
        if r.problem is not None:
            lines.append(where + r.problem + (f"; the log is {r.log}" if r.log else ""))
        elif spills and r.use and r.spills:
            lines.append(f"{where}spills {r.use.spill_bytes} bytes; choose a smaller scale, height or items")
    return lines
