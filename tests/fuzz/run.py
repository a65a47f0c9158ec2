"""Fuzz sorts: `python tests/fuzz/run.py --help`.  Each target has its own process; exit code 1 if any fails."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LIMIT = {"fast": 120.0, "many": 300.0, "nightly": 600.0}
"""Seconds per target, after which it counts as hung."""
WAYS = ("opencl", "opencl", "opencl", "cuda", "vulkan")
"""How sorts of a target run, by its number: see `child.py`."""


@dataclass
class Found:
    """The results of several targets."""

    seed: int
    targets: int = 0
    sorts: int = 0
    calls: int = 0
    skipped: int = 0
    copied: str = ""
    failures: list[str] = field(default_factory=list)
    strategies: Counter[str] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    lacking: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        done = f"seed {self.seed}: {self.targets} targets, {self.sorts} sorts, {self.calls} calls"
        return f"{done}, {self.skipped} sorts left out, {len(self.failures)} failures"

    def counted(self) -> str:
        """Return the numbers of targets by what of them ran: strategies, work-groups of few lanes, and ways."""
        tables = [("strategies", self.strategies), ("work-groups", self.shapes), ("ways", self.ways)]
        lines = [f"{title}: {', '.join(f'{k} {n}' for k, n in sorted(table.items()))}" for title, table in tables]
        return "\n".join([*lines, *sorted(self.lacking)])

    def note(self, way: str, sorts: list[dict[str, Any]]) -> None:
        """Count a target, of which these sorts ran."""
        self.ways[way] += 1
        self.strategies.update({name for sort in sorts for name in sort["ran"]})
        few = {f"of {n} {'lane' if n == 1 else 'lanes'}" for n in (1, 2) if any(s["lanes"] == n for s in sorts)}
        few |= {
            f"of {n} {'subgroup' if n == 1 else 'subgroups'}" for n in (1, 2) if any(s["subgroups"] == n for s in sorts)
        }
        self.shapes.update(few or {"larger ones"} if sorts else ())


def one(found: Found, number: int, size: str) -> None:
    """Try one target, and add its result."""
    way = WAYS[number % len(WAYS)]
    command = [sys.executable, str(HERE / "child.py"), str(found.seed), str(number), size, way]
    ended: str = ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT[size])
        said, errors = done.stdout, done.stderr
        if done.returncode:
            ended = f"ended with {done.returncode}"
    except subprocess.TimeoutExpired as e:
        said, errors = (x.decode() if isinstance(x, bytes) else x or "" for x in (e.stdout, e.stderr))
        ended = f"did not end within {LIMIT[size]:.0f} s"
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    last = {key: value for line in lines for key, value in line.items()}
    found.targets += 1
    if "lacking" in last:
        found.lacking.add(f"without {way}: {last['lacking']}")
    else:
        found.note(way, [line for line in lines if "ran" in line])
    found.sorts, found.calls = found.sorts + last.get("done", 0), found.calls + last.get("calls", 0)
    found.skipped, found.copied = found.skipped + last.get("skipped", 0), last.get("copied", found.copied)
    wrong = [line["found"] for line in lines if "found" in line]
    if ended:
        wrong.append(f"{last.get('sort', 'before the first sort')}: {ended} at: {last.get('at')}\n{errors[-1500:]}")
    again = f"python tests/fuzz/run.py --seed {found.seed} --number {number} --size {size}"
    found.failures += [f"{what}\n    again: {again}\n{last.get('target', '')}" for what in wrong]


def run(seed: int, numbers: range, size: str, seconds: float = 1e9, *, tell: bool = False) -> Found:
    """Try targets by their numbers until `seconds` are over."""
    found, begun = Found(seed), time.monotonic()
    try:
        for number in numbers:
            if time.monotonic() - begun > seconds:
                break
            before = len(found.failures)
            one(found, number, size)
            if tell:
                print(*found.failures[before:], f"{number}: {found}", sep="\n", flush=True)
    finally:  # also when interrupted
        if tell:
            print(found.counted(), flush=True)
    return found


def asked(name: str, default: int) -> int:
    """Return the number in the environment variable HSGEN_FUZZ_<name>, or the default."""
    return int(os.environ.get(f"HSGEN_FUZZ_{name}") or default)


def main() -> None:
    parser = argparse.ArgumentParser(description="Sort between guard pages with random legal targets.")
    parser.add_argument("--seed", type=int, default=asked("SEED", int(time.time())))
    parser.add_argument("--count", type=int, default=asked("COUNT", 500), help="targets")
    parser.add_argument("--number", type=int, help="only this one")
    parser.add_argument("--size", choices=LIMIT, default="many", help="how much is tried of each")
    parser.add_argument("--seconds", type=float, default=1e9, help="after which no target begins")
    given = parser.parse_args()
    numbers = range(given.count) if given.number is None else range(given.number, given.number + 1)
    found = run(given.seed, numbers, given.size, given.seconds, tell=True)
    sys.exit(1 if found.failures or found.copied else 0)


if __name__ == "__main__":
    main()
