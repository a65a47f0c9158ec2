"""`sort`, `argsort` and `topk` for PyTorch, with the signatures and results of torch.sort and torch.topk.

See docs/guides/python-nvidia.md.
"""

from hsgen.torch.sorting import Selected, Sorted, argsort, method, sort, topk, topk_method

__all__ = ["Selected", "Sorted", "argsort", "method", "sort", "topk", "topk_method"]
