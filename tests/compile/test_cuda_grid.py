"""Cooperative sorts in one launch, whose work-groups wait for each other: the CUDA text runs on fibers of the host.

- Every signature (three in the fast run), in and out of place, at counts around every change of grid and rows, for keys
  with constant digits.
- A missing barrier, or one in a branch that not all lanes take, is noticed.
- The kernels spill nothing.
- Grid barriers compile to the same code as those of the toolkit's cooperative_groups.h.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import missing
from nightly import nightly, nightly_except, thinned
from on_host import compiled, right
from sorts import grid_sort, radix_params
from tools import tool

from hsgen.algorithms.radix import floats
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, PLAIN, Signature
from hsgen.cuda.numeric import rewriting
from hsgen.emit.kernels import render
from hsgen.tools.compile import nvrtc

ALL: dict[str, Any] = {"key_transform": True, "bit_range": True, "device_count": True}


def keys_of(rng: np.random.Generator, n: int, key: str, kind: int) -> np.ndarray[Any, Any]:
    """Random keys, few distinct ones, equal ones, and keys with constant digits: the first, the last, inner ones."""
    dtype = np.dtype(f"u{KEYS[key].bytes}")
    top = int(np.iinfo(dtype).max)
    keys = rng.integers(0, top, n, dtype, endpoint=True)
    masks = (top, 5, 0, top & ~0x3FF, top >> 7, 0x1F07C1F & top)
    return keys & dtype.type(masks[kind % len(masks)]) | dtype.type(0 if kind % 2 else top ^ masks[kind % len(masks)])


FORMS = {
    "u32": ("u32", PLAIN),
    "u64": ("u64", PLAIN),
    "u8": ("u8", Signature(**ALL)),
    "all": ("u32", Signature(**ALL)),
    "v4": ("u32", Signature(value="v4")),
    "v8": ("u32", Signature(value="v8", **ALL)),
    "v16": ("u64", Signature(value="v16")),
    "index": ("u32", Signature(value="index", **ALL)),
    "index64": ("u64", Signature(value="index64", **ALL)),
}


@pytest.mark.parametrize("name", nightly_except(FORMS, ("u8", "v8", "index64")))
def test_the_kernels_sort(name: str, tmp_path: Path) -> None:
    key, signature = FORMS[name]
    sort = grid_sort(key, signature, bits=8 if key == "u64" else 5)
    made, rng = compiled(sort, tmp_path), np.random.default_rng(7)
    counts = (1, 2, 63, 64, 65, 129, 255, 256, 257, 300, 511, 512, 513, 700, 767, 768)
    for number, n in enumerate(counts):
        keys = keys_of(rng, n, key, number)
        for in_place in (False, True):
            how, most = Options(), -1
            if signature.bit_range:
                begin = number * 3 % sort.key.bits
                end = (None, begin, min(begin + 11, sort.key.bits))[(number + in_place) % 3]
                how = Options(kind=number % 3 if key != "u8" else 1, descending=number % 2 == 1, begin=begin, end=end)
            if signature.index and number % 3 == 0:
                how = Options(begin=how.begin, end=how.end, discard=True)
            if signature.device_count and number % 2:
                most = min(n + 200, 768)
                how = Options(kind=how.kind, begin=how.begin, end=how.end, discard=how.discard, device_count=True)
            assert right(made, keys, how, in_place=in_place, seed=number, n=most), (n, in_place, how)


def test_more_work_groups_than_others_have_at_once(tmp_path: Path) -> None:
    """All of a cooperative launch are resident, since they wait for each other."""
    sort, rng = grid_sort(groups=40, work_group=32), np.random.default_rng(19)
    made = compiled(sort, tmp_path)
    for kind in range(2):
        assert right(made, keys_of(rng, 40 * 32, "u32", kind), in_place=False, seed=kind)


def test_fewer_lanes_than_digits_and_a_single_before(tmp_path: Path) -> None:
    """Each lane sums several digits; counts up to one tile are sorted by a single work-group."""
    sort = grid_sort(bits=8, items=4, groups=3, least=3, single=100)
    made, rng = compiled(sort, tmp_path), np.random.default_rng(3)
    for number, n in enumerate((1, 100, 101, 192, 193, 384, 385, 576, 577, 768)):
        assert right(made, keys_of(rng, n, "u32", number), in_place=number % 2 == 0, seed=number), n


PLACES: dict[str, Any] = {"bits": 4, "items": 5, "bins": 64}


@pytest.mark.parametrize(
    ("key", "signature"),
    [
        nightly("u32", PLAIN, id="u32"),
        nightly("u64", PLAIN, id="u64"),
        pytest.param("u32", Signature(key_transform=True, device_count=True), id="key_transform"),
    ],
)
def test_keys_are_dealt_out_and_placed(key: str, signature: Signature, tmp_path: Path) -> None:
    """Even keys, uneven ones that stay in registers, crowded positions; and a single work-group."""
    sort = grid_sort(key, signature, **PLACES, single=150)
    made, rng = compiled(sort, tmp_path), np.random.default_rng(11)
    counts = (1, 2, 63, 64, 65, 149, 150, 151, 200, 256, 257, 320, 512, 640, 641, 960, 1279, 1280)
    for number, n in enumerate(counts):
        for kind in range(6):
            how = Options()
            if signature.key_transform:
                how = Options(kind=number % 3, descending=kind % 2 == 1, device_count=number % 2 == 1)
            most = min(n + 100, 1280) if how.device_count else -1
            keys = keys_of(rng, n, key, kind)
            assert right(made, keys, how, in_place=(number + kind) % 2 == 0, seed=number, n=most), (n, kind, how)


PAIRS = {
    "v4": ("u32", Signature(value="v4")),
    "ties": ("u64", Signature(value="v4", key_transform=True, device_count=True)),
    "v8": ("u32", Signature(value="v8", **ALL)),
    "v16": ("u64", Signature(value="v16")),
    "index": ("u32", Signature(value="index", **ALL)),
    "index64": ("u64", Signature(value="index64", key_transform=True)),
    "range": ("u64", Signature(bit_range=True)),
}


@pytest.mark.parametrize("name", nightly_except(PAIRS, ("v8", "v16")))
def test_equal_keys_keep_their_order(name: str, tmp_path: Path) -> None:
    """Pairs, and keys by a part of their bits: even keys, equal ones, uneven ones, crowded positions."""
    key, signature = PAIRS[name]
    sort = grid_sort(key, signature, **PLACES, single=150)
    made, rng = compiled(sort, tmp_path), np.random.default_rng(13)
    counts = (1, 2, 31, 63, 64, 65, 149, 150, 151, 200, 256, 257, 320, 512, 640, 641, 960, 1279, 1280)
    for number, n in enumerate(counts):
        for kind in range(8):
            begin, end = (
                ((0, None), (number % 32, number % 32), (3, 29))[kind % 3] if signature.bit_range else (0, None)
            )
            how = Options(begin=begin, end=end, discard=signature.index and kind == 4)
            if signature.key_transform:
                how = replace(how, kind=number % 3, descending=kind % 2 == 1)
            if signature.device_count:
                how = replace(how, device_count=number % 2 == 1)
            most = min(n + 100, 1280) if how.device_count else -1
            keys = (
                keys_of(rng, n, key, kind)
                if kind < 6
                else rng.integers(0, n // kind + 1, n).astype(f"u{key[1:]}"[0] + str(KEYS[key].bytes))
            )
            keys = keys << keys.dtype.type(24) if kind == 7 else keys
            assert right(made, keys, how, in_place=(number + kind) % 2 == 0, seed=number, n=most), (n, kind, how)


SAMPLED: dict[str, Any] = {**PLACES, "quantiles": True, "single": 100}
UNEVEN = {
    "u32": ("u32", Signature(key_transform=True, device_count=True)),
    "u64": ("u64", PLAIN),
    "v4": ("u32", Signature(value="v4", key_transform=True)),
    "v16": ("u64", Signature(value="v16", key_transform=True)),
    "index": ("u32", Signature(value="index", key_transform=True, device_count=True)),
    "index64": ("u64", Signature(value="index64", key_transform=True)),
}


def normal(rng: np.random.Generator, n: int, key: str) -> np.ndarray[Any, Any]:
    """The bits of normal floats: few values of the highest digit have most of them."""
    return rng.standard_normal(n).astype(f"f{KEYS[key].bytes}").view(f"u{KEYS[key].bytes}")


@pytest.mark.parametrize("name", nightly_except(UNEVEN, ("u64", "index64")))
def test_uneven_keys_are_dealt_out_by_a_sample(name: str, tmp_path: Path) -> None:
    """Normal floats; keys whose highest bits are alike; and what no sample makes even."""
    key, signature = UNEVEN[name]
    made, rng = compiled(grid_sort(key, signature, **SAMPLED), tmp_path), np.random.default_rng(17)
    for number, n in enumerate((1, 100, 101, 128, 129, 255, 256, 257, 320, 512, 640, 641, 960, 1279, 1280)):
        bits = normal(rng, n, key)
        few = rng.integers(0, n, n).astype(bits.dtype)
        for kind, keys in enumerate(
            (bits, few, bits >> bits.dtype.type(9), *(keys_of(rng, n, key, k) for k in range(6)))
        ):
            how = Options(discard=signature.index and kind == 3)
            if signature.key_transform:
                how = replace(how, kind=2 if kind == 0 else number % 3, descending=number % 2 == 1)
            if signature.device_count:
                how = replace(how, device_count=number % 2 == 1)
            most = min(n + 100, 1280) if how.device_count else -1
            assert right(made, keys, how, in_place=(number + kind) % 2 == 0, seed=number, n=most), (n, kind, how)


def test_larger_samples(tmp_path: Path) -> None:
    """From counts on that a host takes too long for: more keys are drawn, and then all of them say whether to go on."""

    def sooner(text: str) -> str:
        for old, new in ((1 << 18, 200), (1 << 20, 500)):
            assert f"> {old}" in text
            text = text.replace(f"> {old}", f"> {new}")
        return text

    def spoilt(text: str) -> str:
        return sooner(text).replace(*WRONG["steps that overlap"])

    sort = grid_sort(signature=UNEVEN["index"][1], **SAMPLED)
    assert radix_params(sort).tile >= 4 * SAMPLED["bins"]
    made, rng = compiled(sort, tmp_path, sooner), np.random.default_rng(18)
    for n in (200, 201, 320, 500, 501, 700, 801, 930, 960, 1100, 1280):
        for number, keys in enumerate((normal(rng, n, "u32"), *(keys_of(rng, n, "u32", k) for k in range(6)))):
            assert right(made, keys, Options(kind=2 if number == 0 else 0), in_place=False, seed=number), (n, number)
    (tmp_path / "spoilt").mkdir()
    wrong = compiled(sort, tmp_path / "spoilt", spoilt)
    for keys in (normal(rng, 300, "u32"), normal(rng, 600, "u32")):
        assert noticed(partial(right, wrong, keys, Options(kind=2), in_place=False, seed=3)), len(keys)


def noticed(tried: Callable[[], bool]) -> bool:
    """Whether some result is wrong; wild stores may end the process that tries instead, or keep it from an end."""

    def run() -> None:
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        assert tried()

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    child.join(30)
    ended_well = child.exitcode == 0
    child.kill()
    return not ended_well


WRONG = {
    "steps that overlap": (") * (curve[", ") * 3u * (curve["),
    "a share too low": (
        "share_between(key)) >> (shift)) & (mask))",
        "share_between(key) / 2u) >> (shift)) & (mask) ^ hs_to_int(key) & 8)",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_curve_is_noticed(what: str, tmp_path: Path) -> None:
    """Keys that few of the highest digits have are dealt out by the curve, and not by passes over all digits."""
    old, new = WRONG[what]

    def changed(text: str) -> str:
        assert text.count(old) == 1, old
        return text.replace(old, new)

    sort = grid_sort(signature=Signature(value="v4"), **SAMPLED)
    made, rng = compiled(sort, tmp_path, changed), np.random.default_rng(2)
    keys = keys_of(rng, 400, "u32", 0) >> np.uint32(2)
    assert noticed(lambda: right(made, keys, in_place=False, seed=3))


def special(rng: np.random.Generator, n: int, key: str) -> np.ndarray[Any, Any]:
    """The bits of normal floats, of zeros with both signs, and of several NaNs."""
    bits = normal(rng, n, key)
    kind = bits.dtype.type
    infinity, sign = np.array([np.inf], f"f{KEYS[key].bytes}").view(bits.dtype)[0], kind(1 << (KEYS[key].bits - 1))
    for one in (kind(0), sign, infinity, infinity | kind(1), infinity | sign | kind(5), ~kind(0), ~sign):
        bits[rng.integers(0, n, max(1, n // 40))] = one
    return bits


def numeric_order(bits: np.ndarray[Any, Any], *, descending: bool) -> np.ndarray[Any, Any]:
    """The stable order of floats of which NaNs are equal and greatest, and zeros equal."""
    ranks = np.unique(bits.view(f"f{bits.dtype.itemsize}"), return_inverse=True)[1].reshape(-1)
    return np.argsort(-ranks if descending else ranks, kind="stable")


RAW = {
    "digits": ("u32", {"bits": 4, "items": 5, "single": 150}),
    "bins": ("u32", {**PLACES, "single": 150}),
    "sampled": ("u32", SAMPLED),
    "f64": ("u64", SAMPLED),
}


@pytest.mark.parametrize("name", nightly_except(RAW, ("f64",)))
def test_zeros_and_nans_get_their_bits_back(name: str, tmp_path: Path) -> None:
    """In the same launch, by every way that the sort takes; not where keys are dropped."""
    key, values = RAW[name]
    sort = floats.raw(grid_sort(key, Signature(value="index64", key_transform=True), **values))
    assert sort is not None and [k.name for k in sort.kernels] == ["single", "grid"]
    rewrite = rewriting({"u32": "f32", "u64": "f64"}[key], "index64")
    made, rng = compiled(sort, tmp_path, rewrite), np.random.default_rng(23)
    for n in (1, 2, 99, 149, 150, 151, 256, 257, 320, 640, 641, 1280):
        bits = special(rng, n, key)
        crowded = np.where(rng.integers(0, 9, n) > 0, bits[:1], bits)  # places, and digits, have too many
        for kind, keys in enumerate((bits, normal(rng, n, key), crowded, crowded & ~bits.dtype.type(0xFFFF))):
            how = Options(kind=2, descending=kind % 2 == n % 2)
            order = numeric_order(keys, descending=how.descending)
            got, indices = made.call(keys, None, how, in_place=False, seed=n, n=n)
            assert np.array_equal(got, keys[order]), (n, kind)
            assert indices is not None and np.array_equal(indices.view(np.uint64).ravel(), order.astype(np.uint64))


def test_only_argsorts_in_one_launch_give_bits_back() -> None:
    assert floats.raw(grid_sort(signature=Signature(value="v8", key_transform=True))) is None
    assert floats.raw(grid_sort(signature=Signature(value="index64", run_boundaries=True))) is None


def test_a_store_before_all_have_counted_is_noticed(tmp_path: Path) -> None:
    def changed(text: str) -> str:
        head, tail = text.split("hs_grid_barrier(groups);", 1)
        return head + tail

    made, rng = compiled(grid_sort(**PLACES), tmp_path, changed), np.random.default_rng(2)
    assert not all(right(made, keys_of(rng, 1000, "u32", 0), in_place=False, seed=seed) for seed in range(30))


MISSING = {
    "no barrier after storing": ("if (!(pass + 1 == 7)) hs_grid_barrier(groups);", ""),
    "no barrier after counting": ("hs_grid_wait(ticket);", "hs_barrier();"),
    "lanes apart": ("if (moves[0] != 0u) {", "if (moves[0] != 0u && hs_local_id() != 7) {"),
    "one table": ("int table = (pass & 1) == 0 ? HS_GRID_HISTOGRAMS : HS_ODD_GRID_HISTOGRAMS;", "int table = 0;"),
}


@pytest.mark.parametrize("what", [nightly(w) if w == "one table" else w for w in MISSING])
def test_missing_barriers_are_noticed(what: str, tmp_path: Path) -> None:
    """Each of these changes succeeds only if work-groups happen to run in step."""
    old, new = MISSING[what]

    def changed(text: str) -> str:
        assert text.count(old) == 1, old
        return text.replace(old, new)

    made = compiled(grid_sort(), tmp_path, changed)

    def tried() -> bool:
        rng = np.random.default_rng(5)
        kinds = (keys_of(rng, 768, "u32", seed % 6 if what == "one table" else 0) for seed in range(30))
        return all(right(made, keys, in_place=True, seed=seed) for seed, keys in enumerate(kinds))

    assert noticed(tried)


@pytest.mark.parametrize(
    ("key", "items", "arch"), thinned([("u32", 16, 90), ("u32", 16, 70), ("u64", 12, 70), ("u64", 12, 90)], 2)
)
def test_one_launch_spills_nothing(key: str, items: int, arch: int) -> None:
    """256 lanes, two resident work-groups per core."""
    compilers = [c for c in nvrtc.compilers() if arch in c.archs]
    if not compilers:
        missing(f"a CUDA compiler for sm_{arch} ({nvrtc.INSTALL})")
    shape = {"bits": 8, "items": items, "work_group": 256, "groups": 128, "least": 4, "resident": 2}
    for signature in (PLAIN, Signature(value="v4", **ALL), Signature(value="index64")):
        sort = grid_sort(key, signature, **shape)
        use = compilers[0].compile(render(sort, "cuda").only("grid"), arch)["grid"]
        assert not use.spills and use.registers <= 128 and use.shared == 0


THEIRS = """#include <cooperative_groups.h>
extern "C" __global__ void k() { cooperative_groups::this_grid().sync(); }
"""


def essence(text: str, folder: Path) -> list[str]:
    """The PTX instructions that decide where the barrier is and how it waits, without registers."""
    nvcc = tool("nvcc")
    source, out = folder / "k.cu", folder / "k.ptx"
    source.write_text(text, encoding="utf-8")
    command = [nvcc, "-std=c++17", "-arch=sm_90", "-ptx", str(source), "-o", str(out)]
    assert subprocess.run(command, check=False).returncode == 0
    wanted = re.findall(
        r"(mov\.u32|bfi\S+|add\.s64|atom\S+|ld\.acquire\S+|xor\S+|setp\.gt\S+)([^;]*);", out.read_text()
    )
    rows = [f"{name} {re.sub('%(r|rd|p)[0-9]+', 'r', rest).replace(' ', '').strip()}" for name, rest in wanted]
    return sorted(row for row in rows if "mov" not in row or "envreg" in row)


def test_the_barrier_is_that_of_cooperative_groups(tmp_path: Path) -> None:
    """The header's behavior is undocumented, but all code compiled with it depends on it."""
    words = render(grid_sort(), "cuda").prelude
    own = essence(words + 'extern "C" __global__ void k() { hs_grid_barrier(gridDim.x); }\n', tmp_path)
    assert own == essence(THEIRS, tmp_path)
    assert [row.split()[0] for row in own if "envreg" in row or "gpu" in row] == [
        "atom.add.release.gpu.u32",
        "ld.acquire.gpu.u32",
        "mov.u32",
        "mov.u32",
    ]
