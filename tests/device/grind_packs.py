"""Packs with tiny shapes; test_packing.py runs it inside oclgrind.

Usage: grind_packs.py KEY SHAPE
"""

from __future__ import annotations

import sys

from oclgrind_engine import engine  # first: it makes the tests' modules known

from packs import sort_of  # isort: skip

from hsgen.engines.hosts import hosts
from hsgen.tools.validate import validation


def main(key: str, shape: str) -> None:
    """Pack; a wrong result is an error."""
    pairs = [(n, kind) for n in (0, 1, 9, 48, 49, 200, 333) for kind in ("random", "all greatest")]
    report = validation.run(engine(sort_of(key, shape)), pairs, 1, stop=1)
    if report.failed:
        raise SystemExit(report.failures[0])
    print(f"packed {hosts()[0].label}")


if __name__ == "__main__":
    main(*sys.argv[1:])
