"""Stages after a sort, in the same plan: a report of run boundaries, or an epilogue."""
