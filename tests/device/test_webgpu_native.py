"""WebGPU through the C runtime and wgpu-native, on Mesa's lavapipe: a tiny sort, and faults that are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from changed_templates import Change, templates
from lavapipe import Lavapipe
from nightly import nightly
from webgpu_lavapipe import TINY, lavapipe

from hsgen.cli import main
from hsgen.cli import tune as tuning
from hsgen.targets import target
from hsgen.tools.tune import runner, search

__all__ = ["lavapipe", "templates"]  # fixtures
BUCKETS = str(Path(__file__).with_name("lanes") / "waitless8.toml")
PARTS = str(Path(__file__).with_name("lanes") / "webgpu4.toml")


@pytest.mark.device
@pytest.mark.parametrize("width", [4, nightly(8), nightly(16)])
def test_parts_of_subgroups_sort(lavapipe: Lavapipe, width: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Kernels with parts of 4 lanes, in subgroups of 4 lanes and more."""
    lavapipe(width)
    code, rows, err = validated(capsys, "--key", "u32", name=PARTS)
    assert code == 0 and rows[0]["failures"] == 0 and rows[0]["cases"] > 500, err


NUMBER = "hs_number = atomicAdd(hs_subgroups[0], 1u)"
LAST_FIRST = "hs_number = {{ k.work_group // k.subgroup - 1 }}u - atomicAdd(hs_subgroups[0], 1u)"
"""How a subgroup gets its number, and the reverse, as it can happen on a GPU."""


@pytest.mark.device
@pytest.mark.parametrize("value", ["none", nightly("v4")])
def test_subgroups_may_be_numbered_in_any_order(
    lavapipe: Lavapipe, templates: Change, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lavapipe(8)
    templates("dialects/wgsl/kernel.j2", NUMBER, LAST_FIRST)
    code, rows, err = validated(capsys, "--key", "u32", "--value", value, "--max-n", "2^10", name=BUCKETS)
    assert code == 0 and rows[0]["failures"] == 0 and rows[0]["cases"] > 500, err


BUCKET_WAYS = [
    (8, "u32", ("--option=limits=1",)),
    nightly(8, "u32", ("--value=v4", "--feature=bit-range", "--feature=device-count")),
    nightly(16, "f32", ("--value=index", "--order=both", "--option=poison=1")),
    nightly(16, "u32", ("--feature=bit-range", "--feature=device-count", "--order=both")),
    nightly(16, "u16", ("--value=v4",)),
    nightly(8, "u32", ("--value=v4", "--option=trusted=1")),
]


@pytest.mark.device
@pytest.mark.parametrize(("width", "key", "more"), BUCKET_WAYS)
def test_buckets_sort_without_forward_progress(
    lavapipe: Lavapipe, width: int, key: str, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Keys dealt into buckets, and pairs that two passes bring there; all within the limits of every implementation."""
    lavapipe(width)
    code, rows, err = validated(capsys, "--key", key, "--max-n", "2^13", *more, name=BUCKETS)
    assert code == 0 and rows[0]["failures"] == 0 and rows[0]["cases"] > 1000, err


@pytest.mark.device
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        nightly(
            "pair_partition", "> {{ p.pair_bucket.size }}u", "> {{ 2 * p.pair_bucket.size }}u"
        ),  # buckets beyond their capacity
        (
            "pair_partition",
            "{{ status.fallback }}u",
            "{{ status.partitioned }}u",
        ),  # uneven keys for which no pass follows
    ],
)
def test_faults_of_dealt_pairs_are_noticed(
    lavapipe: Lavapipe, templates: Change, file: str, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Accesses out of bounds are harmless in WebGPU."""
    lavapipe(8)
    templates(f"radix/hybrid/{file}.j2", old, new)
    code, rows, _ = validated(capsys, "--key", "u32", "--value", "v4", "--max-n", "2^10", name=BUCKETS)
    assert code == 1 and rows[0]["failures"] > 10


@pytest.mark.device
@pytest.mark.parametrize(
    ("has", "file", "needs", "name"),
    [(4, BUCKETS, 8, "waitless8"), nightly(8, "webgpu-subgroups", 32, "webgpu-subgroups")],
)
def test_parts_wider_than_subgroups_are_refused(
    lavapipe: Lavapipe, has: int, file: str, needs: int, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lavapipe(has)
    code, rows, err = validated(capsys, "--key", "u32", name=file)
    assert code == 3 and not rows and f"has no subgroups of {needs} lanes that {name} needs" in err


def validated(
    capsys: pytest.CaptureFixture[str], *arguments: str, name: str = TINY
) -> tuple[int, list[dict[str, Any]], str]:
    """Run a validation: exit code, rows and messages."""
    capsys.readouterr()
    code = main(["validate", "--api", "webgpu", "-t", name, "--device", "llvmpipe", "--json", *arguments])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else [], err


@pytest.mark.device
@pytest.mark.parametrize("width", [4, 8, 16])
def test_the_lanes_of_a_subgroup_are_found_by_a_kernel(lavapipe: Lavapipe, width: int) -> None:
    """wgpu-native does not report them.  A kernel may have parts of a subgroup, so that narrower ones are listed."""
    host = lavapipe(width)
    assert (
        host.widths == tuple(1 << i for i in range(width.bit_length()))
        and host.type == "cpu"
        and host.platform == "llvmpipe"
    )


WAYS = [
    (8, "u32", ("--option=limits=1", "--option=validation=1")),
    *(nightly(w, "u32", ("--value=v4", "--feature=bit-range", "--feature=device-count")) for w in (4, 8, 16)),
    nightly(8, "f32", ("--value=index", "--order=both", "--option=poison=1")),
    nightly(4, "i32", ("--value=v16", "--order=both", "--feature=run-boundaries")),
    nightly(16, "u8", ("--value=v8", "--option=poison=1")),
    nightly(8, "f16", ("--order=both", "--feature=bit-range")),
]


@pytest.mark.device
@pytest.mark.parametrize(("width", "key", "more"), WAYS)
def test_sorts_through_webgpu(
    lavapipe: Lavapipe, width: int, key: str, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every result is right, with the limits that every implementation grants, and WebGPU reports nothing."""
    lavapipe(width)
    code, rows, err = validated(capsys, "--key", key, *more)
    assert code == 0 and len(rows) == 1, err
    row = rows[0]
    widths = {key, f"u{key[1:]}"}  # kernels that transform keys have the label of the width
    assert row["api"] == "webgpu" and row["key"] in widths and "llvmpipe" in row["device"]
    assert row["failures"] == 0 and row["cases"] > 500 and row["greatest_n"] >= 1 << 17


FAULTS = {
    "an offset that is not aligned": (
        "entries[i].offset = ranges[i].offset;",
        "entries[i].offset = ranges[i].offset + 4;",
        "offset",
    ),
    "more bindings than the layout has": ("group.entryCount = count;", "group.entryCount = count - 1;", "bind"),
    "a buffer beyond its end": (
        "entries[i].size = ranges[i].size;",
        "entries[i].size = ranges[i].size + (1u << 20);",
        "size",
    ),
}


@pytest.mark.device
@pytest.mark.parametrize("fault", list(FAULTS))
def test_what_webgpu_reports_fails_a_validation(
    lavapipe: Lavapipe, templates: Change, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    lavapipe(8)
    old, new, word = FAULTS[fault]
    templates("apis/webgpu/hs_webgpu_cache.c", old, new)
    code, _, err = validated(capsys, "--key", "u32")
    assert code == 1 and "WebGPU reports: error: Validation Error" in err and word in err.lower(), err


@pytest.mark.device
def test_a_module_that_does_not_compile(
    lavapipe: Lavapipe, templates: Change, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the place, and comes from creating the sorter."""
    lavapipe(8)
    templates("apis/webgpu/hs_webgpu_create.c", 'enables ? "enable subgroups;\\n" : ""', 'enables ? "" : "oops\\n"')
    templates("apis/webgpu/hs_webgpu_create.c", "hs_webgpu_exchanges(kernels->sort) && ", "")
    code, rows, err = validated(capsys, "--key", "u32")
    assert code == 1 and not rows
    assert "hs_webgpu_create: the driver cannot build a kernel: Validation Error" in err and "oops" in err


@pytest.mark.device
def test_a_write_beyond_scratch_is_caught(
    lavapipe: Lavapipe, templates: Change, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sort in place whose copy of the keys begins where scratch ends."""
    lavapipe(8)
    templates(
        "apis/webgpu/hs_webgpu_record.c",
        "spans[HS_SOURCE].begin += keys;",
        "spans[HS_SOURCE].begin += hs_discarded_at(need);",
    )
    code, _, err = validated(capsys, "--key", "u32")
    assert code == 1 and ("beyond its scratch memory" in err or "WebGPU reports" in err), err


WALKING = """
[radix.u32.per_thread]
bits = 8
items = 64
work_group = 1
subgroup = 1
groups = 8
single = 256
"""


@pytest.mark.device
def test_a_tuning_ends_with_a_validated_shape(
    lavapipe: Lavapipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few races of few shapes, whose best is compared, validated and written as evidence."""
    lavapipe(8)
    text = Path(TINY).read_text(encoding="utf-8").replace('"webgpu1"', '"walking"').replace("= 256", "= 1")
    (tmp_path / "walking.toml").write_text(text.split("[radix")[0] + WALKING, encoding="utf-8")
    monkeypatch.setattr(tuning, "CANDIDATES", 1)
    monkeypatch.setattr(search, "PATIENCE", 1)  # else it races until the budget is spent
    monkeypatch.setitem(runner.Field.run.__kwdefaults__, "cases", 8)
    file, journal = str(tmp_path / "walking.toml"), str(tmp_path / "j")
    named = ["-t", file, "--journal", journal, "--api", "webgpu", "--device", "llvmpipe"]
    code = main(["tune", *named, "--budget", "120s", "--sizes", "2^8,2^10", "--seed", "1", "--write", "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    document = json.loads(out)
    assert document["api"] == "webgpu" and {256, 1024} <= {row["n"] for row in document["rows"]}
    steps = [json.loads(line) for line in Path(journal).read_text(encoding="utf-8").splitlines()]
    assert steps[-1]["what"] == "checked" and steps[-1]["cases"] > 200
    (row,) = target.find(file).evidence
    assert row["api"] == "webgpu" and "tune: u32 radix" in row["result"] and "0 failures" in row["result"]
