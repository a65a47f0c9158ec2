"""A simulated device for tests of the tuner: times follow from a formula, faults from the shapes."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hsgen.core.keys import PLAIN, Signature
from hsgen.targets import target
from hsgen.targets.choices import algorithm
from hsgen.tools.tune.journal import Journal, header
from hsgen.tools.tune.propose import Space, Table, name_of
from hsgen.tools.tune.race import _going_on
from hsgen.tools.tune.request import Request, new_header
from hsgen.tools.tune.runner import Entry
from hsgen.tools.tune.search import Finish, Hunt, Race, Rung

SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 20)
TOOK = 10.0  # seconds per race

Fate = Callable[[str, Table, int], tuple[str, str] | None]
"""How a table of a label fails at a count (0: before timing): kind and reason, or None."""

# The best value of each key, and the loss per doubling away from it, or for another string.
LIKES: Mapping[str, Mapping[str, tuple[Any, float]]] = {
    "bitonic": {
        "subgroup": (8, 0.10),
        "height": (16, 0.25),
        "slabs": (24, 0.08),
        "clean_slabs": (16, 0.04),
        "local_scale": (4, 0.12),
        "flip_scale": (3, 0.12),
        "half_scale": (3, 0.12),
        "stream_group": (128, 0.06),
        "bank_pad": (1, 0.02),
        "exchange": ("minmax", 0.03),
    },
    "radix": {
        "ranker": ("bitmask", 0.30),
        "bits": (6, 0.60),
        "items": (12, 0.15),
        "work_group": (128, 0.10),
        "groups": (256, 0.05),
        "strategy": ("reduce_scan", 0.05),
    },
}


def never(label: str, table: Table, n: int) -> None:
    """No table fails."""


def faulty(label: str, table: Table, n: int) -> tuple[str, str] | None:
    """About one table in three fails, in every way; one in ten of the others at large counts only."""
    number = zlib.crc32(name_of(table).encode())
    kinds = {0: "hang", 1: "crash", 2: "wrong", 3: "build", 4: "device", 5: "spills"}
    if (kind := kinds.get(number % 18)) is not None:
        return kind, f"planted {number % 18}"
    if n > 1 << 21 and number // 18 % 10 == 0:
        return "wrong", f"planted at {n}"
    return None


def cost(label: str, table: Table) -> float:
    """The time of a table relative to the best possible one."""
    total = 0.0
    for key, (liked, weight) in LIKES[algorithm(label)].items():
        value = table.get(key, liked)
        both = [isinstance(x, int) for x in (value, liked)]
        total += weight * (abs(math.log2((value + 1) / (liked + 1))) if all(both) else value != liked)
    return 1.0 + total


def seconds(label: str, table: Table, n: int, valued: bool = False) -> float:
    """The time of a sort."""
    merge = 8e-6 + n * max(1, math.log2(n)) ** 2 * (4e-12 if valued else 2e-12)
    return cost(label, table) * (merge if algorithm(label) == "bitonic" else 6e-5 + n * 2e-10)


@dataclass
class Device:
    """Runs races like `hsgen.tools.tune.runner.Field`, in no time; `calls` counts them."""

    fate: Fate = never
    noise: float = 0.01
    at_once: int = 1
    calls: int = 0
    tried: list[str] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)

    def races(
        self, some: Sequence[Race], failed: Callable[[Race, str, str, str], None], seconds: float = math.inf
    ) -> list[Finish]:
        out = []
        for it in some:
            entries = {x: Entry(label=it.label, table=t) for x, t in it.tables.items()}

            def fail(name: str, kind: str, why: str, it: Race = it) -> None:
                failed(it, name, kind, why)

            out.append(self._run(entries, it.rungs, fail, set(it.stay)))
        return out

    def run(
        self,
        entries: Mapping[str, Entry],
        key: str,
        rungs: Sequence[Rung],
        failed: Callable[[str, str, str], None],
        *,
        signature: Signature = PLAIN,
        cases: int = 0,
        seconds: float = math.inf,
    ) -> Finish:
        return self._run(entries, rungs, failed, set(), valued=signature.value != "none")

    def _run(
        self,
        entries: Mapping[str, Entry],
        rungs: Sequence[Rung],
        failed: Callable[[str, str, str], None],
        stay: set[str],
        valued: bool = False,
    ) -> Finish:
        self.calls += 1
        finish = Finish(took=TOOK)
        self.tried += [name_of(e.table or {}) for e in entries.values()]

        def fails(name: str, n: int) -> bool:
            table = entries[name].table
            assert table is not None
            if (fate := self.fate(entries[name].label, table, n)) is None:
                return False
            finish.failed[name] = fate
            self.failures[name_of(table)] = self.failures.get(name_of(table), 0) + 1
            failed(name, *fate)
            return True

        running = {x: None for x in entries if not fails(x, 0)}
        finish.cases = {x: 100 for x in running}
        finish.seconds = {x: {} for x in running}
        for number, rung in enumerate(rungs):
            for n in rung.sizes:
                for name in [x for x in running if fails(x, n)]:
                    del running[name], finish.seconds[name], finish.cases[name]
                    finish.reached.pop(name, None)
                for name in running:
                    finish.seconds[name][n] = [self._seconds(entries[name], n, i, valued) for i in range(rung.rounds)]
            finish.reached |= dict.fromkeys(running, number)
            running = _going_on(running, finish.seconds, rung.keep, stay)  # type: ignore[arg-type, type-var]
        return finish

    def _seconds(self, entry: Entry, n: int, number: int, valued: bool) -> float:
        assert entry.table is not None
        chance = zlib.crc32(f"{name_of(entry.table)} {n} {number}".encode()) / 2**32
        return seconds(entry.label, entry.table, n, valued) * (1 + self.noise * (2 * chance - 1))


def hunting(label: str, name: str, start: Table | None, *, seed: int = 1, sizes: Sequence[int] = SIZES) -> Hunt:
    """The search for a label and u32 keys on the device of a target, with a journal in memory."""
    space = Space(label, "u32", target.find(name).device, start)
    return Hunt(space, start, sizes, Journal(None, header(seed=seed)))


def head_of(text: str, request: Request, *, seed: int = 1) -> dict[str, Any]:
    """The first line of a journal for a target's text."""
    found = target.parse(text, "small", "small.toml")
    named = {"api": "opencl", "device": "simulated", "driver": "1", "seed": seed, "date": "2026-01-31"}
    return new_header(text, found, found.device, request, **named)


SMALL = """\
# A small device, for tests.
schema = 3
name = "small"
summary = "a small device"
apis = ["opencl"]

[device] # facts
subgroups = [8]
shuffle = true
work_group = 64
groups = 4294967295
local_bytes = 32768
int64 = true
storage8 = true
storage16 = true
binding_bytes = 134217728
progress = "none"

# Blocks of 128 keys.
[bitonic.u32]
subgroup = 8 # as wide as the device has them
height = 2
slabs = 8
clean_slabs = 8
local_scale = 1
flip_scale = 1
half_scale = 1
stream_group = 16

[radix.u32.reduce_scan]
bits = 4
items = 2
work_group = 32
subgroup = 1
ranker = "radix_split"
groups = 16

[sort.u32]
ranges = [
    { to = 1000, use = "bitonic" },
    { use = "radix-reduce_scan" },
] # a guess
"""
"""A badly tuned target, in a file named small.toml."""
