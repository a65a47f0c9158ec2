"""Compilation of kernels by offline compilers, for devices that this machine need not have.

The compilers report the registers, the spills and the occupancy of each kernel.
"""
