"""Bundles: the folders of kernels, C files and a manifest that `hsgen generate` writes, in memory and on disk."""
