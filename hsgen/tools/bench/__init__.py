"""Benchmarks: hsgen's sorts, other libraries (*baselines*) and a plain copy are timed in turn, in one process.

Every result is checked before anything is timed.
"""

from __future__ import annotations

from hsgen.operations.calls import Load
from hsgen.tools.bench.candidates import COPY
from hsgen.tools.bench.inputs import INPUTS, load
from hsgen.tools.bench.intervals import CONFIDENCE, median_interval
from hsgen.tools.bench.measurement import check, known, measure
from hsgen.tools.bench.rows import SCHEMA, Row, candidate, document

__all__ = [
    "CONFIDENCE",
    "COPY",
    "INPUTS",
    "SCHEMA",
    "Load",
    "Row",
    "candidate",
    "check",
    "document",
    "known",
    "load",
    "measure",
    "median_interval",
]
