"""Values that all packages share: keys, kernels, plans and their interpreter, device facts, errors."""
