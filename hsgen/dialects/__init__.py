"""Dialects, the kernel languages, and the contract: the functions, types and macros that kernel bodies may use."""
