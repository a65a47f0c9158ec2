"""Dialects: the kernel languages, and the contract of words between them and kernel bodies."""
