"""Tuning: the shapes and crossovers of a target, found on a device.

Shapes race in separate processes (`runner`, `race`).  Each shape is validated before it is timed.  `search` chooses the
next race from the journal (`journal`) alone.  `crossover` assigns counts to algorithms.  `edit` writes a target file.
"""
