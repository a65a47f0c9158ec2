"""Radix sorts in numpy: `model` plays a plan; `msd`, `grid` and `finish` are what single kernels do."""
