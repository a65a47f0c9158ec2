"""Access to the machine: files, processes, signals, caches, and installed tools."""
