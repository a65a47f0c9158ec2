"""Offline compilers: kernels compiled for the instruction sets of absent devices, and their resources."""
