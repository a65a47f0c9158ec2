"""Radix sorts in numpy: `model` executes a plan; `msd`, `grid`, `finish` and `pieces` model single kernels."""
