"""The JavaScript runtime of WebGPU under node, with Dawn on lavapipe at several subgroup widths."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from nightly import nightly
from node_scripts import LARGEST, NPM, ROOT, SCRIPTS, SWIFTSHADER, driver, lines, node

from hsgen.cli import main

__all__ = ["driver", "node"]  # fixtures
TARGETS = ("webgpu", "webgpu-cpu", "webgpu-subgroups")
COUNTS = [0, 1, 2, 3, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 2049, 5000]
CALLS = [{}, {"out": True}, {"out": True, "order": "descending", "offset": 256}]
COUNTED = [{"counts": True}, {"counts": True, "out": True}]
BITS = [{"beginBit": 3, "endBit": 9}, {"beginBit": 5, "endBit": 29, "out": True}, {"beginBit": 7, "endBit": 7}]


def generated(folder: Path, *options: str) -> None:
    assert (
        main(
            [
                "generate",
                *(word for name in TARGETS for word in ("-t", name)),
                "--api",
                "webgpu",
                "-o",
                str(folder),
                *options,
            ]
        )
        == 0
    )


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of sorts of all widths; those of 32 bits have all features."""
    folder = tmp_path_factory.mktemp("bundle") / "hs"
    full = ["--order", "both", "--feature", "device-count", "--feature", "bit-range"]
    for value, keys in (("none", ("u32",)), ("v4", ("u32", "f32")), ("index", ("i32",))):
        generated(folder, *(word for key in keys for word in ("--key", key)), "--value", value, *full)
    return folder


@pytest.fixture(scope="session")
def widths(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of sorts of other widths, and of larger values."""
    folder = tmp_path_factory.mktemp("widths") / "hs"
    for value in ("none", "v8"):
        generated(folder, "--key", "u16", "--key", "i8", "--key", "u64", "--value", value, "--order", "both")
    return folder


def compared(node: str, driver: Path, folder: Path, bundle: Path, lanes: int, rows: list[dict[str, Any]]) -> None:
    """Compare sorts with the order of semantics.md at a subgroup width."""
    if driver == SWIFTSHADER and lanes != 4:
        missing(f"no lavapipe (apt-get install mesa-vulkan-drivers), and SwiftShader has no subgroups of {lanes} lanes")
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}, {lanes} lanes")
    environment = {"VK_DRIVER_FILES": str(driver), "LP_NATIVE_VECTOR_WIDTH": str(32 * lanes)}
    request = {"bundle": str(bundle), "seed": seed, "rows": rows, "subgroups": True}
    *results, device = lines(node, "sorts.mjs", request, folder, **environment)
    assert ("SwiftShader" if driver == SWIFTSHADER else "llvmpipe") in device["device"], device
    assert device["widths"] == [lanes, lanes]
    assert device["problems"] == []
    assert len(results) == len(rows)
    for row in results:
        assert row["cases"] > 0 and row["failures"] == 0, row


@pytest.mark.parametrize(("name", "lanes"), [("webgpu", 8), *(("webgpu-subgroups", n) for n in (4, 8, 16))])
def test_sorts_for_gpus(node: str, driver: Path, tmp_path: Path, name: str, lanes: int) -> None:
    """Those that a fallback adapter such as lavapipe does not get by itself, with subgroups that it has."""
    text = (ROOT / f"targets/{name}.toml").read_text(encoding="utf-8").replace(f'name = "{name}"', 'name = "own"', 1)
    text = text.replace("subgroups = [32]", f"subgroups = [{lanes}]").replace("subgroup = 32", f"subgroup = {lanes}")
    text = text.replace("work_group = 128", f"work_group = {4 * lanes}")  # each subgroup has counters
    text = text.replace("work_group = 256", f"work_group = {max(64, 8 * lanes)}")
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    options = ["--api", "webgpu", "--key", "u32", "--key", "f32", "--order", "both", "--feature", "device-count"]
    for value in ("none", "v4"):
        command = ["generate", "-t", str(tmp_path / "own.toml"), *options, "--value", value, "-o", str(tmp_path / "hs")]
        assert main(command) == 0
    some: dict[str, Any] = {"target": "own", "counts": [1, 1025, 2500]}
    rows = [
        {"key": "u32", "value": "v4", "calls": CALLS, **some},
        {"key": "f32", "value": "v4", "calls": COUNTED, **some},
    ]
    rows.append({"key": "f32", "value": "none", "calls": CALLS, **some})
    compared(node, driver, tmp_path, tmp_path / "hs", lanes, rows)


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_sorts_are_right_at_every_width(node: str, driver: Path, bundle: Path, tmp_path: Path, lanes: int) -> None:
    rows = [
        {"key": "u32", "value": "v4", "counts": COUNTS, "calls": CALLS},
        {"key": "u32", "value": "none", "counts": [1000, 2049], "calls": [*CALLS, *BITS]},
        {"key": "f32", "value": "v4", "counts": [7, 1500], "calls": [*CALLS, *COUNTED, *BITS]},
        {"key": "u32", "value": "v4", "counts": [16_385], "calls": COUNTED[1:]},
        {"key": "i32", "value": "index", "counts": [300, 1500], "calls": [*CALLS, {"discardKeys": True}, *BITS]},
    ]
    compared(node, driver, tmp_path, bundle, lanes, rows)


def test_keys_of_other_widths_and_larger_values(node: str, driver: Path, widths: Path, tmp_path: Path) -> None:
    some = [1, 2, 3, 255, 1025, 2051]
    rows = [{"key": key, "value": "none", "counts": some, "calls": CALLS} for key in ("u16", "i8", "u64")]
    rows += [{"key": key, "value": "v8", "counts": some, "calls": CALLS} for key in ("i16", "u8", "f64")]
    compared(node, driver, tmp_path, widths, 4, rows)


REFUSED = {
    "no keys": "keys: there is no buffer",
    "n": "n: -1 is no count from 0 to ",
    "fraction": "n: 2.5 is no count",
    "too many": "n: 1073741824 is no count",
    "small buffer": "keys: 4096 bytes are too few; n = 1025 takes 4100",
    "small size": "keys: 64 bytes are too few; n = 17 takes 68",
    "offset": "keys: offset 128 is not a multiple of 256",
    "usage": "keys: the buffer lacks the usage STORAGE",
    "no buffer": "keys: is neither a GPUBuffer nor",
    "no values": "values: the sort moves values, which are not given",
    "values": "values: the sort was generated without values",
    "half in place": "keysOut and valuesOut: give both",
    "overlap": "keys and valuesOut: the buffers overlap",
    "count overlaps": "keys and count: the buffers overlap",
    "bits": "beginBit 9, endBit 4: give a range in order",
    "order": 'order: "upwards" is neither',
    "order not generated": "order: the sort was generated for ascending order only",
    "count not generated": "count: the sort was generated without device-side counts",
    "range not generated": "beginBit and endBit: the sort was generated for whole keys",
    "scope": "n: 101 is no count from 0 to 100",
    "discard": "discardKeys: only an argsort discards keys",
    "key": 'key: "u33" is no type of keys',
    "value": "u32 with v16: there is no such sort among those given (",
    "type not generated": "i16, ascending: the sort was generated for unsigned ascending keys",
    "created order": 'order: "up" is neither',
    "no sorts": "u32: there is no such sort among those given (none)",
    "device": "device: is no GPUDevice",
    "subgroups": "the sorts need subgroups of 32 lanes; the device has 1 (",
    "kernel": "kernel ",
    "destroyed": "the sorter was destroyed",
}


def test_wrong_calls_are_refused_with_one_sentence(node: str, driver: Path, bundle: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    generated(bare, "--key", "u16")
    request = {"bundle": str(bundle), "bare": str(bare)}
    (got,) = lines(node, "refusals.mjs", request, tmp_path, VK_DRIVER_FILES=str(driver))
    said = got["said"]
    assert said.pop("small scope works") is None
    assert set(said) == set(REFUSED)
    for name, text in REFUSED.items():
        assert (said[name] or "").startswith("hs_webgpu: "), (name, said[name])
        assert text in said[name] and "\n" not in said[name], (name, said[name])
    assert got["untouched"] and got["sorted"] and got["problems"] == []
    assert got["bytes"] >= 3 * 4000


OPERATIONS = {
    "none": ("auto", "segmented_sort", "merge_path", "radix_select", "reduce_by_key", "scan-x1", "scan-x1ex"),
    "v4": ("auto", "digest", "segmented_sort", "merge_path", "gather", "reduce_by_key"),
}
FEATURED = {
    "counted": "--algorithm segmented_sort --feature segment-count --feature bit-range",
    "apart": "--algorithm segmented_sort --feature segment-count --feature bit-range --feature segment-ends",
    "keys": "--algorithm reduce_by_key --feature device-count",
    "rows": "--algorithm radix_select --feature row-takes --feature row-count",
    "tables": "--algorithm radix_select --feature row-lengths --feature value-starts",
}
CASES = {"digest", "segmented sort", "segmented sort in place", "rows in place", "merge", "top k", "gather", "first"}
FEATURED_CASES = {
    f"segments {kind}" for kind in ("counted", "counted in place", "apart", "apart in place", "not counted")
}
FEATURED_CASES |= {"rows counted", "reduce by key counted", "top k of rows", "top k of tables"}
SCANS = {f"scan of {key}{place}" for key in ("u32", "i32", "f32") for place in ("", " in place")}
WRONG = {
    "no output": "keysOut: there is no buffer",
    "the same twice": "keys and otherKeys: the buffers overlap",
    "small": "keysOut: 256 bytes are too few; n = 128 takes 512",
    "values": "values: the merge was generated without",
    "k": "k: 65 is no number from 1 to 64",
    "rows": "rows: 64 keys are not 3 equal rows",
    "no takes": "takes: there is no buffer",
    "takes": "takes: the selection was generated without (--feature row-takes)",
    "segments": "segments: 64 keys are not 3 equal rows; give offsets",
    "offsets": "offsets: 256 bytes are too few; n = 64 takes 260",
    "ends missing": "offsets and ends: give both, or neither for equal rows",
    "ends too small": "offsets: 256 bytes are too few; n = 64 takes 260",
    "ends": "ends: the segmented sort was generated without (--feature segment-ends)",
    "count of segments": "count: the segmented sort was generated without (--feature segment-count)",
    "bits of segments": "beginBit and endBit: the segmented sort was generated for whole keys (--feature bit-range)",
    "digest": "digest: there is no buffer",
    "reduction": 'reduction: "mean" is neither sum, min nor max',
    "no groups": "groups: there is no buffer",
    "no keys": "keys: there is no buffer",
    "items": "table: 256 bytes are too few; n = 64 takes 260",
    "item bytes": "itemBytes: 6 is no multiple of 4",
    "columns": "u32: there is no such scan among those given (u32)",
    "value": 'value: "u64" is neither u32, i32 nor f32',
    "firstN": "firstN: 11 is no count from 0 to 10",
}
FEATURED_WRONG = {"no takes", "ends missing", "ends too small"}


@pytest.mark.parametrize(
    ("name", "features"), [("webgpu-cpu", False), nightly("webgpu-cpu", True), nightly("webgpu", True)]
)
def test_operations_other_than_sorts(node: str, driver: Path, tmp_path: Path, name: str, features: bool) -> None:
    """Digests, prefix sums, segmented sorts, merges, selections, gathers and reductions, and calls that are wrong.

    lavapipe compiles their kernels for a minute or more, so only the nightly run has calls with features.
    """
    featured = FEATURED if features else {}
    shared = ["generate", "-t", name, "--api", "webgpu", "--order", "both"]
    for value, algorithms in OPERATIONS.items():
        some = [word for algorithm in algorithms for word in ("--algorithm", algorithm)]
        keys = ["--key", "u32", "--key", "f32", "--value", value]
        assert main([*shared, *keys, *some, "-o", str(tmp_path / "hs")]) == 0
    indices = ["--key", "u32", "--value", "index", "--algorithm", "radix_select"]
    assert main([*shared, *indices, "-o", str(tmp_path / "more")]) == 0
    for what, words in featured.items():
        plain = ["generate", "-t", name, "--api", "webgpu", "--key", "u32", "--value", "v4"]
        assert main([*plain, *words.split(), "-o", str(tmp_path / what)]) == 0
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}")
    request: dict[str, Any] = {
        "bundle": str(tmp_path / "hs"),
        "more": str(tmp_path / "more"),
        "target": name,
        "seed": seed,
    }
    request["counts"] = [0, 1, 2, 257, 3000]
    request["featured"] = {what: str(tmp_path / what) for what in featured}
    (got,) = lines(node, "operations.mjs", request, tmp_path, VK_DRIVER_FILES=str(driver))
    assert got["failures"] == [] and got["problems"] == []
    cases = {*CASES, *SCANS, "reduce by key"} | (FEATURED_CASES if features else set())
    assert set(got["cases"]) == cases and min(got["cases"].values()) >= 2
    wrong = {what: text for what, text in WRONG.items() if features or what not in FEATURED_WRONG}
    assert set(got["said"]) == set(wrong)
    for what, text in wrong.items():
        said = got["said"][what] or ""
        assert said.startswith("hs_webgpu: ") and text in said and "\n" not in said, (what, said)


def minified(place: Path, bundle: Path, source: str) -> str:
    """What a bundler makes of a page with this module."""
    tool = NPM / "node_modules/.bin/esbuild"
    if not tool.exists():
        missing("no esbuild (npm ci --ignore-scripts --prefix .ci/npm)")
    (place / "node_modules").mkdir()
    (place / "node_modules/hs-webgpu").symlink_to(bundle)
    (place / "page.js").write_text(source, encoding="utf-8")
    command = [str(tool), "page.js", "--bundle", "--minify", "--format=esm", "--log-level=error"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    print(f"{len(done.stdout)} bytes")
    assert len(done.stdout) <= LARGEST
    return done.stdout


def test_bundlers_keep_only_what_is_imported(node: str, bundle: Path, tmp_path: Path) -> None:
    """One key type with values is small, and the sorts of others are dropped."""
    source = 'import { Sorter } from "hs-webgpu/runtime";\nimport sort from "hs-webgpu/webgpu/auto_u32_v4";\n'
    source += 'import { Sorter as unused } from "hs-webgpu";\n'
    source += 'import { ColumnSorter } from "hs-webgpu/columns";\n'
    source += 'import { TopK } from "hs-webgpu/operations";\nexport const made = (device) => '
    source += 'Sorter.create(device, "u32", { value: "u32", sorts: [sort] });\n'
    text = minified(tmp_path, bundle, source)
    assert set(re.findall(r"auto_\w+", text)) == {"auto_u32_v4"}
    assert "firstIndices" not in text and "top_k" not in text
    assert "indexOut" not in text


def test_one_key_type_with_subgroups_is_small(node: str, tmp_path: Path) -> None:
    """Without features: with all of them, the sort has more kernels."""
    name = "webgpu-subgroups"
    words = ["generate", "-t", name, "--api", "webgpu", "--key", "u32", "--value", "v4", "-o", str(tmp_path / "hs")]
    assert main(words) == 0
    source = f'import {{ Sorter }} from "hs-webgpu/runtime";\nimport sort from "hs-webgpu/{name}/auto_u32_v4";\n'
    source += 'export const made = (device) => Sorter.create(device, "u32", { value: "u32", sorts: [sort] });\n'
    assert "pair_partition_bucket" in minified(tmp_path, tmp_path / "hs", source)


def test_the_program_of_the_guide_runs(node: str, driver: Path, bundle: Path, tmp_path: Path) -> None:
    guide = (ROOT / "docs/guides/webgpu.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```js\n(.*?)^```$", guide, re.M | re.S)
    (tmp_path / "sorts").symlink_to(bundle)
    (tmp_path / "program.mjs").write_text(programs[0], encoding="utf-8")
    start = f'import {{ opened }} from "{SCRIPTS / "dawn.mjs"}";\nawait opened("{NPM}");\n'
    start += "Object.defineProperty(globalThis, 'navigator', { value: { gpu: hs_gpu } });\n"
    (tmp_path / "start.mjs").write_text(f'{start}await import("./program.mjs");\nprocess.exit(0);\n', encoding="utf-8")
    environment = {**os.environ, "VK_DRIVER_FILES": str(driver)}
    command = [node, "start.mjs"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1,2,0,3\n"), done.stderr


def test_names_have_the_prefix_of_the_bundle(node: str, tmp_path: Path) -> None:
    generated(tmp_path / "own", "--key", "u32", "--prefix", "my_app")
    assert not list((tmp_path / "own").rglob("hs_*"))
    script = 'const { sorts } = await import("./own/js/index.js"); console.log(sorts.map((s) => s.name).sort().join());'
    command = [node, "--input-type=module", "--eval", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(done.stdout.strip().split(",")) == {f"{t}/{s}_u32" for t in TARGETS for s in ("auto", "digest")}
    assert json.loads((tmp_path / "own/package.json").read_text(encoding="utf-8"))["name"] == "my_app-webgpu"
    assert main(["verify", str(tmp_path / "own")]) == 0


TYPES = """
import { Sorter, sorts, type SortCall } from "hs-webgpu";
import { Sorter as Runtime } from "hs-webgpu/runtime";
import { Digest, GroupBy, Merger, ReduceByKey, SegmentedSorter, TopK } from "hs-webgpu/operations";
import { ColumnSorter, Scanner } from "hs-webgpu";
import { Packer, type Column, type Field } from "hs-webgpu/operations";
import sort from "hs-webgpu/webgpu/auto_u32_v4";
declare const device: GPUDevice, encoder: GPUCommandEncoder, keys: GPUBuffer, values: GPUBuffer, count: GPUBuffer;
const sorter = await Sorter.create(device, "u32", { value: "u32", maxN: 1000 });
sorter.sort(encoder, { keys, values: { buffer: values, offset: 256 }, n: 10, count });
const runtime: Runtime = await Runtime.create(device, "f32", { sorts: [sort, ...sorts], order: "descending" });
const call: SortCall = { keys };
runtime.sort(encoder, call);
export const bytes: number = runtime.scratchBytes(10) + sorter.maxN;
await sorter.prepare(100);
const scanner = await Scanner.create(device, "f32", { columns: 2, exclusive: true });
scanner.record(encoder, { elements: keys, n: 3 });
const merger: Merger = await Merger.create(device, "i16", { value: 8, order: "descending" });
merger.record(encoder, { keys, otherKeys: values, keysOut: count, n: 3, otherN: 4 });
const segments = await SegmentedSorter.create(device, "u32");
segments.record(encoder, { keys, segments: 4, offsets: values, ends: values, count, beginBit: 2, endBit: 9 });
const select = await TopK.create(device, "f32", { value: "index" });
select.record(encoder, { keys, keysOut: values, valuesOut: count, k: 3 });
const reduce = await ReduceByKey.create(device, "u64", { value: "f32" });
reduce.record(encoder, { keys, keysOut: values, groups: count, reduction: "max" });
const groups: GroupBy = await GroupBy.create(device, "f32", { value: "i32", order: "descending" });
groups.record(encoder, { keys, values, keysOut: keys, valuesOut: values, groups: count, order: "ascending" });
const by: Column[] = [["f32", "descending"], "u16"];
const packer = await Packer.create(device, "u64", { columns: by });
packer.record(encoder, { columns: [keys, values], keysOut: count, beginBit: 32 });
const price: Field = { records: keys, stride: 24, offset: 8 };
packer.record(encoder, { columns: [price, { records: { buffer: keys, offset: 256 }, stride: 24 }], keysOut: count });
const rows = await ColumnSorter.create(device, by, { itemBytes: [4, 12] });
const list = [keys, values];
rows.record(encoder, { columns: [price, keys], n: 5, indexOut: count, values: list, valuesOut: list });
export const stable: boolean = Digest.faults([1], new Uint32Array(8), { stable: true }).includes("stable");
// @ts-expect-error
reduce.record(encoder, { keys, keysOut: values, groups: count, reduction: "mean" });
// @ts-expect-error
groups.record(encoder, { keys, keysOut: values, groups: count, count });
// @ts-expect-error
await Sorter.create(device, "u33");
// @ts-expect-error
packer.record(encoder, { columns: [{ records: keys, offset: 8 }, values], keysOut: count });
// @ts-expect-error
await ColumnSorter.create(device, [["f32", "up"]]);
// @ts-expect-error
sorter.sort(encoder, { n: 3 });
"""


@pytest.mark.parametrize(("version", "package"), [("7", "typescript"), ("5", "typescript-5")])
def test_the_declarations_are_those_of_the_package(
    node: str, bundle: Path, tmp_path: Path, version: str, package: str
) -> None:
    """With the settings that the guide has for a version of TypeScript."""
    tool = NPM / "node_modules" / package / "bin/tsc"
    if not tool.exists():
        missing("no TypeScript (npm ci --ignore-scripts --prefix .ci/npm)")
    text = (Path(__file__).parents[2] / "docs/guides/webgpu.md").read_text(encoding="utf-8")
    (settings,) = re.findall(rf"TypeScript {version} [^`]*(?:`[^`\n]+`[^`]*)*```json\n(.*?)```", text, re.DOTALL)
    (tmp_path / "tsconfig.json").write_text(settings, encoding="utf-8")
    modules = tmp_path / "node_modules"
    modules.mkdir()
    (modules / "hs-webgpu").symlink_to(bundle)
    if version == "5":
        (modules / "@webgpu").mkdir()
        (modules / "@webgpu/types").symlink_to(NPM / "node_modules/@webgpu/types")
    (tmp_path / "page.mts").write_text(TYPES, encoding="utf-8")
    done = subprocess.run([node, str(tool), "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f" {version}." in done.stdout
    done = subprocess.run(
        [node, str(tool), "--noEmit", "-p", "."], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
