"""Sorts for PyTorch with the signatures and results of its own functions; see docs/guides/python-nvidia.md."""

from hsgen.torch.enabling import disable, enable, enabled
from hsgen.torch.sorting import Sorted, argsort, method, sort, unique, unique_consecutive

__all__ = [
    "Sorted",
    "argsort",
    "disable",
    "enable",
    "enabled",
    "method",
    "sort",
    "unique",
    "unique_consecutive",
]
