"""Bundles of generated files: in memory, on disk, and their manifest."""
