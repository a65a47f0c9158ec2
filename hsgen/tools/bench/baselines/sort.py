"""Baselines that sort a whole array."""

from __future__ import annotations

from collections.abc import Mapping

from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines import device, host, numpy_avx2, pairs, pytorch, vrdx
from hsgen.tools.bench.baselines.baseline import Baseline, Run, ValuedPeer

BASELINES: Mapping[str, Baseline] = {
    "numpy": host.numpy,
    "pyopencl": device.pyopencl,
    "cub": device.cub,
    "cub-fields": device.cub_fields,
    "cub-merge": device.cub_merge,
    "torch": pytorch.torch,
    "numpy-avx2": numpy_avx2.numpy_avx2,
    "std": host.std,
    "lsd": host.lsd,
    "vqsort": host.vqsort,
    "boost": device.boost,
    "vrdx": vrdx.vrdx,
}

VALUED: Mapping[str, ValuedPeer] = {
    "numpy": pairs.numpy,
    "numpy-quick": pairs.numpy_quick,
    "lsd": pairs.lsd,
    "cub": pairs.cub,
    "cub-fields": pairs.cub_fields,
    "cub-merge": pairs.cub_merge,
    "torch": pytorch.torch_valued,
    "vrdx": vrdx.valued,
}
"""Baselines that sort values with the keys."""

ALL = [*BASELINES, *VALUED]


def names(sort: Sort) -> list[str]:
    """Return the baselines that support a sort, with its kinds of keys and values."""
    return list(BASELINES if sort.signature.value == "none" else VALUED)


def start(name: str, engine: Engine, work: Load) -> Run:
    """Start a baseline."""
    plain = engine.sort.signature.value == "none"
    return BASELINES[name](engine, work.keys) if plain else VALUED[name](engine, work.keys, work.values)
