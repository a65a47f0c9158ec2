"""Baselines of benchmarks, measured on the same machine in the same run, by name."""

from __future__ import annotations

from collections.abc import Mapping

from hsgen.tools.bench.baselines import device, host, numpy_avx2, pairs, pytorch, segmented
from hsgen.tools.bench.baselines.baseline import Halves, MergingPeer, Peer, Run, SegmentedPeer, Segments, ValuedPeer

PEERS: Mapping[str, Peer] = {
    "numpy": host.numpy,
    "pyopencl": device.pyopencl,
    "cub": device.cub,
    "torch": pytorch.torch,
    "numpy-avx2": numpy_avx2.numpy_avx2,
    "std": host.std,
    "lsd": host.lsd,
    "vqsort": host.vqsort,
    "boost": device.boost,
}

VALUED: Mapping[str, ValuedPeer] = {
    "numpy": pairs.numpy,
    "numpy-quick": pairs.numpy_quick,
    "lsd": pairs.lsd,
    "cub": pairs.cub,
    "torch": pytorch.torch_valued,
}
"""Baselines that sort values with the keys."""

SEGMENTED: Mapping[str, SegmentedPeer] = {
    "numpy": segmented.numpy_segments,
    "cub": segmented.cub_segments,
    "cub-radix": segmented.cub_radix_segments,
}
"""Baselines that sort segments."""

MERGING: Mapping[str, MergingPeer] = {"numpy": segmented.numpy_merge, "cub": segmented.cub_merge}
"""Baselines that merge two arrays."""

ANY_WIDTH = ("numpy", "numpy-quick")
"""Baselines that sort keys of any width; the others support 4 and 8 bytes."""

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
