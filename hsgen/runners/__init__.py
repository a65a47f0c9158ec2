"""What `hsgen.cuda` and `hsgen.opencl` share: the conversion and the checks of the arguments that users pass."""
