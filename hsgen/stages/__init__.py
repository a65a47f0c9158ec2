"""Stages: what follows a sort in the same plan, such as reporting run boundaries or calling an epilogue."""
