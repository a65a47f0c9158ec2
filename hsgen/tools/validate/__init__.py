"""Validation: runs kernels on a device with many inputs, and compares the results with numpy."""
