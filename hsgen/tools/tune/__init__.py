"""Tuning: the shapes and crossovers of a target, found on a device.

Shapes race in separate processes (`runner`, `race`), each validated before it is timed.  `search` chooses the next race
from the journal (`journal`) alone, `crossover` combines algorithms, and `edit` writes a target file.
"""
