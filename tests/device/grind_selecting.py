"""Selections with tiny shapes; test_selecting.py runs it inside oclgrind.

Usage: grind_selecting.py KEY VALUE
"""

from __future__ import annotations

import sys

from oclgrind_engine import engine  # first: it makes the tests' modules known

from selections import sort_of  # isort: skip

from hsgen.engines.hosts import hosts
from hsgen.tools.validate import validation

SHAPE = {"work_group": 8, "items": 2, "capacity": 16, "bits": 4, "groups": 3, "row_limit": 48}


def main(key: str, value: str) -> None:
    """Select; a wrong result is an error."""
    driven = engine(sort_of(key, value, **SHAPE))
    pairs = [(n, kind) for n in (0, 1, 15, 16, 17, 48, 49, 130, 200) for kind in ("random", "few distinct")]
    report = validation.run(driven, pairs, 1, stop=1)
    if report.failed:
        raise SystemExit(report.failures[0])
    print(f"selected {hosts()[0].label}")


if __name__ == "__main__":
    main(*sys.argv[1:])
