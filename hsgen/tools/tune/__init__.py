"""Tuning: the shapes and crossovers of a target, found on a device.

A *shape* is a value for each parameter of an algorithm.  A *race* compiles, validates and times several shapes, in
separate processes (`runner`, `race`).  All results are recorded in a file, the journal (`journal`).  `search` plans
the next race from the journal alone.  `crossover` chooses the algorithm for each count of keys.  `edit` writes the
chosen parameters into the target file.
"""
