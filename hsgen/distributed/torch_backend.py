"""The `Backend` for tensors of PyTorch: `hsgen.cuda` sorts those on a GPU, and numpy those on the CPU."""

from __future__ import annotations

from typing import Any

import torch

from hsgen.core.errors import wrong_type
from hsgen.core.keys import BFLOAT16
from hsgen.distributed.backend import Backend, check_length, named
from hsgen.distributed.cuda_local import CudaLocal, widened
from hsgen.distributed.local import Local
from hsgen.distributed.numpy_local import NumpyLocal
from hsgen.distributed.torch_group import TorchRank, rank_of

_NUMBERS = {
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
}


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


class TorchBackend(Backend):
    """The `Backend` for tensors of PyTorch."""

    comm: TorchRank

    def check_keys(self, keys: Any) -> str:
        """See `Backend`."""
        if not isinstance(keys, torch.Tensor):
            raise wrong_type("keys", "a tensor of PyTorch", keys)
        if keys.dim() != 1:
            raise ValueError(f"keys have the shape {tuple(keys.shape)}; give one dimension")
        self._check_device("keys", keys)
        return named(_name(keys.dtype))

    def _check_device(self, name: str, x: torch.Tensor) -> None:
        """Check that the process group can exchange a tensor: it is on the CPU, or on the GPU of this rank."""
        if not (x.is_cuda or x.device.type == "cpu"):
            raise ValueError(f"{name} are on {x.device}; give tensors of a GPU with CUDA or of the CPU")
        if x.is_cuda and self.comm.device != x.device:
            where = (
                f"this rank's GPU is {self.comm.device}" if self.comm.device.type != "cpu" else "the group is of CPUs"
            )
            raise ValueError(f"{name} are on {x.device}, {where}; see torch.cuda.set_device and init_process_group")
        if not x.is_cuda and not self.comm.cpu:
            raise ValueError(f"{name} are on the CPU, the group exchanges tensors of GPUs only; move them to a GPU")

    def check_values(self, values: Any, n: int) -> str:
        """See `Backend`."""
        if not isinstance(values, torch.Tensor):
            raise wrong_type("values", "a tensor of PyTorch", values)
        check_length(values, n)
        self._check_device("values", values)
        rest = tuple(values.shape[1:])
        return f"{_name(values.dtype)} of shape {rest}" if rest else _name(values.dtype)

    def check_numbers(self, values: Any) -> None:
        """See `Backend`."""
        if values.dtype not in _NUMBERS:
            raise TypeError(f"values are {_name(values.dtype)}; give {', '.join(sorted(map(_name, _NUMBERS)))}")
        if values.dim() != 1:
            raise ValueError(f"values have the shape {tuple(values.shape)}; give one dimension")

    def device_of(self, keys: Any) -> str:
        """See `Backend`."""
        return str(keys.device.type)

    def local(self, keys: Any, *, descending: bool) -> Local:
        """See `Backend`."""
        key = self.check_keys(keys)
        if keys.is_cuda:
            return CudaLocal(key, descending=descending, device=keys.device)
        return NumpyLocal(key, descending=descending)

    def array(self, x: Any) -> Any:
        """See `Backend`; a tensor on the CPU becomes an array of numpy that shares its memory."""
        x = x.detach().contiguous()
        if x.is_cuda:
            return x
        return x.view(torch.int16).numpy() if _name(x.dtype) == BFLOAT16 else x.numpy()

    def keys(self, local: Local, keys: Any, like: Any) -> Any:
        """See `Backend`."""
        if isinstance(local, NumpyLocal):
            signed = local.restored(keys, f"i{like.dtype.itemsize}")
            return torch.from_numpy(signed).view(like.dtype)
        return keys.view(like.dtype)

    def values(self, column: Any, like: Any) -> Any:
        """See `Backend`."""
        if not isinstance(column, torch.Tensor):
            column = torch.from_numpy(column)
        return column.view(like.dtype)

    def index(self, column: Any, total: int) -> Any:
        """See `Backend`."""
        return widened(column, total) if isinstance(column, torch.Tensor) else torch.from_numpy(column)

    def reduced(self, column: Any) -> Any:
        """See `Backend`."""
        return column if isinstance(column, torch.Tensor) else torch.from_numpy(column)


def torch_backend(group: Any) -> Backend:
    """Return the backend of a group of torch.distributed."""
    return TorchBackend(rank_of(group))
