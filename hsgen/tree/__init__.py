"""Kernel text as a syntax tree.  A rendered template is parsed, changed by passes, and printed."""
