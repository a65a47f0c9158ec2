"""Count similar calls of PyTorch's functions.  The first call runs PyTorch's own function, because to prepare hsgen's
launches takes host time.  The time pays only if similar calls follow.
"""

from __future__ import annotations

from collections.abc import Hashable

import torch

BEFORE = 1
"""The number of similar calls that run PyTorch's own function; the next similar call runs hsgen's."""
_KEPT = 1 << 12
_counts: dict[Hashable, int] = {}


def again(x: torch.Tensor, call: Hashable) -> bool:
    """Return True if hsgen should serve the call: a similar call occurred before, or a CUDA graph captures this call.

    Calls are similar if the tensor `x` has the same type, shape and GPU, and `call` is equal.

    call: all further arguments on which the launches depend, such as the dimension and the order.
    """
    key = x.dtype, x.shape, x.get_device(), call
    count = _counts.get(key, 0)
    if count >= BEFORE or (x.is_cuda and torch.cuda.is_current_stream_capturing()):
        return True
    if len(_counts) >= _KEPT:
        _counts.clear()
    _counts[key] = count + 1
    return False
