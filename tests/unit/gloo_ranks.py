"""A rank of torch.distributed with gloo; usage: python gloo_ranks.py RANK RANKS FILE.  Prints "ok" at the end.

Tensors of the CPU are compared with one sort of torch.  `CudaLocal` also runs on tensors of the CPU, with stand-ins for
the sorters of `hsgen.cuda`.
"""

from __future__ import annotations

import ctypes
import datetime
import sys
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

import hsgen.distributed
import hsgen.torch
from hsgen.core.errors import HsgenError
from hsgen.core.keys import KEYS
from hsgen.core.keys import TYPES as TYPES_OF_KEYS
from hsgen.distributed import cuda_local, torch_backend, torch_group
from hsgen.distributed.local import HostSearch
from hsgen.operations import oracle

TYPES = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    *([torch.uint16, torch.uint32, torch.uint64] if hasattr(torch, "uint16") else []),
]
SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def keys_of(generator: torch.Generator, dtype: torch.dtype, n: int) -> torch.Tensor:
    """Return n keys: small numbers of both signs, zeros of both signs and NaNs."""
    x = torch.randint(-20, 20, (n,), generator=generator)
    if dtype == torch.bool:
        return x > 0
    if not dtype.is_floating_point:
        return x.to(SIGNED[dtype.itemsize]).view(dtype)
    x = x.to(dtype)
    x[x == 5] = float("nan")
    x[::7] *= -0.0
    return x


def ranked(keys: torch.Tensor) -> torch.Tensor:
    """Return integers in the order of integer keys; torch compares few unsigned types."""
    return torch.from_numpy(np.unique(keys.numpy(), return_inverse=True)[1])


def order_of(keys: torch.Tensor, descending: bool) -> torch.Tensor:
    """Return the order of a stable sort."""
    wide = keys.double() if keys.dtype.is_floating_point else ranked(keys)
    return torch.argsort(wide, descending=descending, stable=True)


def bits_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Compare elements; NaNs equal each other."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.is_floating_point:
        return torch.equal(a.double().nan_to_num(1e9), b.double().nan_to_num(1e9))
    if a.dtype.itemsize > 1 and a.dtype not in SIGNED.values() and not a.dtype.is_complex:
        a, b = a.view(SIGNED[a.dtype.itemsize]), b.view(SIGNED[b.dtype.itemsize])
    return torch.equal(a, b)


class StandIn:
    """A sorter, merger or counter of `hsgen.cuda` on tensors of the CPU, by numpy."""

    sorted_up_to, max_n = 16, 1 << 40

    def __init__(self, key: str, value: Any, order: str) -> None:
        self.key, self.value, self.descending = key, value, order == "descending"
        self.kind = hsgen.distributed.backend.TYPES[key].kind

    def by(self, keys: torch.Tensor) -> Any:
        """Return transformed keys."""
        bits = keys.view(SIGNED[keys.dtype.itemsize]).numpy().view(f"u{keys.dtype.itemsize}")
        return oracle.ordered(bits, self.kind, descending=self.descending)

    def numeric(self, keys: torch.Tensor) -> torch.Tensor:
        """Return floats with one NaN, and with values with one zero."""
        if self.kind < 2:
            return keys
        keys = keys + 0.0 if self.value else keys
        return torch.where(torch.isnan(keys), torch.tensor(float("nan"), dtype=keys.dtype), keys)


class Sorter(StandIn):
    """See `hsgen.cuda.Sorter`."""

    def __call__(self, keys: Any, out: Any = None, *, values: Any = None, values_out: Any = None) -> None:
        numeric = self.numeric(keys)
        order = torch.from_numpy(np.argsort(self.by(numeric), kind="stable"))
        bits = SIGNED[keys.dtype.itemsize]
        moved = numeric.view(bits)[order]
        (keys if out is None else out).view(bits).copy_(moved)
        if self.value:
            to = values if values_out is None else values_out
            assert str(self.value).startswith("index") or to.dtype.itemsize == self.value
            to.copy_((order if str(self.value).startswith("index") else values[order]).to(to.dtype))


class Merges(StandIn):
    """See `hsgen.cuda.merges.Merges`; addresses are of the memory of the host."""

    def scratch_bytes(self, n: int) -> int:
        return 0

    def enqueue(self, addresses: dict[str, int], first: int, second: int, stream: int) -> None:
        n = first + second
        size = KEYS[TYPES_OF_KEYS[self.key].key].bytes
        moved = [("source", "other", "destination", size)]
        if self.value:
            moved.append(("values", "other_values", "values_out", self.value))
        keys = [at(addresses[role], count, size) for role, count in (("source", first), ("other", second))]
        by = [oracle.ordered(x.reshape(-1).view(f"u{size}"), self.kind, descending=self.descending) for x in keys]
        assert all((x[1:] >= x[:-1]).all() for x in by)
        order = np.argsort(np.concatenate(by), kind="stable")
        for a, b, out, item in moved:
            both = np.concatenate([at(addresses[a], first, item), at(addresses[b], second, item)])
            at(addresses[out], n, item)[:] = both[order]


def at(address: int, count: int, size: int) -> Any:
    """Return `count` items of `size` bytes at an address of the host, shape (count, size)."""
    memory = (ctypes.c_ubyte * (count * size)).from_address(address)
    return np.frombuffer(memory, np.uint8).reshape(count, size)


class TopK(StandIn):
    """See `hsgen.cuda.TopK`."""

    def __call__(self, keys: Any, k: int, out: Any, values_out: Any) -> None:
        order = torch.from_numpy(np.argsort(self.by(keys), kind="stable"))[:k]
        bits = SIGNED[keys.dtype.itemsize]
        out.view(bits).copy_(keys.view(bits)[order])
        values_out.copy_(order)


class Searched(HostSearch):
    """A search with tensors of the CPU."""

    def counts(self, number: int, rows: Any) -> Any:
        return torch.from_numpy(super().counts(number, None if rows is None else rows.numpy()))

    def ends(self, rows: Any, meanwhile: Any) -> Any:
        return super().ends(rows.numpy(), meanwhile)


class OnHost(cuda_local.CudaLocal):
    """`CudaLocal` on the CPU."""

    def search(self, *arguments: Any) -> Any:
        return Searched(self, *arguments)

    def _stream(self) -> int:
        return 0

    def counts(self, run: Any, probes: Any) -> Any:
        by = StandIn(self.key, None, self._order).by(run.keys).astype(np.uint64)
        return np.searchsorted(by, probes.view(np.uint64)).astype(np.int64)


def install() -> None:
    """Let tensors of the CPU be sorted by `CudaLocal`."""
    cuda_local._sorter = lambda key, value, order, device: Sorter(key, value, order)  # type: ignore[assignment]
    cuda_local._merger = lambda key, value, order, device: Merges(key, value, order)  # type: ignore[assignment]
    cuda_local._top_k = lambda key, order, device: TopK(key, None, order)  # type: ignore[assignment]
    backend: Any = torch_backend.TorchBackend
    backend.local = lambda self, keys, descending: OnHost(
        self.check_keys(keys), descending=descending, device=keys.device
    )
    backend.array = lambda self, x: x.detach().contiguous()


def check(rank: int, ranks: int, memory: str, types: slice = slice(None)) -> None:
    """Compare every function with one sort, for all types or some."""
    generator = torch.Generator().manual_seed(ranks)
    for i, dtype in list(enumerate(TYPES))[types]:
        lengths = torch.randint(0, 60, (ranks,), generator=generator).tolist()
        if i % 3 == 0:
            lengths[i % ranks] = 0
        total, first = sum(lengths), sum(lengths[:rank])
        keys, descending = keys_of(generator, dtype, total), i % 2 == 1
        order = order_of(keys, descending)
        sizes = [total // ranks + (r < total % ranks) for r in range(ranks)]
        begin = sum(sizes[:rank])
        shard_of, here = slice(first, first + lengths[rank]), order[begin : begin + sizes[rank]]
        named: dict[str, Any] = {"descending": descending}
        bits = SIGNED[dtype.itemsize] if dtype != torch.bool else torch.bool

        def taken(x: torch.Tensor, at: torch.Tensor, bits: torch.dtype = bits, dtype: torch.dtype = dtype) -> Any:
            return x.view(bits)[at].view(dtype)

        shard = lambda: keys.clone()[shard_of].clone()  # noqa: E731, B023
        assert bits_equal(hsgen.distributed.sort(shard(), memory=memory, **named), taken(keys, here)), dtype
        for kind, shape in (
            (torch.int32, ()),
            (torch.float32, (4,)),
            (torch.bfloat16, (3,)),
            (torch.float64, ()),
            (torch.bool, ()),
        ):
            values = torch.randint(0, 100, (total, *shape), generator=generator).to(kind)
            result = hsgen.distributed.sort(shard(), values[shard_of].clone(), memory=memory, **named)
            assert bits_equal(result.keys, taken(keys, here)) and bits_equal(result.values, values[here]), (dtype, kind)
        result = hsgen.distributed.sort(shard(), index=True, memory=memory, **named)
        assert bits_equal(result.keys, taken(keys, here)) and torch.equal(result.values, here), dtype
        for k in (min(3, total), total):
            best = hsgen.distributed.topk(shard(), k, largest=descending)
            assert bits_equal(best.keys, taken(keys, order[:k])) and torch.equal(best.values, order[:k]), (dtype, k)
        check_groups(keys, shard_of, ranks, rank, generator)


def check_groups(keys: torch.Tensor, shard_of: slice, ranks: int, rank: int, generator: torch.Generator) -> None:
    """Compare groups with those of torch."""
    order = order_of(keys, False)
    values = torch.randint(-50, 50, (len(keys),), generator=generator)
    wide = keys.double().nan_to_num(1e9) if keys.dtype.is_floating_point else ranked(keys)
    distinct, inverse, counts = torch.unique(wide, return_inverse=True, return_counts=True)
    sizes = [len(distinct) // ranks + (r < len(distinct) % ranks) for r in range(ranks)]
    here = slice(sum(sizes[:rank]), sum(sizes[: rank + 1]))
    assert len(order) == len(keys)
    result, number = hsgen.distributed.unique(keys[shard_of].clone(), return_counts=True)
    assert torch.equal(number, counts[here]) and len(result) == sizes[rank]
    for kind in (torch.int32, torch.float32, torch.float16):
        for name in ("sum", "min", "max"):
            groups = hsgen.distributed.group_by(keys[shard_of].clone(), values[shard_of].to(kind), reduction=name)
            expected = torch.zeros(len(distinct), dtype=torch.int64)
            expected.scatter_reduce_(0, inverse, values, name if name == "sum" else f"a{name}", include_self=False)
            assert torch.equal(groups.values.long(), expected[here]), (keys.dtype, kind, name)
            assert torch.equal(groups.counts, counts[here])


def check_distributed_tensors(ranks: int) -> None:
    """Compare sorts of distributed tensors with sorts of expected_all tensors."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    generator = torch.Generator().manual_seed(7)
    mesh = init_device_mesh("cpu", (ranks,))
    for shape, dim, placement in (
        ((50,), 0, Shard(0)),
        ((3,), -1, Shard(0)),
        ((50,), 0, Replicate()),
        ((9, 14), 0, Shard(0)),
        ((9, 14), 1, Shard(0)),
    ):
        x = torch.randint(0, 20, shape, generator=generator)
        on = distribute_tensor(x, mesh, [placement])
        for descending in (False, True):
            result = hsgen.torch.sort(on, dim, descending)
            expected = torch.sort(x, dim=dim, descending=descending, stable=True)
            for shard_of, expected_all in zip(result, expected, strict=True):
                assert shard_of.placements == (placement,) and torch.equal(shard_of.full_tensor(), expected_all), (
                    shape,
                    dim,
                )
            order = hsgen.torch.argsort(on, dim, descending)
            assert torch.equal(order.full_tensor(), expected.indices)


def main(rank: int, ranks: int, file: str) -> None:
    """Run all checks as one rank."""
    limit = datetime.timedelta(seconds=60)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=ranks, timeout=limit)
    check(rank, ranks, "normal")
    try:
        hsgen.distributed.sort(torch.zeros(3, dtype=torch.int32 if rank else torch.int64))
        assert ranks == 1
    except HsgenError as e:
        assert str(e) == "keys: i64 on rank 0, i32 on rank 1; give the same on every rank"
    check_distributed_tensors(ranks)
    install()
    check(rank, ranks, "normal", slice(None, None, 2))  # runs are sorted again
    cuda_local.SORTED = 0
    check(rank, ranks, "normal", slice(1, None, 2))
    check(rank, ranks, "low", slice(0, None, 4))
    torch_group.TorchRank.unit, cuda_local.MERGED = torch_group.ALIGNMENT, 1
    check(rank, ranks, "normal", slice(1, None, 4))
    cuda_local.MERGED = 16
    check(rank, ranks, "low", slice(None, None, 3))
    torch_group.TorchRank.small = torch_group.SMALL
    check(rank, ranks, "low", slice(2, None, 3))
    torch_group.TorchRank.small = 0
    OnHost.chunks = lambda self, sizes, item: 3 if item in (0, 4, 8, 16) else 1  # type: ignore[method-assign]
    check(rank, ranks, "normal", slice(0, None, 3))
    dist.destroy_process_group()
    print("ok")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
