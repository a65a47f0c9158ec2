"""What `make webgpu-cases` validates: targets in parts of fewer lanes, whose few keys reach every way of sorting."""

from __future__ import annotations

from pathlib import Path

import pytest
from webgpu_cases import KEYS, WIDTHS, narrowed

from hsgen.core.keys import Signature
from hsgen.targets import target

MOST = 1 << 12  # keys of a case


@pytest.mark.parametrize("width", [int(width) for width in WIDTHS if width != "none"])
def test_parts_of_fewer_lanes_have_buckets_of_few_keys(width: int, tmp_path: Path) -> None:
    found = target.find(narrowed(width, tmp_path))
    for key in KEYS:
        for value in ("none", "v4", "index"):
            form = Signature(value=value, key_transform=True, bit_range=True, device_count=True)
            (part,) = found.default(key, form).parts
            assert part.params.subgroup == width
            assert max(part.params.msd_from, part.params.finish_from) < MOST
            buckets = part.params.finish_from if value != "none" else part.params.msd_from
            as_shipped = target.find("webgpu-subgroups").default(key, form).parts[-1].params
            shipped = as_shipped.finish_from if value != "none" else as_shipped.msd_from
            assert (buckets > 0) == (shipped > 0), (key, value)
            assert part.params.deal == as_shipped.deal and not (part.params.deal and part.params.deal_from > MOST // 4)
