"""The bitonic merge sort in numpy."""
