"""Fuzz sorts: `python tests/fuzz/run.py --help`.  Each target has its own process; exit code 1 if any fails."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
LIMIT = {"fast": 60.0, "nightly": 300.0}
"""Seconds per target, after which it counts as hung."""


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

    def __str__(self) -> str:
        done = f"seed {self.seed}: {self.targets} targets, {self.sorts} sorts, {self.calls} calls"
        return f"{done}, {self.skipped} sorts left out, {len(self.failures)} failures"


def one(found: Found, number: int, size: str) -> None:
    """Try one target, and add its result."""
    command = [sys.executable, str(HERE / "child.py"), str(found.seed), str(number), size]
    ended: str = ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT[size])
        said, errors = done.stdout, done.stderr
        if done.returncode:
            ended = f"ended with {done.returncode}"
    except subprocess.TimeoutExpired as e:
        said, errors = ((x or b"").decode() for x in (e.stdout, e.stderr))
        ended = f"did not end within {LIMIT[size]:.0f} s"
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    last = {key: value for line in lines for key, value in line.items()}
    found.targets += 1
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
    for number in numbers:
        if time.monotonic() - begun > seconds:
            break
        before = len(found.failures)
        one(found, number, size)
        if tell:
            print(*found.failures[before:], f"{number}: {found}", sep="\n", flush=True)
    return found


def asked(name: str, default: int) -> int:
    """Return the number in the environment variable HSGEN_FUZZ_<name>, or the default."""
    return int(os.environ.get(f"HSGEN_FUZZ_{name}") or default)


def main() -> None:
    parser = argparse.ArgumentParser(description="Sort between guard pages with random legal targets.")
    parser.add_argument("--seed", type=int, default=asked("SEED", int(time.time())))
    parser.add_argument("--count", type=int, default=asked("COUNT", 130), help="targets")
    parser.add_argument("--number", type=int, help="only this one")
    parser.add_argument("--size", choices=LIMIT, default="nightly", help="how much is tried of each")
    parser.add_argument("--seconds", type=float, default=1e9, help="after which no target begins")
    given = parser.parse_args()
    numbers = range(given.count) if given.number is None else range(given.number, given.number + 1)
    found = run(given.seed, numbers, given.size, given.seconds, tell=True)
    sys.exit(1 if found.failures or found.copied else 0)


if __name__ == "__main__":
    main()
