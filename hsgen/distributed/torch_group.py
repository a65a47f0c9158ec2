"""A rank of a process group of torch.distributed: NCCL for GPUs, gloo for CPUs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from hsgen.core.errors import Unavailable
from hsgen.distributed.communicator import Communicator, Words

_ALL_GATHER: Any = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor


class TorchRank(Communicator):
    """The rank of this process in a group of torch.distributed; `group` None is the default group.

    Numbers travel through the memory of `device`: that of the current GPU if the group has NCCL, else of the host.

    Raises:
        Unavailable: torch.distributed has not been initialized, or this process is not in the group.
    """

    def __init__(self, group: Any) -> None:
        if not dist.is_available() or not dist.is_initialized():
            raise Unavailable("torch.distributed is not initialized; call torch.distributed.init_process_group first")
        self.group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        if self.rank < 0:
            raise Unavailable("this process is not a rank of the group")
        backends = str(dist.get_backend_config(group))
        gpu = "cuda:nccl" in backends and torch.cuda.is_available()
        self.cpu = "cpu:" in backends and "cpu:nccl" not in backends
        """Whether the group exchanges tensors of the CPU."""
        self.device = torch.device("cuda", torch.cuda.current_device()) if gpu else torch.device("cpu")

    def _sent(self, words: Words) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(words)).to(self.device)

    def gather(self, words: Words) -> Words:
        """See `Communicator`."""
        rows = torch.empty(self.size * len(words), dtype=torch.int64, device=self.device)
        if len(words):
            _ALL_GATHER(rows, self._sent(words), group=self.group)
        result: Words = rows.cpu().numpy().reshape(self.size, len(words))
        return result

    def total(self, words: Words) -> Words:
        """See `Communicator`."""
        sums = self._sent(words.copy())
        dist.all_reduce(sums, group=self.group)
        result: Words = sums.cpu().numpy()
        return result

    def exchange(self, source: Any, sent: Sequence[int], out: Any, received: Sequence[int]) -> None:
        """See `Communicator`; arrays are tensors, or of numpy, and travel as bytes."""
        size = prod(source.shape[1:]) * source.dtype.itemsize
        dist.all_to_all_single(
            _bytes(out), _bytes(source), [size * n for n in received], [size * n for n in sent], group=self.group
        )


def _bytes(x: Any) -> torch.Tensor:
    """Return the bytes of a contiguous tensor or array of numpy."""
    if isinstance(x, np.ndarray):
        return torch.from_numpy(x.reshape(-1).view(np.uint8))
    return x.reshape(-1).view(torch.uint8)
