"""Offline compilers: kernels compiled for the instruction set of a device that is not here, and what they then need."""
