"""Stages: launches that a plan runs after those of the sort, to report run boundaries or to run an epilogue."""
