"""Stages: steps after a sort in the same plan, which report run boundaries or call an epilogue."""
