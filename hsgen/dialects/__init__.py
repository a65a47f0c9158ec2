"""Dialects, which are the kernel languages, and the contract of words between dialects and kernel bodies."""
