"""Kernel languages."""
