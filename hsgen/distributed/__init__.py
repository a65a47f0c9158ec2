"""Sorts of arrays that are distributed over the ranks of a process group, on GPUs or CPUs.

See docs/guides/several-gpus.md.
"""

from hsgen.distributed.functions import Groups, Sorted, argsort, group_by, sort, topk, unique
from hsgen.distributed.threads import ThreadRank, Threads

__all__ = ["Groups", "Sorted", "ThreadRank", "Threads", "argsort", "group_by", "sort", "topk", "unique"]
