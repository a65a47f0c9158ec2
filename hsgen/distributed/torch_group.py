"""The communicator of a rank in a process group of torch.distributed, which uses NCCL for GPUs and gloo for CPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from hsgen.core.errors import Unavailable
from hsgen.distributed.communicator import Communicator, Span, Words
from hsgen.distributed.local import row_bytes

ALIGNMENT = 16
"""NCCL copies fast between addresses that are multiples of this number of bytes, and byte by byte between others."""
SMALL = 1 << 28
"""`Communicator.small` of a rank with a GPU: if all shards together have at most this number of bytes, every rank
receives and sorts all of them.
"""
_ALL_GATHER: Any = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor


class TorchRank(Communicator):
    """The rank of this process in a group of torch.distributed; `group` None is the default group.

    device: the device through whose memory numbers are exchanged: the current GPU with NCCL, else the CPU.

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
        """Whether the group can exchange tensors on the CPU."""
        self.device = torch.device(torch.cuda.current_device()) if gpu else torch.device("cpu")
        self._beside: Any = None
        if gpu:
            self.unit, self.small = ALIGNMENT, SMALL

    def _rows(self, words: Any) -> torch.Tensor:
        """Return the words of every rank, concatenated, as a tensor on `device`."""
        sent = words if isinstance(words, torch.Tensor) else on(words, self.device)
        if self.size == 1:
            return sent
        rows = sent.new_empty(self.size * len(words))
        if len(words):
            _ALL_GATHER(rows, sent, group=self.group)
        return rows

    def gather(self, words: Any) -> Words:
        """See `Communicator`; an array of numpy is exchanged on a separate stream."""
        if isinstance(words, np.ndarray) and (self.size == 1 or self.device.type != "cpu"):
            return self.gather_later(words)()
        result: Words = self._rows(words).cpu().numpy().reshape(self.size, len(words))
        return result

    def gather_later(self, words: Words) -> Callable[[], Words]:
        """See `Communicator`; words are exchanged on a separate stream, while the current stream continues."""
        n = len(words)
        if self.size == 1:
            return lambda: words.reshape(1, n)
        if self.device.type == "cpu":
            return super().gather_later(words)
        if self._beside is None:
            self._beside = torch.cuda.Stream(self.device)
        size = (self.size + 1) * n  # the words of this rank to send, then the received words of every rank
        host = torch.empty(size, dtype=torch.int64, pin_memory=True)
        numbers: Words = host.numpy()
        numbers[:n] = words
        with torch.cuda.stream(self._beside):
            there = torch.empty(size, dtype=torch.int64, device=self.device)
            there[:n].copy_(host[:n], non_blocking=True)
            _ALL_GATHER(there[n:], there[:n], group=self.group)
            host.copy_(there, non_blocking=True)

        def read() -> Words:
            self._beside.synchronize()
            return numbers[n:].reshape(self.size, n)

        return read

    def gather_rows(self, words: Any) -> Any:
        """See `Communicator`."""
        rows = self._rows(words).reshape(self.size, len(words))
        return rows if isinstance(words, torch.Tensor) else rows.cpu().numpy()

    def gather_arrays(self, arrays: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """See `Communicator`; several arrays, or arrays of different lengths, are exchanged as one tensor of bytes."""
        most, sources = max(lengths), [_bytes(x) for x in arrays]
        if len(arrays) == 1 and min(lengths) == most:
            rows = sources[0].new_empty(self.size * len(sources[0]))
            _ALL_GATHER(rows, sources[0], group=self.group)
            return [_typed(rows, arrays[0], sum(lengths))]
        ends = np.cumsum([0, *(-(-most * row_bytes(x) // ALIGNMENT) * ALIGNMENT for x in arrays)]).tolist()
        sent = sources[0].new_empty(ends[-1])
        for x, begin in zip(sources, ends, strict=False):
            sent[begin : begin + len(x)].copy_(x)
        rows = sent.new_empty(self.size * ends[-1])
        _ALL_GATHER(rows, sent, group=self.group)
        rows = rows.reshape(self.size, ends[-1])
        return [_joined(rows, begin, lengths, x) for x, begin in zip(arrays, ends, strict=False)]

    def exchange(self, source: Any, sent: Sequence[Span], out: Any, received: Sequence[Span]) -> None:
        """See `Communicator`; arrays are tensors or numpy arrays, and are exchanged as bytes."""
        if not isinstance(source, np.ndarray) and source.is_cuda:
            self.exchange_later(source, sent, out, received)()
            return
        (source, parts), (out, places) = _cut_bytes(source, sent), _cut_bytes(out, received)
        counts = [len(x) for x in places]
        both = out[: sum(counts)] if _consecutive(received) else out.new_empty(sum(counts))
        source = source[: sum(map(len, parts))] if _consecutive(sent) else torch.cat(parts)
        dist.all_to_all_single(both, source, counts, [len(x) for x in parts], group=self.group)
        if not _consecutive(received):
            for place, x in zip(places, both.split(counts), strict=True):
                place.copy_(x)

    def exchange_later(
        self, source: Any, sent: Sequence[Span], out: Any, received: Sequence[Span]
    ) -> Callable[[], None]:
        """See `Communicator`; NCCL exchanges on a separate stream."""
        if isinstance(source, np.ndarray) or not source.is_cuda:
            return super().exchange_later(source, sent, out, received)
        (_, parts), (_, places) = _cut_bytes(source, sent), _cut_bytes(out, received)
        work: Any = dist.all_to_all(places, parts, group=self.group, async_op=True)

        def wait() -> None:
            work.wait()

        return wait


def _cut_bytes(x: Any, spans: Sequence[Span]) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return an array as a tensor of bytes, and for each span the view of its bytes."""
    size, x = row_bytes(x), _bytes(x)
    return x, [x[size * a : size * b] for a, b in spans]


def on(words: Words, device: torch.device) -> torch.Tensor:
    """Copy words to a device; the host does not wait for work that is enqueued on the device."""
    host = torch.from_numpy(np.ascontiguousarray(words))
    return host.pin_memory().to(device, non_blocking=True) if device.type != "cpu" else host.clone()


def _consecutive(spans: Sequence[Span]) -> bool:
    """Return True if the first span begins at 0, and every span begins where the span before it ends."""
    return all(begin == end for (begin, _), end in zip(spans, [0, *(end for _, end in spans)], strict=False))


def _bytes(x: Any) -> torch.Tensor:
    """Return a view of a contiguous tensor or numpy array as a tensor of bytes."""
    if isinstance(x, np.ndarray):
        return torch.from_numpy(x.reshape(-1).view(np.uint8))
    return x.reshape(-1).view(torch.uint8)


def _joined(rows: torch.Tensor, begin: int, lengths: Sequence[int], like: Any) -> Any:
    """Concatenate the items of all ranks; return an array with items like those of `like`.

    rows: a row of bytes for each rank, with the rank's items from byte `begin` on.  lengths: the number of items of
    each rank.
    """
    sizes = [n * row_bytes(like) for n in lengths]
    if len(set(sizes)) == 1:
        joined = rows[:, begin : begin + sizes[0]].reshape(-1)
    else:
        joined = torch.cat([row[begin : begin + size] for row, size in zip(rows, sizes, strict=True)])
    return _typed(joined, like, sum(lengths))


def _typed(x: torch.Tensor, like: Any, n: int) -> Any:
    """Return bytes as an array of `n` items like those of `like`."""
    typed: Any = x.numpy().view(like.dtype) if isinstance(like, np.ndarray) else x.view(like.dtype)
    return typed.reshape(n, *like.shape[1:])


_known: dict[tuple[int, int], tuple[Any, TorchRank]] = {}
_KEPT = 16  # greatest number of kept ranks


def rank_of(group: Any) -> TorchRank:
    """Return the `TorchRank` of this process in a group; a call for the same group and GPU returns the same object."""
    if not dist.is_available() or not dist.is_initialized():
        return TorchRank(group)
    one = dist.group.WORLD if group is None else group
    key = id(one), torch.cuda.current_device() if torch.cuda.is_available() else -1
    if key not in _known:
        rank = TorchRank(group)
        if len(_known) >= _KEPT:
            _known.clear()
        _known[key] = one, rank  # keep the group alive: no other group then has its id
    return _known[key][1]
