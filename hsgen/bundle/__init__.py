"""Bundles of generated files, in memory and on disk, and their manifests."""
