"""Modules that all packages share: key types, kernels, launch plans and their interpreter, device facts, errors."""
