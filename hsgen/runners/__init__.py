"""What `hsgen.cuda` and `hsgen.opencl` share: arguments, checks, and the options of each operation's calls."""
