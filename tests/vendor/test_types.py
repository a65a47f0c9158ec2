"""What zeroed options mean in C: the type of keys, and of values, that was matched, in every operation and runtime."""

from __future__ import annotations

import re
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from building import (
    CONSUMERS,
    LANES,
    WARNINGS,
    bundle,
    core,
    embedded_only,
    folder,
    lavapipe,
    need,
    objects,
    opencl,
    program,
    run,
    sources,
    vulkan,
)
from nightly import nightly

from hsgen.apis import APIS, having
from hsgen.cli import main
from hsgen.engines.hosts import Host
from hsgen.targets import target

KEYS = [f"--key={key}" for key in ("u8", "i8", "u16", "f16", "u32", "f32", "u64", "f64")]
ALGORITHMS = ("auto", "digest", "segmented_sort", "merge_path", "radix_select", "reduce_by_key", "group_by")
UNSIGNED = "const uint64_t x = number_at(a, KEY_BYTES, 0), y = number_at(b, KEY_BYTES, 0);"
SIGNED = "const int32_t x = (int32_t)number_at(a, 4, 0), y = (int32_t)number_at(b, 4, 0);"
"""How the examples compare keys, and how keys of another type compare."""


@cache
def typed(name: str, *apis: str) -> Path:
    """A bundle of sorts and of all operations with keys, for every type of key."""
    place, said = folder(f"typed-{name}") / "sorts", StringIO()
    chosen = [f"--algorithm={name}" for name in ALGORITHMS] + [f"--api={api}" for api in apis]
    with redirect_stdout(said), redirect_stderr(said):
        code = main(["generate", "-t", name, *chosen, *KEYS, "--value=none", "--value=v4", "-o", str(place)])
    assert code == 0, said.getvalue()
    return place


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "full"), [("generic", "4"), nightly("cpu", "4"), nightly("cpu", "0"), nightly("generic", "0")]
)
def test_zeroed_options_mean_the_matched_type(embedded: Host, name: str, full: str) -> None:
    """All operations for types of 4 bytes; nightly, for types of all sizes.

    The sorts of `generic` are compiled without optimization, which crashes Intel's compiler for those of `cpu`.
    """
    need("gcc")
    opencl()
    place = typed(name, "opencl")
    files = objects(place, "gcc").values()
    include = [f"-I{place / 'include'}", f"-I{CONSUMERS}"]
    faster = ["-DUNOPTIMIZED", "-Wl,--wrap=clBuildProgram"] if name == "generic" else []
    command = ["gcc", "-std=c99", *WARNINGS, *faster, *include, CONSUMERS / "types.c", *files, "-lOpenCL"]
    path = program("types", *command)
    assert ", 0 wrong\n" in run(path, full, env=embedded_only())


@pytest.mark.parametrize("api", [api.name for api in having(lambda api: api.tables)])
def test_tables_of_an_api_have_the_constants_of_all_types(api: str) -> None:
    """The kernels at an index of a target's table are for the sort at this index, as matches take for granted."""
    name = next(t for t in target.names() if api in target.find(t).apis)
    place = bundle(name, apis=(api,), keys=("f32", "f64"))
    owned = APIS[api].named(APIS[api].tables.target, target=name)
    texts = [(place / "targets" / name / file).read_text(encoding="utf-8") for file in (f"{name}.c", owned)]
    found = [re.search(r"_sorts\[\] = \{(.*)\};", text)[1].split(", ") for text in texts]
    assert len(found[0]) > 4 and sum("_typed[" in row for row in found[0]) == 2 * sum(
        "_typed[" not in row for row in found[0]
    )
    assert [re.sub(rf"_{api}(?=_typed|$)", "", row) for row in found[1]] == found[0]
    for row in (row for row in found[0] if "[0]" in row):
        array = row[1:].removesuffix("_typed[0]")
        rows = re.search(rf"{array}_{api}_typed\[\] = \{{\n(.*?)\n\}};", texts[1], re.DOTALL)[1].splitlines()
        assert [x.split(",")[0].strip(" {") for x in rows] == [f"&{array}_typed[{i}]" for i in range(len(rows))] != []


def test_the_sort_that_serves_first_calls_has_their_type() -> None:
    """Of each constant, so that a sorter with two sorts orders by one type before and after the pipelines exist."""
    need("gcc")
    place = bundle(str(Path(LANES).parent / "first8.toml"), apis=("vulkan",), keys=("f32",))
    files = [*core(place), place / "src/hs_targets.c", place / "targets/first8/first8.c"]
    assert "&hs_first8_radix_first_u32_typed[1]" in files[-1].read_text(encoding="utf-8")
    path = program("launches", "gcc", "-std=c99", *WARNINGS, f"-I{place / 'include'}", CONSUMERS / "launches.c", *files)
    rows = run(path).splitlines()
    assert len(rows) > 3 and all(row.endswith(" found") for row in rows[:-1]) and not rows[-1]


@pytest.mark.device
def test_vulkan_sorts_as_matched() -> None:
    """The example, with another type of numbers."""
    need("gcc")
    vulkan()
    place = bundle(LANES, apis=("vulkan",), keys=("i32",), words=True)
    text = (place / "examples/sort_vulkan.c").read_text(encoding="utf-8")
    for old, new in (('"u32"', '"i32"'), (UNSIGNED, SIGNED)):
        assert old in text
        text = text.replace(old, new)
    source = folder("signed") / "signed.c"
    source.write_text(text, encoding="utf-8")
    command = ["gcc", "-std=c99", *WARNINGS, f"-I{place / 'include'}", source, *sources(place), "-lvulkan"]
    assert run(program("signed", *command), env=lavapipe()).startswith("sorted 100003 keys")
