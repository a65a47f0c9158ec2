"""Blocks that one sequential lane sorts by rows, on CPU devices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from changed_templates import Change, templates
from every import direct
from nightly import nightly
from sorts import sort_by

from hsgen.algorithms import bitonic
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.operations.inputs import KINDS, Keys
from hsgen.targets import target
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

__all__ = ["templates"]
TYPED = Signature(key_transform=True)


def small(key: str, signature: Signature = PLAIN) -> bitonic.Params:
    """Blocks of 256 to 1024 keys: of u32, one to four runs that are sorted in registers; of u64, four to sixteen."""
    p = bitonic.Params(
        key=KEYS[key],
        subgroup=1,
        height=16,
        slabs=16,
        clean_slabs=16,
        local_scale=4,
        flip_scale=2,
        half_scale=2,
        stream_group=16,
        path_from=256,
        row_block=1024,
        path_walks=True,
        signature=signature,
    )
    assert not bitonic.problems(p, target.find("cpu").device)
    return p


def sort_of(key: str, signature: Signature = PLAIN) -> Sort:
    """Return the sort of the small shape."""
    sort = sort_by("bitonic", small(key, signature), signature)
    assert [k.name for k in sort.kernels] == ["row_block", "path"]
    return sort


@pytest.mark.device
@pytest.mark.parametrize(
    ("host", "key", "signature"),
    [
        ("embedded", "u32", PLAIN),
        ("embedded", "u64", PLAIN),
        ("embedded", "u32", TYPED),
        ("embedded", "u32", Signature(value="v4")),
        ("embedded", "u32", Signature(value="v16", key_transform=True)),
        ("embedded", "u32", Signature(value="index", key_transform=True)),
        nightly("embedded", "u32", Signature(value="v8")),
        ("pocl", "u32", Signature(value="v4")),
        nightly("embedded", "u64", TYPED),
        ("pocl", "u32", PLAIN),
        nightly("pocl", "u64", TYPED),
    ],
)
def test_every_count_sorts(host: str, key: str, signature: Signature, request: pytest.FixtureRequest) -> None:
    """Each width of the last block, in and out of place between guard bytes, with each kind of keys; and counts with
    each number of merges by paths."""
    engine, kinds = direct(request.getfixturevalue(host), sort_of(key, signature)), list(KINDS)
    counts = [*range(0, 2100, 1 if signature == PLAIN and host == "embedded" else 7)]
    counts += [(256 << level) + d for level in range(5) for d in (-1, 0, 1)]
    report = validation.run(engine, [(n, kinds[i % len(kinds)]) for i, n in enumerate(counts)], 1, stop=1)
    assert not report.failed, report.failures


def half_greatest(n: int, key: str) -> Keys:
    """Return keys of which every second is the greatest key: each run ends in as many."""
    keys = np.arange(n).astype(f"u{KEYS[key].bytes}")[::-1].copy()
    keys[::2] = np.iinfo(keys.dtype).max
    return keys


def problem(host: object, sort: Sort, keys: Keys, *, in_place: bool = False) -> str | None:
    """Return what is wrong with the result for some keys."""
    rng = np.random.default_rng(4)
    call = validation.call(sort, keys, Options(), in_place=in_place, count=None, rng=rng)
    wrong: str | None = Frame(direct(host, sort), len(keys)).run(call)  # type: ignore[arg-type]
    return wrong


@pytest.mark.device
@pytest.mark.parametrize("key", ["u32", "u64"])
def test_greatest_keys_are_told_from_the_padding(embedded: object, key: str) -> None:
    for n in (512, 700, 1023, 1024, 2048, 5000):
        assert problem(embedded, sort_of(key), half_greatest(n, key)) is None


# Faults that access nothing beyond the tile.
FAULTS: dict[str, tuple[str, str, int]] = {
    "slots without a key are not padded": (
        "keys > 0 ? keys : 0; i < {{ run + row }}",
        "{{ run }}; i < {{ run + row }}",
        500,
    ),
    "a chain passes the end of its run": ("< last[{{ c }}] ?", "< last[{{ c }}] + {{ 2 * row }} ?", 2048),
    "a chain starts at the second run": ("second + d - low", "second", 512),
    "chains store to one place": ("{{ row }}) + d;", "{{ row }});", 512),
    "rows are half transposed": ("unroll(row | lg, variable", "unroll((row | lg) - 1, variable", 256),
    "a part is not reversed": ("hs_row_reverse(r[{{ pair", "(r[{{ pair", 256),
    "the last keys are not stored": (
        "for (; i < count; i++) destination",
        "for (; i < count - 1; i++) destination",
        511,
    ),
}


@pytest.mark.device
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_noticed(embedded: object, templates: Change, fault: str) -> None:
    old, new, n = FAULTS[fault]
    templates("bitonic/row_block.j2", old, new)
    keys = np.random.default_rng(7).integers(0, 2**32, n, np.uint32)
    assert problem(embedded, sort_of("u32"), keys) or problem(embedded, sort_of("u32"), half_greatest(n, "u32"))


# The same with values, in a sort in place.
VALUED_FAULTS = {
    "keys of a block have the indices of their run": ("(hs_tagged_row)(first + %s)", "(hs_tagged_row)(%s)"),
    "values are stored before all are loaded": (
        "kept[j] = values_in[start + hs_pair_index(tile[from + j])];",
        "values_out[start + j] = kept[j] = values_in[start + hs_pair_index(tile[from + j])];",
    ),
    "keys without a row have the indices of their row": ("hs_make_pair(%s, %s)", "hs_make_pair(%s, 0 * (%s))"),
}


@pytest.mark.device
@pytest.mark.parametrize("fault", VALUED_FAULTS)
def test_faults_with_values_are_noticed(embedded: object, templates: Change, fault: str) -> None:
    signature, keys = Signature(value="v4"), np.random.default_rng(9).integers(0, 2**32, 500, np.uint32)
    assert problem(embedded, sort_of("u32", signature), keys, in_place=True) is None
    templates("bitonic/row_block.j2", *VALUED_FAULTS[fault])
    assert problem(embedded, sort_of("u32", signature), keys, in_place=True) is not None


@pytest.mark.device
def test_tiles_of_the_argument_cover_a_merge(embedded: object) -> None:
    """With half of the tiles of a merge missing, the result is wrong: tiles have the size that the plan says."""
    complete = sort_of("u32")
    steps = tuple(
        replace(s, grid=replace(s.grid, mul=s.grid.mul // 2)) if s.kernel == "path" and s.grid.mul > 1 else s
        for s in complete.plan.steps
    )
    sort = replace(complete, plan=replace(complete.plan, steps=steps))
    keys = np.random.default_rng(8).integers(0, 2**32, 20_000, np.uint32)
    assert problem(embedded, complete, keys) is None and problem(embedded, sort, keys) is not None
