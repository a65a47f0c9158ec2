"""Bundles: in memory, on disk, and their manifest."""
