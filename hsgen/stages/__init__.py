"""Stages: launches after those of a sort, in the same plan, that report run boundaries or apply an epilogue."""
