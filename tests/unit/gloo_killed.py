"""A rank of gloo that sorts until a rank ends; usage: python gloo_killed.py RANK RANKS FILE SECONDS.

Rank 1 ends itself after some sorts.  Every other rank prints the time in seconds from its last sort to its error.
"""

from __future__ import annotations

import datetime
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

import hsgen.distributed


def main(rank: int, ranks: int, file: str, seconds: float) -> None:
    """Sort until a rank ends."""
    limit = datetime.timedelta(seconds=seconds)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=ranks, timeout=limit)
    keys = torch.arange(1000).flip(0)
    last = time.monotonic()
    try:
        for number in range(1 << 30):
            if (rank, number) == (1, 20):
                os.kill(os.getpid(), signal.SIGKILL)
            hsgen.distributed.sort(keys)
            last = time.monotonic()
    except Exception:
        print(f"{time.monotonic() - last:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
