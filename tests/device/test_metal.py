"""Metal's kernels, run as C++ for OpenCL on the embedded CPU device: whole sorts against numpy, between guard bytes.

This shim is not Apple's compiler: it shows that the text is complete and that the kernels sort, in SIMD groups of 32
lanes and without.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import missing
from nightly import nightly

from hsgen.cli import main
from hsgen.core.errors import Unavailable
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source
from hsgen.engines import metal_shim
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.system import toolchain
from hsgen.targets import target
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device
LANES = str(Path(__file__).with_name("lanes") / "simd32.toml")
SIXTEEN = str(Path(__file__).with_name("lanes") / "lanes16.toml")  # its pairs of key and index compile in a second
ALL = {"key_transform": True, "bit_range": True, "device_count": True}

SORTS = [
    ("apple-m1", "auto", "u32", Signature()),
    ("apple-m1", "radix", "u8", Signature(value="v4", key_transform=True)),
    (SIXTEEN, "bitonic", "u32", Signature(run_boundaries=True)),
    (SIXTEEN, "bitonic", "u64", Signature(value="v8", key_transform=True, device_count=True)),
    (LANES, "radix", "u32", Signature(value="index", **ALL)),
    (LANES, "scan-look", "u32", Signature()),
]
"""With and without exchanges between lanes; match-by-ballot, look-back, pairs of key and index, all call options, and
run boundaries."""

MORE = [
    ("apple-m1", "auto", "u64", Signature(value="v16", **ALL)),
    ("apple-m1", "auto", "u32", Signature(run_boundaries=True)),
    ("apple-m1", "auto", "u64", Signature()),
    ("apple-m1", "auto", "u32", Signature(value="packed", key_transform=True, bit_range=True)),
    ("apple-m1", "radix-radix16", "u64", Signature(bit_range=True, device_count=True)),
    ("apple-m1", "radix", "u16", Signature(value="v8", **ALL)),
    *(
        ("apple-m1", "bitonic", "u64", Signature(value=v, key_transform=True, device_count=True))
        for v in ("v4", "index", "index64")
    ),
    (LANES, "auto", "u32", Signature(value="v16", **ALL)),
    (LANES, "auto", "u64", Signature(value="v4", **ALL)),
    (LANES, "bitonic", "u32", Signature()),
    (LANES, "bitonic", "u64", Signature(value="v8", key_transform=True, device_count=True)),
    (LANES, "radix", "u64", Signature()),
    (LANES, "radix-broadcast", "u32", Signature()),
    (LANES, "radix-flags", "u16", Signature(key_transform=True)),
    (LANES, "radix-walk", "u8", Signature(value="index", device_count=True)),
    (LANES, "scan-look", "u64", Signature()),
    (LANES, "scan-sums", "u64", Signature()),
    ("cpu", "auto", "u32", Signature(**ALL)),
    ("nvidia-sm35", "radix", "u64", Signature(value="v4", **ALL)),
    ("amd-gcn", "radix", "u32", Signature()),  # ballots of 64 lanes
]


def name(case: tuple[str, str, str, Signature]) -> str:
    """The id of a case."""
    where, label, key, signature = case
    words = [
        Path(where).stem,
        label,
        key,
        signature.value,
        "key_transform" * signature.key_transform,
        "bit_range" * signature.bit_range,
    ]
    return "-".join(
        filter(None, [*words, "device_count" * signature.device_count, "changes" * signature.run_boundaries])
    )


def report(host: Host, sort: Sort, source: Source, counts: int = 40) -> validation.Report:
    """Run some of the cases of a quick validation, in and out of place, by ascending count."""
    context = context_for(host)
    engine = Direct(context, Compiled(context, sort, source))
    pairs = validation.plan_cases(sort, full=False, seed=1)
    some = [*pairs[:: -(-len(pairs) // (counts - 1))], max(pairs)]
    assert max(n for n, _ in some) >= validation.reach(sort.plan)
    made = validation.run(engine, some, 1)
    assert made.cases == 2 * len(some) > counts
    return made


@pytest.mark.parametrize("case", [*SORTS, *map(nightly, MORE)], ids=name)
def test_sorts(embedded: Host, case: tuple[str, str, str, Signature]) -> None:
    where, label, key, signature = case
    sort = target.find(where).sort(label, key, signature)
    assert not (found := report(embedded, sort, metal_shim.source(sort))).failures, found.failures


def test_a_wrong_kernel_is_found(embedded: Host) -> None:
    """Proves that the check above can fail."""
    sort = target.find("apple-m1").sort("radix", "u8")
    source = metal_shim.source(sort)
    wrong = replace(source, prelude=source.prelude.replace("atomic_fetch_add_explicit(", "atomic_fetch_or_explicit("))
    assert wrong.prelude != source.prelude
    assert report(embedded, sort, wrong, 12).failed


def test_the_language_is_reported(
    embedded: Host, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    plan_cases = validation.plan_cases
    monkeypatch.setattr(validation, "plan_cases", lambda *a, **more: plan_cases(*a, **more)[::100])
    assert main(["validate", "-t", "apple-m1", "--api", "metal", "--key", "u8", "--json"]) == 0
    out, err = capfd.readouterr()
    assert "metal: the kernels run as C++ for OpenCL, not as Apple's compiler makes them" in err
    (row,) = json.loads(out)
    assert row["api"] == "metal" and row["failures"] == 0 and row["cases"] > 40
    assert row["device"].endswith(", as C++ for OpenCL")


def test_where_nothing_takes_the_language(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(metal_shim, "hosts", lambda: [])
    with pytest.raises(Unavailable, match="no OpenCL device that takes C\\+\\+ for OpenCL 2021"):
        metal_shim.takers()
    assert main(["validate", "-t", "apple-m1", "--api", "metal"]) == 3
    assert "no OpenCL device that takes" in capfd.readouterr().err


def test_a_device_without_the_language_is_passed_over(embedded: Host) -> None:
    """PoCL does not support it."""
    shown = [h for h in metal_shim.hosts() if h.platform == "Portable Computing Language"]
    if not shown:
        missing("PoCL (apt-get install pocl-opencl-icd)")
    assert toolchain.pyopencl() and embedded in metal_shim.takers() and shown[0] not in metal_shim.takers()
