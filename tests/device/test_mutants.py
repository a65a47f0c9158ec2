"""Planted faults in every kernel and every plan row are caught by the cases of a validation.

The fast run has some of them, in the kernels without subgroup operations.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from mutant_worker import all_mutants
from mutants import OPERATORS
from nightly import NIGHTLY, nightly

from hsgen.engines.hosts import Host
from hsgen.targets import target
from hsgen.tools.validate.validation import reach

WORKER = Path(__file__).with_name("mutant_worker.py")
WORKERS = 2
THIN = 1 if NIGHTLY else 4  # all take four minutes; one in five would skip plan rows


def _share(arguments: list[str], total: int, first: int, results: dict[int, str]) -> None:
    """Run one worker's mutants, restarting it after each one that crashes it."""
    while first < total:
        command = [sys.executable, str(WORKER), *arguments, str(first), str(WORKERS)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        last = first
        for line in done.stdout.splitlines():
            number, _, state = line.partition(" ")
            last = int(number)
            results[last] = state
        if done.returncode == 0:
            return
        if not done.stdout:
            raise AssertionError(done.stderr)
        if done.returncode > 0:
            results[last] = f"error {done.stderr}"
        else:
            results[last] = "crashed"
        first = last + WORKERS


@pytest.mark.device
@pytest.mark.parametrize(("name", "key"), [nightly("intel-gen8", "u32"), ("generic", "u64")])
def test_every_planted_fault_is_caught(embedded: Host, name: str, key: str) -> None:
    sort = target.find(name).sort("bitonic", key)
    greatest = reach(sort.plan)  # every kernel has run by then; plan rows for larger counts repeat their pattern
    mutants = all_mutants(sort, THIN, greatest)
    results: dict[int, str] = {}
    arguments = [name, key, str(THIN), embedded.label, str(greatest)]
    threads = [threading.Thread(target=_share, args=(arguments, len(mutants), i, results)) for i in range(WORKERS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    states = Counter(r.split()[0] for r in results.values())
    print(f"{name} {key}: {len(mutants)} mutants, {dict(states)}")
    left = [
        f"{mutants[i][0]} {mutants[i][1]}: {results.get(i)}"
        for i in range(len(mutants))
        if results.get(i) not in ("killed", "crashed")
    ]
    assert not left, "\n".join(left)
    assert len(mutants) >= 35
    assert {k for k, _, _ in mutants} - {""} == {k.name for k in sort.kernels}
    rows = {i for i, s in enumerate(sort.plan.steps) if s.guard.min_n < greatest}
    assert {int(what.split()[1]) for k, what, _ in mutants if not k} == rows


def test_every_operator_is_used() -> None:
    """In one or the other form of kernels, each operator finds something to change."""
    used = {
        what.split(":")[0]
        for name in ("intel-gen8", "generic", "cpu")
        for kernel, what, _ in all_mutants(target.find(name).sort("bitonic", "u32"), 1, 1)
        if kernel
    }
    assert used == set(OPERATORS)
