"""hsgen: one generator of GPU sort kernels, driven by target descriptions."""

__version__ = "0.4.0"
