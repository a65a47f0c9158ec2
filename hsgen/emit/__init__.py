"""Generation of the text of kernels and of the C and JavaScript files of a bundle, and compilation to SPIR-V."""
