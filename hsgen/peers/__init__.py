"""What a sort is compared with, on the same machine in the same run: each peer by its name."""

from __future__ import annotations

from collections.abc import Mapping

from hsgen.peers import apart, beside, host, parted, torches, valued
from hsgen.peers.run import Halves, MergingPeer, Peer, Run, SegmentedPeer, Segments, ValuedPeer

PEERS: Mapping[str, Peer] = {
    "numpy": host.numpy,
    "pyopencl": beside.pyopencl,
    "cub": beside.cub,
    "torch": torches.torch,
    "numpy-avx2": apart.numpy_avx2,
    "std": host.std,
    "lsd": host.lsd,
    "vqsort": host.vqsort,
    "boost": beside.boost,
}

VALUED: Mapping[str, ValuedPeer] = {
    "numpy": valued.numpy,
    "numpy-quick": valued.numpy_quick,
    "lsd": valued.lsd,
    "cub": valued.cub,
    "torch": torches.torch_valued,
}
"""Those that sort values with the keys."""

SEGMENTED: Mapping[str, SegmentedPeer] = {
    "numpy": parted.numpy_segments,
    "cub": parted.cub_segments,
    "cub-radix": parted.cub_radix_segments,
}
"""Those that sort segments."""

MERGING: Mapping[str, MergingPeer] = {"numpy": parted.numpy_merge, "cub": parted.cub_merge}
"""Those that merge two arrays."""

ANY_WIDTH = ("numpy", "numpy-quick")
"""Those that sort keys of any width; the others know words of 4 and 8 bytes."""

__all__ = [
    "ANY_WIDTH",
    "MERGING",
    "PEERS",
    "SEGMENTED",
    "VALUED",
    "Halves",
    "MergingPeer",
    "Peer",
    "Run",
    "SegmentedPeer",
    "Segments",
    "ValuedPeer",
]
