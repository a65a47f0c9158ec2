"""Tuning: the numbers of a target, found on a device.

Shapes race in processes of their own (`field`, `race`), each validated before it is timed; `search` decides which race
next, from a journal (`journal`) and nothing else; `crossover` puts algorithms together; `edit` writes a target file.
"""
