"""The kernels of the Python API for CUDA compile by NVRTC, without a GPU: of every target, and in numeric order."""

from __future__ import annotations

import shutil
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from nightly import NIGHTLY, nightly, nightly_except
from sorts import grid_sort

from hsgen.algorithms import implicit_for
from hsgen.algorithms.radix import floats
from hsgen.algorithms.segmented import short_rows
from hsgen.apis.cuda import API
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.keys import TYPES, Signature
from hsgen.core.sort import Sort
from hsgen.cuda import compiler, packing, selected
from hsgen.cuda.finish import Kind
from hsgen.cuda.numeric import rewriting
from hsgen.emit.kernels import render
from hsgen.operations import gather, group_by, reduce_by_key, top_k
from hsgen.operations.segmented_sort import OPERATION
from hsgen.runners.packing import packs
from hsgen.system import folders
from hsgen.targets import target as targets
from hsgen.tools.compile import nvrtc

pytest.importorskip("cuda.bindings", reason="cuda.bindings is not installed (pip install 'hsgen[cuda]')")
ARCH = 90
TARGETS = [name for name in targets.names() if API.name in targets.find(name).apis]
COLUMNS = [
    (("i8", "ascending"), ("f16", "descending"), ("bool", "ascending")),
    (("u8", "ascending"), ("u64", "descending"), ("bool", "ascending")),
    (("f64", "descending"), ("i32", "descending"), ("bf16", "ascending")),
]
FLOATS = [name for name, kind in TYPES.items() if kind.kind == 2]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def compile_all(sort: Sort, key: str, value: str) -> None:
    source = render(sort, API.name)
    rewrite = rewriting(key, value, selects=sort.operation == top_k.OPERATION.name)
    for kernel in sort.kernels:
        code = compiler.cubin(rewrite(source.prelude) + source.parts[kernel.name], ARCH, source.path)
        assert kernel.name.encode() in code


@pytest.mark.parametrize("value", ["none", "index"])
@pytest.mark.parametrize("key", FLOATS)
@pytest.mark.parametrize("name", TARGETS)
def test_every_kernel_compiles_in_numeric_order(name: str, key: str, value: str) -> None:
    found, signature = targets.find(name), Signature(value=value, key_transform=True)
    compile_all(found.default(key, signature), key, value)
    compile_all(found.sort(implicit_for(OPERATION), key, signature), key, value)


def test_one_sort_compiles_in_numeric_order() -> None:
    compile_all(
        targets.find("nvidia-hopper").default("f32", Signature(value="index", key_transform=True)), "f32", "index"
    )


@pytest.mark.parametrize(("name", "key"), [nightly(name, key) for name in TARGETS for key in FLOATS])
def test_sorts_that_give_zeros_and_nans_their_bits_back_compile(name: str, key: str) -> None:
    """Argsorts in one launch, of targets that have them, as `hsgen.torch` needs them."""
    found = targets.find(name)
    assert found.device is not None
    sort = floats.uneven(found.default(key, Signature(value="index64", key_transform=True)), found.device.local_bytes)
    made = floats.raw(sort)
    assert made is not None or name != "nvidia-hopper"
    if made is not None:
        compile_all(made, key, "index64")


def test_a_small_sort_that_gives_zeros_and_nans_their_bits_back_compiles() -> None:
    """Small tiles compile fast, by the same templates as those of targets."""
    shape = {"bits": 4, "items": 5, "bins": 64, "quantiles": True, "single": 100}
    sort = floats.raw(grid_sort("u32", Signature(value="index64", key_transform=True), **shape))
    assert sort is not None and [k.name for k in sort.kernels] == ["single", "grid"]
    compile_all(sort, "f32", "index64")


@pytest.mark.parametrize(
    ("key", "variant"), [nightly("f32", "raw"), ("f32", "uneven"), ("f32", "widened"), nightly("f64", "widened")]
)
def test_argsorts_of_floats_spill_nothing(key: str, variant: str) -> None:
    """The kernels that targets do not have, by the NVRTC that hsgen[cuda] installs, and by others that know Blackwell:
    11.8 spills.  Others compile them only nightly, as do all those that are much like one of the fast run."""
    found = targets.find("nvidia-hopper")
    value = "index64" if variant == "raw" else "index"
    sort = found.default(key, Signature(value=value, key_transform=True))
    if variant != "widened":
        assert found.device is not None
        sort = floats.uneven(sort, found.device.local_bytes)
    made = {"raw": floats.raw, "uneven": lambda s: s, "widened": partial(floats.widened, raw=True)}[variant](sort)
    assert made is not None and made != found.default(key, sort.signature)
    source, rewrite = render(made, API.name), rewriting(key, value)
    name = "onesweep_radix_few_widened" if variant == "widened" else "grid"
    own = [nvrtc._nvrtc(path) for path in nvrtc._libraries("nvidia-cuda-nvrtc")]
    assert own
    others = nvrtc.compilers() if NIGHTLY else []
    for one in (c for c in (*own, *others) if {ARCH, 100} <= set(c.archs)):
        assert not one.compile(rewrite(source.prelude) + source.parts[name], ARCH)[name].spills, one.name


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("nvidia-hopper", "f32", "index64"),
        *(nightly(name, key, value) for name in TARGETS for key in FLOATS for value in ("none", "index64", "v16")),
    ],
)
def test_short_rows_compile(name: str, key: str, value: str) -> None:
    """Keys that keep their bits, with indices in their rows, as `hsgen.torch` needs them."""
    target = targets.find(name)
    segmented = target.sort(implicit_for(OPERATION), key, Signature(value=value, key_transform=True))
    assert target.device is not None
    sort = short_rows.specialize(segmented, target.device.local_bytes, in_row=True, raw=True)
    assert sort is not None
    compile_all(sort, key, value)


@pytest.mark.parametrize("index_bytes", [4, 8])
@pytest.mark.parametrize("key", ["", *FLOATS])
def test_the_launch_after_a_sort_compiles(key: str, index_bytes: int) -> None:
    assert b"hs_finish" in compiler.cubin(Kind(key, index_bytes).text(), ARCH, "finish.cu")


@pytest.mark.parametrize(
    ("key", "largest"), nightly_except(product(TYPES, (True, False)), (("f32", True), ("bf16", False), ("i64", True)))
)
def test_the_launches_around_a_selection_compile(key: str, largest: bool) -> None:
    for name in (selected.MASKED, selected.SELECTED):
        text = selected.Kind(key, largest).text(name)
        assert f"hs_{name}".encode() in compiler.cubin(text, ARCH, f"{name}.cu")


def test_the_launch_that_bounds_rows_compiles() -> None:
    assert b"hs_bounds" in compiler.cubin(selected.body(selected.BOUNDS), ARCH, "bounds.cu")


@pytest.mark.parametrize(("name", "key"), [nightly(name, key) for name in TARGETS for key in FLOATS])
def test_selections_compile_in_numeric_order(name: str, key: str) -> None:
    """Selections with indices in their rows, as `hsgen.torch` needs them."""
    signature = top_k.OPERATION.signature(Signature(value="index64", key_transform=True))
    compile_all(targets.find(name).sort(implicit_for(top_k.OPERATION), key, signature), key, "index64")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("by", COLUMNS)
def test_packings_of_columns_compile(by: packing.By, whole: bool) -> None:
    for pack in packs(by):
        text = packing.Packing(by, pack).text([whole] * len(pack), packing.CUDA)
        assert b"hs_pack" in compiler.cubin(text, ARCH, "the packing of columns")


@pytest.mark.parametrize("unit", packing.UNITS)
def test_copies_of_records_compile(unit: int) -> None:
    assert b"hs_rows" in compiler.cubin(packing.rows_text(unit), ARCH, "rows.cu")


@pytest.mark.parametrize(
    ("operation", "key", "signature"),
    [
        nightly(top_k, "f32", Signature(value="index")),  # of each run: selections in numeric order, below
        (gather, "u32", Signature(value="v8")),
        (reduce_by_key, "u64", Signature(value="v4")),
        nightly(group_by, "u32", Signature(value="v4", key_transform=True)),
    ],
)
@pytest.mark.parametrize("name", ["nvidia-hopper", *(nightly(name) for name in TARGETS if name != "nvidia-hopper")])
def test_other_operations_compile(name: str, operation: Any, key: str, signature: Signature) -> None:
    own = operation.OPERATION
    compile_all(targets.find(name).sort(implicit_for(own), key, own.signature(signature)), "u32", "none")


def entry(cache: Path) -> Path:
    (found,) = (cache / "hsgen" / f"cubin-{folders.FORM}").iterdir()
    return found


@pytest.mark.parametrize("key", ["f32", *(nightly(key) for key in FLOATS if key != "f32")])
@pytest.mark.parametrize("name", ["nvidia-hopper", *(nightly(name) for name in TARGETS if name != "nvidia-hopper")])
def test_selections_in_numeric_order_compile(name: str, key: str) -> None:
    """With 64-bit indices, as `hsgen.torch.enable` needs them."""
    signature = top_k.OPERATION.signature(Signature(value="index64"))
    compile_all(targets.find(name).sort(implicit_for(top_k.OPERATION), key, signature), key, "index64")


TEXT = 'extern "C" __global__ void one(int *x) { *x = 1; }'


def test_an_entry_of_the_cache_is_private_and_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = compiler.cubin(TEXT, ARCH, "one.cu")
    place = entry(cache)
    assert place.stat().st_mode & 0o777 == 0o600 and place.parent.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(compiler, "_compiled", lambda *given: pytest.fail("compiled again"))
    assert compiler.cubin(TEXT, ARCH, "one.cu") == code


@pytest.mark.parametrize("damage", ["truncated", "changed", "no cubin", "a link"])
def test_a_damaged_entry_is_compiled_again(damage: str, cache: Path) -> None:
    code = compiler.cubin(TEXT, ARCH, "one.cu")
    place = entry(cache)
    data = place.read_bytes()
    if damage == "no cubin":
        folders.keep(place, b"something else")
    elif damage == "a link":
        shutil.move(place, cache / "elsewhere")
        place.symlink_to(cache / "elsewhere")
    else:
        place.write_bytes(data[:-9] if damage == "truncated" else data[:99] + b"!" + data[100:])
    assert compiler.cubin(TEXT, ARCH, "one.cu") == code
    assert entry(cache).read_bytes() == data and not entry(cache).is_symlink()


def test_text_options_and_architecture_make_an_entry(cache: Path) -> None:
    compiler.cubin(TEXT, ARCH, "one.cu")
    compiler.cubin(TEXT, 80, "one.cu")
    compiler.cubin(TEXT + "\n", ARCH, "one.cu")
    assert len(list((cache / "hsgen" / f"cubin-{folders.FORM}").iterdir())) == 3


def test_errors_are_lines() -> None:
    with pytest.raises(Wrong, match=r'^x\.cu: NVRTC [\d.]+: .*error: identifier "y" is undefined$'):
        compiler.cubin(TEXT.replace("{ *x", "{ *y"), ARCH, "x.cu")
    with pytest.raises(
        Unavailable, match=r"^NVRTC [\d.]+ does not compile for sm_30, only for sm_\d+, .*; install an older"
    ):
        compiler.cubin(TEXT, 30, "x.cu")
