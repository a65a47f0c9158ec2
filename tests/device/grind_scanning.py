"""Prefix sums with tiny shapes; test_scanning.py runs it inside oclgrind.

Usage: grind_scanning.py KEY SHAPE COLUMNS
"""

from __future__ import annotations

import sys

from oclgrind_engine import engine  # first: it makes the tests' modules known

from sums import SHAPES, sum_of  # isort: skip

from hsgen.engines.hosts import hosts
from hsgen.tools.validate import validation

SMALL = {"scan": {"work_group": 8, "items": 2, "groups": 3}, "alone": {"items": 10, "groups": 3}}


def main(key: str, shape: str, columns: str) -> None:
    """Sum up; a wrong result is an error."""
    driven = engine(sum_of(key, **{**SHAPES[shape], **SMALL[shape]}, columns=int(columns)))
    pairs = [(n, kind) for n in (0, 1, 9, 16, 17, 49, 130) for kind in ("random", "all greatest")]
    report = validation.run(driven, pairs, 1, stop=1)
    if report.failed:
        raise SystemExit(report.failures[0])
    print(f"summed up {hosts()[0].label}")


if __name__ == "__main__":
    main(*sys.argv[1:])
