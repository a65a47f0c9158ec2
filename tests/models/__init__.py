"""Numpy simulators of the algorithms: what kernels do, access by access, without a device."""
