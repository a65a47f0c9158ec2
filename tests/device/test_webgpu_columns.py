"""Packs and sorts of tables of the JavaScript runtime of WebGPU under node, with Dawn on lavapipe."""

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
from node_scripts import LARGEST, NPM, ROOT, SCRIPTS, driver, lines, node

from hsgen.cli import main

__all__ = ["driver", "node"]  # fixtures
WORDS = "--key u32 --key u64 --value index --value v4 --algorithm auto --algorithm gather --algorithm pack"
TABLES: list[dict[str, Any]] = [
    {"columns": [["f32", "descending"], "u16"], "itemBytes": [4, 12], "packs": True},
    {"columns": ["u8", ["bf16", "descending"], "bool"], "itemBytes": [4], "packs": True},
    {"columns": [["i64", "descending"], "f64"], "itemBytes": [8, 4], "packs": True},
    {"columns": ["i16", ["u64", "descending"], "f16", ["i32", "descending"]]},
    {"columns": ["u32"]},
    {"columns": [["f64", "descending"]]},
]
WRONG = {
    "no columns": "columns: give 1 to 4",
    "many columns": "columns: give 1 to 4",
    "wide columns": "columns: a row has 17 bytes; give at most 16",
    "type": 'key: "u24" is no type of keys',
    "order": 'columns: "up" is neither',
    "items": "itemBytes: 6 is no multiple of 4",
    "no sorts": "there is no such ",
    "one column": "columns: give 2 buffers",
    "no column": "columns[1]: there is no buffer",
    "too many rows": "columns[0]: 256 bytes are too few; n = 65 takes 260",
    "outputs": "values and valuesOut: give 2 of each, as itemBytes has",
    "no output": "valuesOut[1]: there is no buffer",
    "over an input": "valuesOut[0] and values[1]: the buffers overlap",
    "the same output": "valuesOut[0] and valuesOut[1]: the buffers overlap",
    "small output": "table: 256 bytes are too few; n = 33 takes 264",
    "index": "valuesOut[1] and indexOut: the buffers overlap",
    "begin": "beginBit: 16 is no multiple of 32",
    "begin beyond": "beginBit: 64 is no number from 0 to 47",
    "no keys": "keysOut: there is no buffer",
    "stride": "columns[0]: stride 6 is no multiple of 4 up to 256",
    "wide stride": "columns[0]: stride 260 is no multiple of 4 up to 256",
    "no stride": "columns[0]: stride undefined is no multiple of 4",
    "beyond the record": "columns[0]: offset 8 is not that of 4 bytes in a record of 8",
    "misaligned": "columns[0]: offset 2 is no multiple of 4",
    "no records": "columns: give 2 buffers",
    "few records": "columns[0]: 256 bytes are too few; n = 17 takes 268",
    "many records": "columns[0]: n = 33554432 records of 256 bytes have 2^31 words or more",
    "one buffer": "columns[0] and keysOut: are in one GPUBuffer",
    "destroyed": "the sorter was destroyed",
}


def generated(folder: Path, name: str, *more: str) -> None:
    """A bundle with what sorts of tables take, as docs/guides/columns.md generates it."""
    command = ["generate", "-t", name, "--api", "webgpu", *WORDS.split(), *more, "-o", str(folder)]
    assert main(command) == 0
    wide = ["--key", "u32", "--value", "v8", "--algorithm", "gather"]
    assert main(["generate", "-t", name, "--api", "webgpu", *wide, "-o", str(folder)]) == 0


@pytest.mark.parametrize(
    ("name", "feature", "lanes"),
    [
        ("webgpu-cpu", ["--feature", "bit-range"], 8),
        nightly("webgpu-cpu", [], 4),
        nightly("webgpu-cpu", ["--feature", "bit-range"], 16),
        nightly("webgpu", [], 8),
    ],
)
def test_tables(node: str, driver: Path, tmp_path: Path, name: str, feature: list[str], lanes: int) -> None:
    generated(tmp_path / "hs", name, *feature)
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}")
    request: dict[str, Any] = {"bundle": str(tmp_path / "hs"), "target": name, "seed": seed, "tables": TABLES}
    request["counts"] = [0, 1, 2, 255, 1023, 1024, 1025, 3001]
    environment = {"VK_DRIVER_FILES": str(driver), "LP_NATIVE_VECTOR_WIDTH": str(32 * lanes)}
    (got,) = lines(node, "columns.mjs", request, tmp_path, **environment)
    print(got["cases"])
    assert got["failures"] == [] and got["problems"] == [] and got["untouched"]
    assert got["cases"] == {"pack": 8 * 3 * 2 * (2 + 1 + 4), "table": 8 * 2 * (2 + 2 + 2 + 3)}
    assert set(got["said"]) == set(WRONG)
    for what, text in WRONG.items():
        said = got["said"][what] or ""
        assert said.startswith("hs_webgpu: ") and text in said and "\n" not in said, (what, said)


def test_a_table_takes_little_of_a_page(node: str, tmp_path: Path) -> None:
    """Packs, an argsort and a gather are smaller than the limit of a sort with values."""
    tool = NPM / "node_modules/.bin/esbuild"
    if not tool.exists():
        missing("no esbuild (npm ci --ignore-scripts --prefix .ci/npm)")
    generated(tmp_path / "hs", "webgpu")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/hs-webgpu").symlink_to(tmp_path / "hs")
    names = ("auto_u64_index", "gather_u32_v4", "pack_u64")
    source = 'import { ColumnSorter } from "hs-webgpu/columns";\n'
    source += "".join(f'import {name} from "hs-webgpu/webgpu/{name}";\n' for name in names)
    source += 'export const made = (device) => ColumnSorter.create(device, ["f32", "u16"], '
    source += f"{{ itemBytes: [4], sorts: [{', '.join(names)}] }});\n"
    (tmp_path / "page.js").write_text(source, encoding="utf-8")
    command = [str(tool), "page.js", "--bundle", "--minify", "--format=esm", "--log-level=error"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    print(f"{len(done.stdout)} bytes")
    assert len(done.stdout) <= LARGEST
    assert set(re.findall(r"(?:auto|gather|pack)_u\w+", done.stdout)) == set(names)
    assert "firstIndices" not in done.stdout


GUIDE = """import {{ opened, buffer, read }} from "{scripts}/dawn.mjs";
const {{ device }} = await opened("{npm}", []), encoder = device.createCommandEncoder(), n = 4;
const prices = buffer(device, Float32Array.of(2, 9, 9, 7)), days = buffer(device, Uint16Array.of(5, 8, 3, 1));
const colors = buffer(device, Uint32Array.from({{ length: 3 * n }}, (_, i) => i));
const sortedColors = buffer(device, new Uint32Array(3 * n));
const order = buffer(device, new Uint32Array(n));
{program}
device.queue.submit([encoder.finish()]);
const words = async (from, count) => [...new Uint32Array((await read(device, from, 4 * count)).buffer)].join();
console.log(JSON.stringify([await words(order, n), await words(sortedColors, 3 * n)]));
process.exit(0);
"""


def test_the_program_of_the_guide(node: str, driver: Path, tmp_path: Path) -> None:
    text = (ROOT / "docs/guides/columns.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```js\n(.*?)^```$", text, re.M | re.S)
    (command,) = (x for x in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S) if "--api webgpu" in x)
    words = command.replace("\\\n", " ").split()[1:]
    assert main([*words[:-1], str(tmp_path / "sorts")]) == 0
    imported, rest = program.split("\n", 1)
    start = imported + "\n" + GUIDE.format(scripts=SCRIPTS, npm=NPM, program=rest)
    (tmp_path / "start.mjs").write_text(start, encoding="utf-8")
    environment = {**os.environ, "VK_DRIVER_FILES": str(driver)}
    done = subprocess.run(
        [node, "start.mjs"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == ["2,1,3,0", "6,7,8,3,4,5,9,10,11,0,1,2"]
