"""``--key``, ``--value``, ``--order`` and ``--feature``: what is generated, recorded, shown, validated and measured."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faulty import Spoiled
from nightly import NIGHTLY, nightly
from offline import TEXT

from hsgen.bundle import manifest
from hsgen.bundle.manifest_parser import parse_manifest
from hsgen.bundle.selection import sorts
from hsgen.cli import engines, main
from hsgen.core.errors import Usage, Wrong
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, TYPES, VALUES, Signature
from hsgen.engines.engine import KEYS_OUT, VALUES_OUT
from hsgen.engines.hosts import Host
from hsgen.operations.oracle import ordered
from hsgen.targets import target
from hsgen.tools import bench

TINY = Path(__file__).parents[1] / "device/lanes/forms1.toml"
OPENCL = ("generate", "-t", "intel-gen8", "--api", "opencl")


def generate(folder: Path, *more: str, check: bool = NIGHTLY) -> dict[str, Any]:
    """Run a `generate` that must succeed; return the manifest's entry for intel-gen8.

    check: assert that the bundle is up to date then, which generates everything again.
    """
    assert main([*OPENCL, *more, "-o", str(folder)]) == 0
    assert not check or main(["check", "-o", str(folder)]) == 0
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())["targets"]["intel-gen8"]
    return found


def files(folder: Path) -> list[str]:
    """The sorts whose kernels a bundle holds, without file suffix."""
    kernels = {p.stem for p in (folder / "targets/intel-gen8/kernels/opencl").iterdir()}
    assert kernels == {p.stem for p in (folder / "targets/intel-gen8/plans").iterdir()}
    return sorted(kernels)


def plan(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"targets/intel-gen8/plans/{name}.json").read_text())
    return found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", ["auto_u32", "auto_u64"]),
        ("--key f32", ["auto_u32"]),
        ("--key f32 --key i32 --key u16", ["auto_u16", "auto_u32"]),
        ("--value v4", ["auto_u32_v4", "auto_u64_v4"]),
        ("--value none --value packed", ["auto_u32", "auto_u32_packed", "auto_u64"]),
        ("--value packed", ["auto_u32_packed"]),
        ("--key i64 --value index --value v16", ["auto_u64_index", "auto_u64_v16"]),
        ("--key u32 --order both --feature bit-range --feature device-count", ["auto_u32"]),
        ("--key u32 --key u8 --algorithm radix --algorithm bitonic", ["bitonic_u32", "radix_u32", "radix_u8"]),
    ],
)
def test_a_bundle_holds_exactly_the_requested_sorts(tmp_path: Path, options: str, expected: list[str]) -> None:
    entry = generate(tmp_path / "bundle", *options.split(), check=True)
    checks = {name.replace("auto", "digest") for name in expected if name.startswith("auto")}
    checks |= {name.replace("_index", "_v8" if "index64" in name else "_v4") for name in checks if "_index" in name}
    assert files(tmp_path / "bundle") == sorted({*expected, *checks})
    assert sorted(entry["sorts"]) == sorted({*expected, *checks})


def test_all_forms_at_once(tmp_path: Path) -> None:
    """Every type, value and feature: one sort per width and value; key-high u64 for 32-bit keys only."""
    every = [f"--key={t}" for t in TYPES] + [f"--value={v}" for v in VALUES]
    entry = generate(
        tmp_path / "bundle", *every, "--order", "both", "--feature", "bit-range", "--feature", "device-count"
    )
    ends = ["" if v == "none" else f"_{v}" for v in VALUES if v != "packed"]
    expected = {f"auto_{k}{e}" for k in ("u8", "u16", "u32", "u64") for e in ends} | {"auto_u32_packed"}
    checks = {name.replace("auto", "digest") for name in expected}
    assert set(files(tmp_path / "bundle")) == {*expected, *checks} and len(entry["sorts"]) == 2 * len(expected)
    assert not any(plan(tmp_path / "bundle", name)["device_count"] for name in checks)
    for name in expected:
        made = plan(tmp_path / "bundle", name)
        assert made["key_transform"] and made["bit_range"] and made["device_count"]


def test_the_manifest_records_the_choice(tmp_path: Path) -> None:
    plain = generate(tmp_path / "plain")
    words = ("keys", "apis", "algorithms", "values", "orders", "features")
    assert [plain[w] for w in words] == [["u32", "u64"], ["opencl"], ["auto", "digest"], ["none"], ["ascending"], []]
    options = "--key f32 --key u8 --value index --value v4 --order descending --feature device-count"
    some = generate(tmp_path / "some", *options.split())
    assert some["keys"] == ["u8", "f32"] and some["values"] == ["v4", "index"]
    assert some["orders"] == ["descending"] and some["features"] == ["device-count"]
    assert json.loads((tmp_path / "some/manifest.json").read_text())["schema"] == manifest.SCHEMA == 3


@pytest.mark.parametrize("schema", [1, 2])
def test_manifests_of_older_schemas_mean_plain_keys(tmp_path: Path, schema: int) -> None:
    generate(tmp_path, "--key", "u32")
    raw = json.loads((tmp_path / "manifest.json").read_text())
    raw["schema"] = schema
    for word in ("values", "orders", "features"):
        del raw["targets"]["intel-gen8"][word]
    (tmp_path / "manifest.json").write_text(json.dumps(raw))
    choice = parse_manifest((tmp_path / "manifest.json").read_bytes(), "here").targets["intel-gen8"].choice
    assert (choice.values, choice.orders, choice.features) == (("none",), ("ascending",), ())
    assert choice.signature() == PLAIN
    assert main(["generate", "-o", str(tmp_path)]) == 0  # updates the manifest
    assert json.loads((tmp_path / "manifest.json").read_text())["schema"] == 3
    assert files(tmp_path) == ["auto_u32", "digest_u32"]


def test_requests_are_merged_with_the_bundle(tmp_path: Path) -> None:
    """Types, orders and features then apply to every sort of the target."""
    generate(tmp_path, "--key", "u32")
    assert not plan(tmp_path, "auto_u32")["key_transform"]
    entry = generate(tmp_path, "--key", "f32", "--value", "v8", check=True)
    assert entry["keys"] == ["u32", "f32"] and entry["values"] == ["none", "v8"]
    assert files(tmp_path) == ["auto_u32", "auto_u32_v8", "digest_u32", "digest_u32_v8"]
    assert plan(tmp_path, "auto_u32")["key_transform"]
    entry = generate(tmp_path, "--key", "u32", "--feature", "bit-range", "--order", "descending", check=True)
    assert entry["orders"] == ["ascending", "descending"] and entry["features"] == ["bit-range"]
    assert all(plan(tmp_path, name)["bit_range"] for name in files(tmp_path))
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert main(["generate", "-o", str(tmp_path)]) == 0
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_widened_choices_keep_their_order() -> None:
    found = target.find("intel-gen8")
    one = manifest.choose(found, ["f32"], (), (), values=["v4"], orders=["descending"], features=["device-count"])
    other = manifest.choose(found, ["u8", "u64"], (), ["radix"], values=["packed", "none"], features=["bit-range"])
    both = manifest.widened(one, other, found)
    assert both == manifest.widened(other, one, found)
    assert both.keys == ("u8", "u64", "f32") and both.widths == ("u8", "u32", "u64")
    assert both.values == ("none", "v4", "packed") and both.features == ("bit-range", "device-count")
    assert both.algorithms == ("auto", "radix") and both.orders == ("ascending", "descending")
    assert both.signature("v4") == Signature(value="v4", key_transform=True, bit_range=True, device_count=True)


@pytest.mark.parametrize(
    ("options", "added"),
    [
        ("--key u32", ""),
        ("--key u64 --value v16", " --value v16"),
        ("--key i32 --feature device-count", " --order both --feature device-count"),
        ("--key u32 --value packed --feature bit-range", " --value packed --feature bit-range"),
    ],
)
def test_headers_name_a_command_that_makes_the_same(tmp_path: Path, options: str, added: str) -> None:
    generate(tmp_path / "a", *options.split())
    name = files(tmp_path / "a")[0]
    path = f"targets/intel-gen8/kernels/opencl/{name}.cl"
    text = (tmp_path / "a" / path).read_text()
    command = next(x for x in text.splitlines() if x.startswith("// hsgen generate ")).removeprefix("// hsgen ")
    assert command.endswith(f" --algorithm auto{added}")
    assert main([*command.split(), "-o", str(tmp_path / "b")]) == 0
    assert (tmp_path / "b" / path).read_text() == text


def test_a_plan_states_its_signature(tmp_path: Path) -> None:
    generate(tmp_path, "--key", "u32", "--value", "packed", "--value", "v8", "--feature", "bit-range")
    packed, pairs = plan(tmp_path, "auto_u32_packed"), plan(tmp_path, "auto_u32_v8")
    head = ("schema", "key", "key_bytes", "value", "value_bytes", "first_bit", "bits", "bit_range", "device_count")
    assert [packed[x] for x in head] == [5, "u32", 8, "packed", 0, 32, 32, True, False]
    assert [pairs[x] for x in head] == [5, "u32", 4, "v8", 8, 0, 32, True, False]
    sort = target.find("intel-gen8").default("u32", Signature(value="v8", bit_range=True))
    assert [(s["argument"]["kind"], s["guard"]["range"]) for s in pairs["steps"]] == [
        (s.argument.kind, s.guard.range) for s in sort.plan.steps
    ]
    assert {s["guard"]["range"] for s in pairs["steps"]} >= {"whole", "part"}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("generate -t cpu --key f8", "'f8' is not one of 'u8', 'u16', 'u32', 'u64', 'i8'"),
        ("generate -t cpu --value v32", "'v32' is not one of 'none', 'v4', 'v8', 'v16', 'index'"),
        ("generate -t cpu --order down", "'down' is not one of 'ascending', 'descending', 'both'"),
        ("generate -t cpu --feature stable", "'stable' is not one of 'bit-range', 'device-count'"),
        (
            "generate --value v4",
            "--epilogue, --max-n, --api, --algorithm and --glsl-only choose within a target; name it",
        ),
        ("generate --order both", "choose within a target; name it with -t"),
        ("generate --feature device-count", "choose within a target; name it with -t"),
        ("generate -t cpu --key u64 --value packed", "value packed goes with keys of 32 bits"),
        ("generate -t cpu --key u32 --key u64 --value packed", "has no auto for u64 with value packed"),
        (
            "generate -t cpu --algorithm bitonic --feature bit-range",
            "no bitonic for u32 keys with a bit range; radix sorts",
        ),
        ("generate -t cpu --algorithm bitonic --key u8", "has no bitonic for u8; `hsgen targets` lists what it has"),
        (
            "generate -t cpu --algorithm scan-x1 --value v4",
            "scan-x1 sums up plain elements alone, not u32, u64 with value",
        ),
        ("generate -t cpu --algorithm scan-x1 --order both", "scan-x1 sums up plain elements alone, not u32, u64 with"),
        ("generate -t cpu --algorithm scan-x1 --key f64", "no scan-x1 for f64 keys with floats"),
        ("generate -t swiftshader --key u8", "target swiftshader: has no key u8; it has u32, u64, i32, i64, f32, f64"),
        ("show cpu --key u64 --value packed", "value packed: goes with keys of 32 bits, not with u64"),
        ("show cpu --algorithm bitonic --feature bit-range", "no bitonic for u64 keys with a bit range"),
        ("validate -t cpu --key u64 --value packed", "value packed goes with keys of 32 bits"),
        ("validate -t cpu --algorithm bitonic --feature bit-range", "no bitonic for u32 keys with a bit range"),
        ("bench -t cpu --key f32 --against numpy", "baseline numpy: cannot sort in this way; omit baselines"),
        (
            "bench -t cpu --key u32 --value v4 --against std",
            "baseline std: cannot sort in this way; take numpy, numpy-quick, lsd",
        ),
        ("bench -t cpu --key u8 --against vqsort", "baseline vqsort: cannot sort in this way; take numpy, or none"),
        ("bench -t cpu --key u32 --value index64 --against numpy", "baseline numpy: cannot sort in this way"),
        ("bench -t cpu --key u32 --bits 8", "bits 8: is no range; write the first bit and the end, exclusive"),
        ("bench -t cpu --key u32 --bits 8..33", "bits 8 to 33: give a range in order, within 0 to 32"),
        ("bench -t cpu --key u32 --bits 8..4", "bits 8 to 4: give a range in order, within 0 to 32"),
        ("bench -t cpu --algorithm bitonic --bits 0..8", "no bitonic for u32 keys with a bit range"),
    ],
)
def test_options_that_exclude_each_other_exit_with_2(
    arguments: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    if arguments.startswith(("validate", "bench")):
        request.getfixturevalue("embedded")
    monkeypatch.chdir(tmp_path)
    assert main(arguments.split()) == 2
    out, err = capsys.readouterr()
    assert line in err and err.count("\n") == 1 and not out
    assert list(tmp_path.iterdir()) == []


def test_a_feature_that_a_bundle_cannot_take_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate(tmp_path, "--key", "u32", "--algorithm", "bitonic")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    capsys.readouterr()
    assert main([*OPENCL, "--key", "u32", "--feature", "bit-range", "-o", str(tmp_path)]) == 2
    assert "no bitonic for u32 keys with a bit range" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_prefix_sums_stay_plain_next_to_other_signatures() -> None:
    found = target.find("cpu")
    choice = manifest.choose(
        found, ["u32", "f32"], (), ["auto", "scan-x1"], values=["none", "v4"], features=["device-count"]
    )
    made = {s.file: s.signature for s in sorts(found, choice, choice.keys)}
    specialize = {"key_transform": True, "device_count": True}
    assert made == {
        "auto_u32": Signature(**specialize),
        "auto_u32_v4": Signature(value="v4", **specialize),
        "scan-x1_u32": PLAIN,
        "scan-x1_f32": Signature(floats=True),
    }


# Shown


def test_targets_lists_narrow_keys_where_the_device_has_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "--json"]) == 0
    rows = {r["name"]: r for r in json.loads(capsys.readouterr().out)}
    assert {"algorithm": "radix", "key": "u8"} in rows["cpu"]["sorts"]
    assert {"algorithm": "bitonic", "key": "u8"} not in rows["cpu"]["sorts"]
    assert rows["cpu"]["types"] == list(TYPES)
    assert {s["key"] for s in rows["swiftshader"]["sorts"]} == {"u32", "u64"}
    assert main(["targets"]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("cpu "))
    assert " auto/u8,u16,u32,u64 " in line and " bitonic/u32,u64 " in line


def test_show_lists_what_a_sort_supports(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*options: str) -> dict[str, dict[str, Any]]:
        assert main(["show", "generic", "--json", *options]) == 0
        return {r["sort"]: r for r in json.loads(capsys.readouterr().out)}

    plain = shown()
    assert {"generic/auto_u32", "generic/scan-x1_u64"} <= set(plain) and "generic/auto_u8" not in plain
    radix, merge = plain["generic/radix_u32"], plain["generic/bitonic_u32"]
    assert radix["serves"] == ["v4", "v8", "v16", "index", "index64", "packed", "types", "bit-range", "device-count"]
    assert "bit-range" not in merge["serves"] and "v4" in merge["serves"]
    assert plain["generic/scan-x1_u32"]["serves"] == []
    narrow = shown("--key", "i16", "--value", "v4", "--plan", "1000")
    assert list(narrow) == ["generic/auto_u16_v4", "generic/radix_u16_v4"]
    record = narrow["generic/radix_u16_v4"]
    assert (record["key"], record["value"], record["key_transform"]) == ("u16", "v4", True)
    assert record["roof_share"] == pytest.approx(2 * 1000 * (2 + 4) / record["bytes"], abs=1e-4)
    assert main(["show", "generic", "--key", "i16", "--value", "v4"]) == 0
    assert "generic/auto_u16_v4: up to 1073741823 keys, with v4, all types of this width" in capsys.readouterr().out


# On a device


def test_validate_runs_each_requested_sort(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    command = "validate --algorithm radix --key u16 --value v4 --value index --order both --json --device"
    assert main([*command.split(), embedded.platform, "-t", str(TINY)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r["key"], r["value"], r["key_transform"], r["features"]) for r in rows] == [
        ("u16", "v4", True, []),
        ("u16", "index", True, []),
    ]
    assert all(r["cases"] > 500 and r["failures"] == 0 for r in rows)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A target whose kernels compile quickly."""
    path = tmp_path / "small.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_bench_measures_keys_with_values(embedded: Host, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = f"bench -t {small}"
    device = ["--device", embedded.platform]
    command = f"{own} --key f32 --key u32 --value v8 --value none --order both --sizes 3000 --rounds 2"
    assert main([*command.split(), *device, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    found = [(r["key"], r["value"], r["order"]) for r in rows if r["baseline"] is None]
    assert found == [
        (key, value, order) for value in (None, "v8") for key in ("u32", "f32") for order in ("ascending", "descending")
    ]
    assert [(r["key"], r["value"], r["order"]) for r in rows if r["baseline"] == "numpy"] == [
        ("u32", None, "ascending"),
        ("u32", "v8", "ascending"),
    ]
    assert sum(r["baseline"] == "copy" for r in rows) == len(found)
    assert all(
        r["roof_share"] > 0 and r["bits"] == [0, 32] and not r["device_count"] for r in rows if r["baseline"] is None
    )
    command = f"{own} --key f32 --value v8 --order descending --sizes 3000 --rounds 1"
    assert main([*command.split(), *device]) == 0
    assert re.search(r"^small  f32 down  v8  random\nn +what.*\n3000 +hsgen auto ", capsys.readouterr().out, re.M)


@pytest.mark.parametrize(
    "options", [nightly("--bits 4..20"), "--feature device-count", "--value packed", "--value index --bits 8..8"]
)
def test_bench_measures_features(embedded: Host, small: Path, options: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = "cpu" if "packed" in options else small  # which has no 64-bit keys
    command = f"bench -t {name} --key u32 --sizes 2^12 --rounds 1 --json --against= {options}"
    assert main([*command.split(), "--device", embedded.platform]) == 0
    own, copy = json.loads(capsys.readouterr().out)["rows"]
    assert own["baseline"] is None and copy["baseline"] == "copy"
    assert own["device_count"] == ("count" in options) and own["key"] == "u32"
    assert own["bits"] == ([4, 20] if "4..20" in options else [8, 8] if "8..8" in options else [0, 32])


@pytest.mark.parametrize(
    ("slot", "line"),
    [
        (KEYS_OUT, "hsgen: 1000 uint32 keys came back unsorted"),
        (VALUES_OUT, "hsgen: the values of 1000 keys came back"),
    ],
)
def test_bench_checks_keys_and_values(embedded: Host, slot: int, line: str) -> None:
    engine = engines.direct(embedded, target.find("cpu").default("u32", Signature(value="v4", key_transform=True)))
    how = Options(kind=2, descending=True)
    assert len(list(bench.measure(engine, [1000], (), 1, 1, "", options=how))) == 1
    with pytest.raises(Wrong, match=line):
        list(bench.measure(Spoiled(engine, slot, element=-1), [1000], (), 1, 1, "", options=how))  # type: ignore[arg-type]
    with pytest.raises(Usage, match="baseline numpy: cannot sort in this way"):
        list(bench.measure(engine, [1000], ["numpy"], 1, 1, "", options=how))


def test_the_load_of_a_benchmark_is_random_in_all_bits() -> None:
    """The keys include floats of every kind, and the expected result is in their order."""
    sort = target.find("cpu").default("u32", Signature(value="v4", key_transform=True))
    work = bench.load(sort, 1 << 16, Options(kind=2), np.random.default_rng(3))
    floats = work.keys.view(np.float32)
    assert np.isnan(floats).any() and (floats < 0).any() and (floats > 0).any()
    assert (np.diff(ordered(work.expected, 2, descending=False).astype(np.int64)) >= 0).all()
    assert work.copied == 8 << 16 and work.values is not None and work.values_expected is not None
    pairs = dict(zip(work.values[:, 0].tolist(), work.keys.tolist(), strict=True))
    assert [pairs[v] for v in work.values_expected[:, 0].tolist()] == work.expected.tolist()
