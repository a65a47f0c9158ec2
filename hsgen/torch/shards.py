"""Sorts of PyTorch's distributed tensors (DTensor); the results have the placements of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.distributed.tensor import DTensor, Replicate, Shard

from hsgen import distributed
from hsgen.torch.rows import checked, sorted_rows


def sorted_shards(x: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    """Return the sorted elements and their indices as distributed tensors with the placements of `x`.

    If `x` is not sharded along `dim`, each rank sorts its local tensor.  A sharded tensor of one dimension is sorted by
    `hsgen.distributed.sort`, over the ranks that have its shards.  A tensor with more dimensions that is sharded along
    `dim` is first sharded along another dimension, then sorted locally, then sharded along `dim` again.  Results have
    no gradient.
    """
    dim = checked(x, dim)
    x = x.detach()
    placements = [Replicate() if p.is_partial() else p for p in x.placements]
    x = x.redistribute(placements=placements)
    across = [i for i, p in enumerate(placements) if p.is_shard(dim)]
    if not across:
        return _wrapped(x, sorted_rows(x.to_local(), dim, descending), placements)
    if x.dim() > 1:
        second = max((i for i in range(x.dim()) if i != dim), key=lambda i: x.shape[i])
        turned = [Shard(second) if i in across else p for i, p in enumerate(placements)]
        return _back(x.redistribute(placements=turned), dim, descending, placements)
    first = across[0]
    if len(across) > 1 or not _in_order(x.device_mesh, first):
        single = [
            Replicate() if i in across[1:] or not _in_order(x.device_mesh, i) else p for i, p in enumerate(placements)
        ]
        return _back(x.redistribute(placements=single), dim, descending, placements)
    shard = x.to_local()
    group = x.device_mesh.get_group(first)
    results = distributed.sort(shard, index=True, descending=descending, size=len(shard), group=group)
    return _wrapped(x, results, placements)


def _in_order(mesh: Any, dim: int) -> bool:
    """Return True if the ranks ascend along a dimension of the device mesh; their order is then that of the process
    group.
    """
    return bool((mesh.mesh.diff(dim=dim) > 0).all())


def _back(x: Any, dim: int, descending: bool, placements: Sequence[Any]) -> tuple[Any, Any]:
    """Sort a tensor after a change of its placements; return results with the original `placements`."""
    values, indices = sorted_shards(x, dim, descending)
    return values.redistribute(placements=placements), indices.redistribute(placements=placements)


def _wrapped(x: Any, results: Sequence[torch.Tensor], placements: Sequence[Any]) -> tuple[Any, Any]:
    """Return this rank's two local results as distributed tensors of the shape of `x`."""
    stride = torch.empty(x.shape, device="meta").stride()
    named: dict[str, Any] = {"run_check": False, "shape": x.shape, "stride": stride}
    values, indices = (DTensor.from_local(y, x.device_mesh, placements, **named) for y in results)
    return values, indices
