"""`sort` and `argsort` for PyTorch, with the signatures and results of torch.sort; see docs/guides/python-nvidia.md."""

from hsgen.torch.sorting import Sorted, argsort, method, sort

__all__ = ["Sorted", "argsort", "method", "sort"]
