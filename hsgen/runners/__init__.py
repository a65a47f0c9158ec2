"""What the Python APIs for CUDA and OpenCL share: arguments, checks, and the options of each operation's calls."""
