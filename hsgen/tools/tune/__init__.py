"""Tuning: measurements on a device that find the fastest parameters of a target's algorithms.

A *crossover* is a count of keys at which the sort "auto" changes from one algorithm to another.
A *shape* is a value for each parameter of an algorithm.  A *race* compiles, validates and times several shapes, in
separate processes (`runner`, `race`).  All results are recorded in a file, the journal (`journal`).  `search` plans
the next race from the journal alone.  `crossover` chooses the algorithm for each count of keys.  `edit` writes the
chosen parameters into the target file.
"""
