"""Bundles: in memory, their manifest, and on disk."""
