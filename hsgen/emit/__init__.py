"""Templates to text: kernels, C tables, SPIR-V."""
