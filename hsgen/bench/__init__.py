"""Benchmarks: sorts, rivals, peers and a plain copy, interleaved in one run, each checked before it is timed."""

from __future__ import annotations

from hsgen.bench.contestants import COPY
from hsgen.bench.inputs import INPUTS, Load, load
from hsgen.bench.intervals import CONFIDENCE, median_interval
from hsgen.bench.rounds import check, known, measure
from hsgen.bench.rows import SCHEMA, Row, document

__all__ = [
    "CONFIDENCE",
    "COPY",
    "INPUTS",
    "SCHEMA",
    "Load",
    "Row",
    "check",
    "document",
    "known",
    "load",
    "measure",
    "median_interval",
]
