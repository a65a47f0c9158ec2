"""Stages that follow a sort in the same plan.  A stage is a report of run boundaries, or an epilogue."""
