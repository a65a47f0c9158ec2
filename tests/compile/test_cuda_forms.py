"""Sorts of every form compile for NVIDIA, and spill no registers but where it is known by how much."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import missing
from nightly import NIGHTLY, nightly

from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.emit.kernels import render
from hsgen.targets import target
from hsgen.tools.compile import nvrtc

ARCH = 90
WHOLE = {"key_transform": True, "bit_range": True, "device_count": True}
SPILLS = {("nvidia-sm90", "u64", value): {"onesweep": 4} for value in ("v4", "v8", "v16")}
"""Bytes that each lane of a kernel stores at most, by target, width and values, where sorts are whole."""

SPILLED = 8
"""Bytes that every other kernel may spill with other compilers than the first: NVRTC 12.9 does so in the histogram of
64-bit keys, nvcc 13.0 in the scatter."""

SOME = [
    ("nvidia-sm90", "u32", Signature(key_transform=True)),
    ("nvidia-sm90", "u32", Signature(value="v4", **WHOLE)),
    ("nvidia-sm90", "u64", Signature(value="v16", **WHOLE)),
    ("nvidia-sm90", "u16", Signature(value="index", **WHOLE)),
    ("nvidia-sm90", "u32", Signature(value="packed")),
    ("generic", "u64", Signature(key_transform=True)),
    ("generic", "u8", Signature(value="v4", **WHOLE)),
    ("generic", "u32", Signature(value="v16", **WHOLE)),
    ("generic", "u64", Signature(value="index64", **WHOLE)),
    ("generic", "u32", Signature(value="packed", **WHOLE)),
]
"""(target, width, form), of which by day those are compiled that take least or spill."""

DAY = (2, 3, 4, 6, 8)


def signatures() -> list[tuple[str, str, Signature]]:
    """Return what to compile: some, or nightly every width with every kind of values, whole."""
    names = ("nvidia-sm90", "generic")
    every = [
        (t, k, Signature(value=v, **WHOLE)) for t in names for k in KEYS for v in VALUES if v != "packed" or k == "u32"
    ]
    return SOME + [x for x in every if x not in SOME] * NIGHTLY


def case(number: int, name: str, key: str, signature: Signature) -> Any:
    """Return a case with its name."""
    make = pytest.param if number in DAY or NIGHTLY else nightly
    return make(name, key, signature, id=f"{name}-{key}-{signature.value}-{signature.bit_range}")


def compilers() -> list[nvrtc.Compiler]:
    """All that know the architecture; nightly every one of them is asked, else the first, whose spills are known."""
    found = [c for c in nvrtc.compilers() if ARCH in c.archs]
    if not found:
        missing(f"a CUDA compiler for sm_{ARCH} ({nvrtc.INSTALL})")
    return found if NIGHTLY else found[:1]


@pytest.mark.parametrize(("name", "key", "signature"), [case(i, *x) for i, x in enumerate(signatures())])
def test_every_kernel_of_a_form_compiles_and_spills_no_more_than_known(
    name: str, key: str, signature: Signature
) -> None:
    sort = target.find(name).default(key, signature)
    text = render(sort, "cuda").text
    known = SPILLS.get((name, key, signature.value), {})
    for compiler in compilers():
        found = compiler.compile(text, ARCH)
        assert set(found) == {k.name for k in sort.kernels}
        assert all(u.registers > 0 and u.shared == 0 for u in found.values())
        spilling = {k: u.spill_stores for k, u in found.items() if u.spills}
        most = 0 if compiler.name == compilers()[0].name else SPILLED
        assert all(spilling[k] <= max(known.get(k, 0), most) for k in spilling), (compiler.name, spilling)
