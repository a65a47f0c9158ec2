"""Metal 2.1 and later.  Kernels are text, which the driver compiles.  hsgen itself does not drive Metal devices."""

from __future__ import annotations

from hsgen.apis.api import Api, Tables

API = Api(
    name="metal",
    title="Metal",
    order=4,
    dialect="metal",
    suffix="metal",
    language="Metal Shading Language",
    sources=("hs_{api}.m", "hs_{api}_device.m", "hs_{api}_create.m", "hs_{api}_encode.m"),
    example="sort_{api}.m",
    prefixes=("metal", "mtl", "ns", "objc"),
    member=".memory",
    tables=Tables(target="{target}_metal.c", suffix="c"),
)
