"""Functions like torch.sort, torch.topk and torch.unique, with the same signatures and results, that run hsgen's sorts.

See docs/guides/python-nvidia.md.
"""

from hsgen.cuda.background import preload, prepare_in_thread, wait_for_thread
from hsgen.torch.enabling import disable, enable, enabled
from hsgen.torch.sorting import (
    Selected,
    SelectedEntries,
    Sorted,
    argsort,
    method,
    sort,
    topk,
    topk_method,
    unique,
    unique_consecutive,
)

__all__ = [
    "Selected",
    "SelectedEntries",
    "Sorted",
    "argsort",
    "disable",
    "enable",
    "enabled",
    "method",
    "prepare_in_thread",
    "sort",
    "topk",
    "topk_method",
    "unique",
    "unique_consecutive",
    "wait_for_thread",
]

preload()
