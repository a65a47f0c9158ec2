"""The machine: files, processes, signals, caches, and the tools that are installed."""
