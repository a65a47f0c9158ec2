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
            p, shipped = part.params, target.find("webgpu-subgroups").default(key, form).parts[-1].params
            assert max((x.above for x in (p.partition, p.pair_partition) if x), default=0) < MOST
            assert p.pair_bucket is None or p.pair_bucket.start < MOST
            own, other = ((x.partition if value == "none" else x.pair_bucket) for x in (p, shipped))
            assert (own is None) == (other is None), (key, value)
            assert p.partitions_pairs == shipped.partitions_pairs and not (
                p.partitions_pairs and p.pair_partition.above > MOST // 4
            )
