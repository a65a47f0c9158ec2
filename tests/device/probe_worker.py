"""Validates a few counts of a target's sort through the C runtime of Vulkan, in a separate process.

Usage: probe_worker.py LIBRARY TARGET KEY EVERY; runs every EVERY-th case of a validation, and prints JSON: the number
of cases, and the failures.
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
