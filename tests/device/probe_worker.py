"""Validates a few counts of a target's sort through the C runtime of Vulkan, in a process of its own.

Usage: probe_worker.py LIBRARY TARGET KEY EVERY; of the cases of a validation it runs every so many, and prints JSON:
their number, and the failures.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hsgen.engines.harness import Harness, Native
from hsgen.targets import target
from hsgen.tools.validate import validation


def main(library: str, name: str, key: str, every: str) -> None:
    """See above."""
    sort = target.find(name).default(key)
    engine = Native(Harness(Path(library)), "vulkan", sort, 0, "")
    report = validation.run(engine, validation.plan_cases(sort, full=False, seed=1)[:: int(every)], 1)
    print(json.dumps([report.cases, report.failures]))
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
