"""Radix sorts in numpy: `model` executes a plan; `msd`, `grid` and `finish` model single kernels."""
