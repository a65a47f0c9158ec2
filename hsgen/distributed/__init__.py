"""Sorts over the ranks of a process group, of GPUs or CPUs; see docs/guides/several-gpus.md."""

from hsgen.distributed.functions import Groups, Sorted, argsort, group_by, sort, topk, unique
from hsgen.distributed.threads import ThreadRank, Threads

__all__ = ["Groups", "Sorted", "ThreadRank", "Threads", "argsort", "group_by", "sort", "topk", "unique"]
