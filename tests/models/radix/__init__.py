"""Radix sorts in numpy: `model` executes a plan; the other modules model single kernels."""
