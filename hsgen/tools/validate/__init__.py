"""Validation: run kernels on a device over many inputs and compare the results with numpy."""
