"""Subgroup words mean the same in every kernel: kernels without subgroups use none of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from drawing import Bounds, drawn, sorts_of
from nightly import NIGHTLY

from hsgen.apis import APIS
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.dialects.dialect import load
from hsgen.emit.kernels import render
from hsgen.emit.templates import environment
from hsgen.targets import target

MIXED = str(Path(__file__).parents[1] / "device" / "lanes" / "mixed8.toml")
WORDS = re.compile(
    r"\bhs_(?:subgroup_id|lane_id|shuffle_xor|broadcast|ballot|popcount_mask|lanemask_lt|match_bit"
    r"|subgroup_barrier|keep|half|flip|entry_shuffle_xor|pair_shuffle_xor|lanemask)\b|\bHS_LANEMASK_ALL\b"
)
"""Words for kernels with subgroups only, in sorts that have such kernels."""

WORDED = [name for name, api in APIS.items() if not load(environment(), api.dialect).translator]
"""APIs whose kernels have these words: others are translated into another language."""


def alone(sort: Sort, api: str) -> dict[str, str]:
    """The kernels without subgroups of a sort that has others with subgroups."""
    parts = render(sort, api).parts
    if sort.lanes == 1:
        return {}
    return {k.name: parts[k.name] for k in sort.kernels if k.subgroup == 1 and k.name in parts}


@pytest.mark.parametrize("api", WORDED)
@pytest.mark.parametrize(("key", "with_lanes"), [("u32", "radix"), ("u64", "bitonic")])
@pytest.mark.parametrize("signature", [Signature(), Signature(value="v4", key_transform=True)], ids=["keys", "values"])
def test_sorts_with_subgroups_in_one_algorithm_only(api: str, key: str, with_lanes: str, signature: Signature) -> None:
    sort = target.find(MIXED).sort("auto", key, signature)
    assert sort.lanes == 8 and {k.algorithm for k in sort.kernels if k.subgroup > 1} == {with_lanes}
    without = alone(sort, api)
    assert without and not [(k, WORDS.findall(text)) for k, text in without.items() if WORDS.search(text)]
    parts = render(sort, api).parts
    ranks = "scatter" if with_lanes == "radix" else "block_sort_2"
    assert "hs_subgroup_id()" in parts[ranks] and "hs_lane_id()" in parts[ranks]
    if with_lanes == "radix":  # each lane of the merge holds a column: its number is that of a slab
        assert "hs_local_id()" in without["block_sort_16"] and "hs_local_id()" in without["clean"]


@pytest.mark.parametrize("api", WORDED)
def test_sorts_without_subgroups_keep_the_word(api: str) -> None:
    """Without any such kernel, the prelude defines the word, and bundles keep their text."""
    text = render(target.find(MIXED).sort("bitonic", "u32"), api)
    assert "hs_subgroup_id()" in text.parts["clean"] and re.search(r"#define hs_subgroup_id\(\) .*\w", text.prelude)


@pytest.mark.parametrize("seed", range(100 if NIGHTLY else 3))
def test_random_sorts(seed: int) -> None:
    rng = np.random.default_rng([21, seed])
    _, found = drawn(rng, Bounds())
    for sort in sorts_of(rng, found):
        for name, text in alone(sort, "opencl").items():
            assert not WORDS.search(text), (sort.name, name)
