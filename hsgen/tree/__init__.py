"""Kernel text as a tree: read once after its template is rendered, changed by passes, and printed again."""
