"""The generation of text from templates: kernels, C files, SPIR-V."""
