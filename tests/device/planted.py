"""Validates kernels with planted faults, in processes of their own, which faults may crash.

Usage: planted.py MODULE DEVICE FIRST prints a line for each fault that `planted` of a module yields, from the one with
number FIRST on: whether `check` of that module catches it.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the script, which runs without pytest
from hsgen.engines.hosts import Host, hosts
from hsgen.engines.pyopencl import Direct

CRASHES = 100  # of a script at most
Planted = tuple[str, Callable[[], Direct]]
"""A fault: its name, and how its kernels are built."""


def states(*command: str) -> list[str]:
    """Run a script that prints a line for each fault, from the number on that it is given last.

    Returns the lines, with "crashed" for a fault that crashed the script, which the rest follows.  A script
    that crashes again and again has another fault.
    """
    found: list[str] = []
    for _ in range(CRASHES):
        line = [sys.executable, *command, str(len(found))]
        done = subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)
        found += done.stdout.splitlines()
        if done.returncode == 0:
            return found
        assert done.returncode < 0, done.stderr
        found.append("crashed")
    raise AssertionError(f"{CRASHES} crashes: {found}")


def assert_caught(found: list[str], least: int) -> None:
    """Assert that these are the states of a number of faults, of which each was caught or crashed the script."""
    left = [state for state in found if state.startswith("left")]
    print(f"{len(found)} faults, {len(left)} left, {found.count('crashed')} crashed")
    assert len(found) >= least and not left, "\n".join(left)


def all_caught(module: str, host: Host, least: int) -> None:
    """Assert that a module plants a number of faults and catches each one."""
    assert_caught(states(__file__, module, host.label), least)


def main(module: str, label: str, first: str) -> None:
    """See above."""
    warnings.simplefilter("ignore")
    host = next(h for h in hosts() if h.label == label)
    faults = importlib.import_module(module)
    for name, made in islice(faults.planted(host), int(first), None):
        try:
            faults.check(made())
        except AssertionError as e:
            caught = re.search("should be|was overwritten", str(e))
            print("caught" if caught else f"left: {name}: {e}".replace("\n", " "), flush=True)
        else:
            print(f"left: {name}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
