"""The table ``[isa]`` of a target: for each offline compiler, the devices for which it compiles the target's kernels.

This module lists the device names that each compiler accepts.  Whether a target file is valid thus does not depend on
which compilers are installed.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.apis import cuda, hip, opencl, vulkan
from hsgen.core.fields import Field, Reader

SPIRV = "spirv"
"""The name of the SPIR-V validator; it is no key of ``[isa]``, because it checks the Vulkan kernels of all targets."""


@dataclass(frozen=True, slots=True)
class Kind:
    """An offline compiler, such as NVRTC or ocloc, in any version.

    api: the API whose kernels it compiles.
    devices: the names of the devices for which at least one version of the compiler compiles.
    """

    api: str
    devices: tuple[str, ...]


def _named(signature: str, words: str) -> tuple[str, ...]:
    return tuple(signature.format(word) for word in words.split())


_AMDGCN = _named(
    "gfx{}",
    "801 802 803 805 810 900 902 904 906 908 909 90a 90c 940 942 950 1010 1011 1012 1013 1030 1031 1032 1033 1034 1035 "
    "1036 1100 1101 1102 1103 1150 1151 1152 1153 1200 1201",
)
"""LLVM's names of AMD's GPUs from GCN 3 on ("User Guide for AMDGPU Backend", section "Processors")."""

KINDS = {
    # the devices of NVRTC 11.8, NVRTC 12.9 and nvcc 13.0, and of earlier versions
    "cuda": Kind(
        cuda.API.name,
        _named("sm_{}", "30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 100 101 103 110 120 121"),
    ),
    # the devices that `ocloc compile --help` lists, without families such as gen9: up to pvc, those of version 22.43;
    # from bmg-g21 on, those that version 26.27 adds
    "ocloc": Kind(
        opencl.API.name,
        _named(
            "{}",
            "bdw skl kbl cfl apl bxt glk whl aml cml icllp lkf ehl jsl tgllp rkl adl-s adl-p adl-n dg1 acm-g10 acm-g11 "
            "acm-g12 pvc bmg-g21 bmg-g31 lnl-m",
        ),
    ),
    "amdgcn": Kind(opencl.API.name, _AMDGCN),
    "hip": Kind(hip.API.name, _AMDGCN),
    # the values of RADV_FORCE_FAMILY in Mesa 25.0
    "radv": Kind(
        vulkan.API.name,
        _named(
            "{}",
            "tahiti pitcairn verde oland hainan bonaire kabini kaveri hawaii iceland tonga fiji polaris10 polaris11 "
            "polaris12 vegam carrizo stoney vega10 vega12 vega20 raven raven2 renoir mi100 mi200 gfx940 navi10 navi12 "
            "navi14 navi21 navi22 navi23 navi24 vangogh rembrandt raphael_mendocino navi31 navi32 navi33 phoenix "
            "phoenix2 gfx1150 gfx1151 gfx1152 gfx1153 gfx1200 gfx1201",
        ),
    ),
}
"""The offline compilers, by their keys in ``[isa]``."""

_FIELDS = {
    name: Field("strs", f'devices that {name} compiles for, for example ["{kind.devices[-1]}"]', False, filled=True)
    for name, kind in KINDS.items()
}


def read_isa(r: Reader, data: Mapping[str, Any], apis: list[str]) -> dict[str, tuple[str, ...]]:
    """Read the table ``[isa]``, and return the names of the devices for each compiler; record errors in `r`.

    apis: the APIs of the target.  A compiler for kernels of any other API is an error.
    """
    by_compiler: dict[str, tuple[str, ...]] = {}
    for name, devices in r.fields(r.table(data, "isa", required=False) or {}, "isa", _FIELDS).items():
        kind, where = KINDS[name], f"isa.{name}"
        if kind.api not in apis:
            r.error(where, f"compiles {kind.api} kernels, which the target has not", "leave it out or add the API")
        if len(set(devices)) < len(devices):
            twice = next(d for d in devices if devices.count(d) > 1)
            r.error(where, f'"{twice}" is named twice', "name it once")
        for device in devices:
            if device not in kind.devices:
                close = difflib.get_close_matches(device, kind.devices, 1)
                hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(kind.devices)}"
                r.error(where, f'"{device}" is unknown', hint)
        by_compiler[name] = tuple(devices)
    return by_compiler
