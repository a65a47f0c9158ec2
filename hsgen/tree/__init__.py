"""Kernel text as a tree: a rendered template is parsed, changed by passes, and printed."""
