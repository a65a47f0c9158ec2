"""Generation of kernels, C files and SPIR-V from templates."""
