"""Gathers with tiny shapes; test_gathering.py runs it inside oclgrind.

Usage: grind_gathers.py VALUE SHAPE
"""

from __future__ import annotations

import sys

from oclgrind_engine import engine  # first: it makes the tests' modules known

from gathers import sort_of  # isort: skip

from hsgen.engines.hosts import hosts
from hsgen.tools.validate import validation


def main(value: str, shape: str) -> None:
    """Gather; a wrong result is an error."""
    driven = engine(sort_of(value, shape))
    pairs = [(n, kind) for n in (0, 1, 9, 48, 49, 200, 333) for kind in ("random", "all greatest")]
    report = validation.run(driven, pairs, 1, stop=1)
    if report.failed:
        raise SystemExit(report.failures[0])
    print(f"gathered {hosts()[0].label}")


if __name__ == "__main__":
    main(*sys.argv[1:])
