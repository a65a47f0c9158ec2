"""The common part of the Python APIs: arguments, checks, and the options of each operation's calls."""
