"""Tables of few pairs that one launch partitions, and of more work-groups for large counts: each mistake is named.

- A shape of the test target is changed in one place; the error names the key.
- Rows of a plan for counts with more work-groups begin where others end, and scratch has room for their counts.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sorts import radix_params as params

from hsgen.algorithms import radix
from hsgen.algorithms.radix.hybrid import pair_partition, pairs
from hsgen.core.errors import Usage
from hsgen.core.interpreter import launches, scratch_bytes
from hsgen.core.keys import KEYS, Signature
from hsgen.core.scratch import scratch_limit
from hsgen.core.sort import Sort
from hsgen.targets import target

LANES = Path(__file__).parents[1] / "device/lanes"
WAITLESS, PARTS = ((LANES / f"{name}.toml").read_text(encoding="utf-8") for name in ("waitless8", "webgpu4"))
PAIRS = "pair_partition = { above = 60, work_group = 32, items = 3, bins = 16 }\n"
BUCKET = "pair_bucket = { work_group = 8, items = 4, bins = 16 }\n"
BAD = [
    (PAIRS, PAIRS.replace(", items = 3", ""), r"pair_partition\.items: missing"),
    (PAIRS, PAIRS.replace("above = 60, ", ""), r"pair_partition\.above: missing"),
    (
        PAIRS,
        "pair_partition = {}\n",
        r"pair_partition: is empty; write pair_partition = \{ work_group = \.\.\., items = \.\.\., above",
    ),
    (PAIRS, "pair_partition = 3\n", r"pair_partition: 3 is not a table; write pair_partition = "),
    (PAIRS, PAIRS.replace("bins", "bin"), r"pair_partition\.bin: unknown key; did you mean pair_partition\.bins"),
    ("above = 60,", "above = 416,", r"pair_partition\.above: passes are ahead of buckets from 417 pairs on"),
    (PAIRS, PAIRS.replace("group = 32", "group = 12"), r"pair_partition\.work_group: 12 is no power of two"),
    (
        PAIRS,
        PAIRS.replace("group = 32", "group = 512"),
        r"pair_partition\.work_group: 512 lanes exceed the work-group limit",
    ),
    (PAIRS, PAIRS.replace("= 16", "= 12"), r"pair_partition\.bins: 12 bins are no power of two that 8 lanes share out"),
    (PAIRS, PAIRS.replace("= 16", "= 4"), r"pair_partition\.bins: 4 bins are no power of two that 8 lanes share out"),
    (PAIRS, PAIRS.replace("= 16", "= 4096"), r"pair_partition\.bins: a bucket takes \d+ bytes of local memory"),
    (
        BUCKET,
        BUCKET.replace("{ ", "{ above = 60000, "),
        r"pair_bucket\.above: 4096 buckets take \d+ bytes of local memory to count",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_every_mistake_of_dealt_pairs_is_named(old: str, new: str, message: str) -> None:
    assert old in WAITLESS
    with pytest.raises(Usage, match=r"radix\.u32\.hybrid\." + message):
        target.parse(WAITLESS.replace(old, new, 1), "waitless8", "x.toml")


def test_other_tables_have_no_dealt_pairs() -> None:
    """Not without buckets of pairs, keys of 64 bits, or where look-back sorts what buckets do not hold."""
    with pytest.raises(Usage, match=r"pair_partition: there are no buckets of pairs"):
        target.parse(WAITLESS.replace(BUCKET, "", 1), "waitless8", "x.toml")
    last = "bins = 64 }\n"  # of 64-bit keys
    at = WAITLESS.rindex(last) + len(last)
    with pytest.raises(
        Usage, match=r"radix\.u64\.hybrid\.pair_partition: keys of 64 bits and indices exceed the scratch"
    ):
        target.parse(f"{WAITLESS[:at]}{PAIRS}{WAITLESS[at:]}", "waitless8", "x.toml")
    text = (LANES / "pairs8.toml").read_text(encoding="utf-8")
    with pytest.raises(Usage, match=r"pair_partition: what buckets do not hold is left to passes that count"):
        target.parse(text.replace(BUCKET, BUCKET + PAIRS, 1), "pairs8", "x.toml")


@pytest.mark.parametrize("key", ["u32", "u16", "u64"])
@pytest.mark.parametrize("value", ["none", "v4", "index", "v8", "index64"])
def test_which_forms_are_dealt(key: str, value: str) -> None:
    sort = target.find("webgpu-subgroups").default(KEYS[key].name, Signature(value=value))
    p = params(sort)
    expected = key == "u32" and value in ("v4", "index")
    assert p.partitions_pairs == expected == ("pair_partition" in {k.name for k in radix.kernels(p)})
    if expected:
        assert (
            pairs.limit(p) * p.pair_partition_radix
            >= pair_partition.most(p)
            > pairs.limit(p) * p.pair_partition_radix // 2
        )


def sort_of(text: str, key: str = "u32", value: str = "none") -> Sort:
    return target.parse(text, "webgpu4", "x.toml").default(key, Signature(value=value))


@pytest.mark.parametrize(("key", "value"), [("u32", "none"), ("u32", "v4"), ("u8", "none"), ("u32", "v16")])
def test_large_counts_have_more_work_groups(key: str, value: str) -> None:
    sort = sort_of(PARTS, key, value)
    p, few = params(sort), sort_of(PARTS.replace("large_groups = 12\n", ""), key, value)
    assert p.large_from in radix.test_counts(p, 1 << 20)
    for n in (p.large_from - 1, p.large_from, p.large_from + 1, 4 * p.large_from):
        tiles, most = -(-n // p.tile), p.large_groups if n > p.large_from else p.groups
        for name in ("count", "scatter", "copy"):
            (groups,) = {x.groups for x in launches(sort.plan, n, in_place=False) if x.step.kernel == name}
            assert groups == min(tiles, most)
        rows = 4 * p.radix * (min(tiles, most) - min(tiles, p.groups))
        assert scratch_bytes(sort, n) == scratch_bytes(few, n) + rows <= scratch_limit(n, p.key.bytes + 16)
        assert 40 * rows <= n * (p.key.bytes + p.signature.value_bytes) + 4 * p.radix * 40


def test_mistakes_of_more_work_groups_are_named() -> None:
    for old, new, message in (
        ("large_groups = 12", "large_groups = 8", r"large_groups: 8 work-groups are no fewer"),
        ("groups = 8\n", "groups = 8\nsorted_exit = true\n", r"sorted_exit: each work-group reports alone"),
    ):
        assert old in PARTS
        with pytest.raises(Usage, match=message):
            target.parse(PARTS.replace(old, new, 1), "webgpu4", "x.toml")


def test_kernels_with_64_bit_indices_have_no_more_work_groups() -> None:
    p = params(sort_of(PARTS))
    assert replace(p, index64=True).most_groups == p.groups < p.most_groups == p.large_groups
