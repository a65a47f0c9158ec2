"""Offline compilers compile kernels for devices that this machine lacks, and report registers, spills and occupancy."""
