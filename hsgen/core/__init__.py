"""Values that all parts share: keys, kernels, plans and their interpreter, device facts, errors."""
