"""Reduces runs of keys with tiny shapes; test_oclgrind.py runs it inside oclgrind.

Usage: grind_grouping.py [drop-barrier]; drop-barrier removes the barriers, which oclgrind must notice.
"""

from __future__ import annotations

import sys
import warnings

from grouping_faults import small
from oclgrind_engine import engine

from hsgen.engines.hosts import hosts
from hsgen.operations.reduce_by_key import RUNS
from hsgen.tools.validate import validation

MANY = [(n, kind) for n in (0, 1, 24, 25, 100, 300) for kind in list(RUNS)[n % 2 :: 2]]


def main(fault: str = "") -> None:
    """Reduce; a wrong result is an error."""
    warnings.simplefilter("ignore")
    for value, device_count in (("v4", True), ("none", False)):
        driven = engine(small("u32", value, device_count=device_count), dropped=-1 if fault else 0)
        report = validation.run(driven, [(300, "short runs")] if fault else MANY, 1)
        if fault:
            return
        if report.failed:
            raise SystemExit(report.failures[0])
    print("sorted", hosts()[0].platform)


if __name__ == "__main__":
    main(*sys.argv[1:])
