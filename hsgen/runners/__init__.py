"""What the Python APIs of all device APIs share: arguments, checks, and the options of each operation's calls."""
