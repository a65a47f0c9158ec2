"""Counts of similar calls: preparing a call takes host time, which pays only if a similar call follows."""

from __future__ import annotations

from collections.abc import Hashable

import torch

BEFORE = 1
"""The number of similar calls that PyTorch serves before hsgen prepares such calls."""
_KEPT = 1 << 12
_counts: dict[Hashable, int] = {}


def again(x: torch.Tensor, call: Hashable) -> bool:
    """Return True if preparing the call is worthwhile: a similar call occurred before, or a graph captures this call.

    call: everything that the launches depend on besides the type, the shape and the GPU of the tensor `x`.
    """
    key = x.dtype, x.shape, x.get_device(), call
    count = _counts.get(key, 0)
    if count >= BEFORE or (x.is_cuda and torch.cuda.is_current_stream_capturing()):
        return True
    if len(_counts) >= _KEPT:
        _counts.clear()
    _counts[key] = count + 1
    return False
