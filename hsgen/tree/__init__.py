"""Kernel text as a syntax tree: hsgen parses a rendered template, changes the tree by passes, and prints it."""
