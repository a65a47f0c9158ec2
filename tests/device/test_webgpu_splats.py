"""Sorts of splats by depth in JavaScript, under node with Dawn on lavapipe, compared with arrays."""

from __future__ import annotations

import os
from pathlib import Path

from nightly import NIGHTLY
from node_scripts import driver, lines, node

from hsgen.cli import main

__all__ = ["driver", "node"]  # fixtures
WRONG = {
    "view": "view: give the 16 numbers of a matrix",
    "order": 'order: up is neither "far-first" nor "near-first"',
    "near": "near: -1 is less than 0",
    "far": "far: 0 is not greater than near, 0",
    "no far": "far: Infinity is no finite number",
    "stride": "stride: 8 is no multiple of 4 from 12 on",
    "offset": "offset: 6 is no multiple of 4 from 0 on",
    "no positions": "positions: there is no buffer",
    "no output": "indexOut: there is no buffer",
    "n": "n: -1 is no count from 0 to ",
    "few": "positions: 256 bytes are too few; n = 17 takes 268",
    "overlap": "positions and indexOut: the buffers overlap",
    "usage": "countOut: the buffer lacks the usage COPY_DST",
    "word": "countOut: offset 256 is not that of a word in 256 bytes",
    "room": "valuesOut: 8 bytes are too few; n = 4 takes 16",
    "bits": "keyBits: 24 is neither 16 nor 32",
    "ranges": "keyBits: the sort was generated for whole keys (--feature bit-range)",
}


def test_splats_are_sorted_and_counted(node: str, driver: Path, tmp_path: Path) -> None:
    """Both widths of keys, both orders, strides and offsets, and positions out of range; wrong calls get a sentence."""
    shared = [
        "generate",
        "-t",
        "webgpu-cpu",
        "--api",
        "webgpu",
        "--key",
        "u32",
        "--value",
        "index",
        "--algorithm",
        "auto",
    ]
    assert main([*shared, "--feature", "bit-range", "-o", str(tmp_path / "hs")]) == 0
    assert main([*shared, "-o", str(tmp_path / "bare")]) == 0
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}")
    counts = [0, 1, 257, 3000, *([255, 256, 1023, 20_000] if NIGHTLY else [])]
    request = {"bundle": str(tmp_path / "hs"), "bare": str(tmp_path / "bare"), "seed": seed, "counts": counts}
    (got,) = lines(node, "splats.mjs", request, tmp_path, VK_DRIVER_FILES=str(driver))
    assert got["failures"] == [] and got["problems"] == []
    assert got["cases"] == 6 * len(counts) + 2
    assert set(got["said"]) == set(WRONG)
    for name, text in WRONG.items():
        sentence = got["said"][name] or ""
        assert sentence.startswith("hs_webgpu: ") and text in sentence and "\n" not in sentence, (name, sentence)
