"""A stand-in for `hsgen.cuda.selections.Selection` that selects from arrays in the memory of the host."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from first_of_rows import first_of_rows, ranks_of
from sort_stand_ins import memory

from hsgen.core.keys import TYPES
from hsgen.cuda.subjects import Take


class HostSelection:
    """The selection of a subject, by its definition; calls pass addresses, as they do to the kernels."""

    gpu, scratch, steps = SimpleNamespace(number=0), 0, "select"

    def __init__(self, take: Take) -> None:
        self.take = take

    def run(
        self, source: int, keys: int, indices: int, scratch: int, stream: int, numbers: Mapping[str, int] | None = None
    ) -> None:
        """Select from the rows at the address `source`."""
        take, at = self.take, numbers or {}
        assert tuple(name for name in at if name not in ("entries", "size")) == take.numbers
        kind = np.dtype(TYPES[take.key].numpy)
        rows = memory(source, take.n, kind.itemsize).view(kind).reshape(take.rows, take.length)
        arrays: dict[str, Any] = {}
        for name in take.numbers:
            if name == "table":
                arrays[name] = memory(at[name], at["size"], take.entry).view(f"i{take.entry}")
            elif name == "table_starts":
                arrays[name] = memory(at[name], take.rows, 8).view(np.int64)
            else:
                arrays[name] = memory(at[name], 1 if name == "count" else take.rows, 4)
        ranks = ranks_of(rows, largest=take.largest)
        first = first_of_rows(take.key, rows, ranks, take.k, largest=take.largest, numbers=arrays)
        memory(keys, take.selected, kind.itemsize)[:] = first.keys.view(f"u{kind.itemsize}").reshape(-1)
        memory(indices, take.selected, 8).view(np.int64)[:] = first.indices.reshape(-1)
        if first.entries is not None:
            memory(at["entries"], take.selected, take.entry).view(f"i{take.entry}")[:] = first.entries.reshape(-1)
