"""SPIR-V: the modules of a sort, their u32 as C literals, the selection of a compiler, and the cache."""

from __future__ import annotations

import hashlib
import random
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from steps import changed

from hsgen.core.errors import Usage, Wrong
from hsgen.core.keys import Signature
from hsgen.emit import spirv
from hsgen.emit.spirv import Compiler, Module, compile_one, defines, modules, words
from hsgen.targets import target


def test_words_are_read_back() -> None:
    random.seed(1)
    numbers = [0, 1, 10**9 - 1, 10**9, 2**31, 2**32 - 1, *(random.getrandbits(32) for _ in range(1000))]
    data = b"".join(n.to_bytes(4, "little") for n in numbers)
    literals = words(data)
    assert [int(x.removesuffix("u"), 0) for x in literals] == numbers
    assert all(re.fullmatch(r"(0|[1-9]\d*|0x[1-9a-f][0-9a-f]*)u", x) for x in literals)  # no octal
    assert all(len(x) <= min(len(f"{n}u"), len(f"{n:#x}u")) for n, x in zip(numbers, literals, strict=True))
    assert words(b"") == []


@pytest.mark.parametrize("name", ["generic", "intel-gen8", "lavapipe"])
def test_modules_by_address_are_those_that_large_counts_use(name: str) -> None:
    sort = target.find(name).sort("bitonic", "u32")
    found = modules(sort)
    assert [m.kernel for m in found if not m.address] == [k.name for k in sort.kernels]
    large = {s.kernel for s in sort.plan.steps if s.guard.max_n > spirv.ADDRESS_FROM}
    by_address = [m.kernel for m in found if m.address]
    assert set(by_address) == large and len(by_address) == len(large)
    assert "clean" in large and len(set(found)) == len(found)


def test_kernels_of_small_counts_alone_have_no_form_by_address() -> None:
    sort = target.find("generic").sort("bitonic", "u32")
    step = sort.plan.steps[0]
    for max_n, extra in ((spirv.ADDRESS_FROM, 0), (spirv.ADDRESS_FROM + 1, 1)):
        plan = replace(sort.plan, steps=(changed(step, max_n=max_n),))
        assert len(modules(replace(sort, plan=plan))) == len(sort.kernels) + extra


def test_sorts_with_a_device_side_count_have_every_kernel_by_address() -> None:
    sort = target.find("generic").sort("auto", "u32", Signature(value="v4", device_count=True))
    found = modules(sort)
    for address in (False, True):
        assert [m.kernel for m in found if m.address == address] == [k.name for k in sort.kernels]


@pytest.mark.parametrize("name", [n for n in target.names() if "vulkan" in target.find(n).apis])
def test_recording_has_room_for_the_descriptor_sets_of_every_plan(name: str) -> None:
    """The runtime keeps them on the stack, and refuses a sort with more."""
    header = Path(__file__).parents[2] / "templates/apis/vulkan/hs_vulkan_internal.h"
    room = re.search(r"HS_SETS = (\d+)", header.read_text(encoding="utf-8"))
    assert room
    for value in ("none", "v4"):
        signature = Signature(value=value, key_transform=True, bit_range=True, device_count=True)
        plan = target.find(name).sort("auto", "u32", signature).plan
        assert 2 * len({step.bindings for step in plan.steps}) < int(room[1])


def test_defines_pick_a_module() -> None:
    assert defines(Module("clean", address=False)) == ["HS_KERNEL_clean"]
    assert defines(Module("flip_2", address=True)) == ["HS_KERNEL_flip_2", "HS_ADDRESS"]


def script(place: Path, version: str, body: str = "exit 1") -> Path:
    """A program that prints a version, and otherwise runs `body`."""
    place.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ printf "{version}"; exit 0; }}\n{body}\n')
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return place


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that replaces the PATH, with the tools that scripts need."""
    monkeypatch.delenv("HSGEN_GLSL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    spirv.compiler.cache_clear()
    yield tmp_path
    spirv.compiler.cache_clear()


SHADERC = hashlib.sha256(b"shaderc v2023.2 v2023.2\nspirv-tools v2023.1\nglslang 11.1\n").hexdigest()[:8]


@pytest.mark.parametrize(
    ("name", "version", "identity"),
    [
        ("glslangValidator", "Glslang Version: 11:12.0.0\\nESSL Version: x\\n", "glslangValidator 11:12.0.0 -Os"),
        ("glslang", "Glslang Version: 11:15.1.0-dev\\n", "glslang 11:15.1.0-dev -Os"),
        ("glslc", "shaderc v2023.2 v2023.2\\nspirv-tools v2023.1\\nglslang 11.1\\n", f"glslc 2023.2 ({SHADERC}) -Os"),
    ],
)
def test_compilers_are_known_by_name_and_version(fresh: Path, name: str, version: str, identity: str) -> None:
    path = script(fresh / name, version)
    assert spirv.compiler() == Compiler(str(path), name, identity)


def test_the_first_compiler_is_taken_unless_one_is_named(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, version in (("glslc", "shaderc v2023.2"), ("glslang", "Glslang Version: 1:2.3")):
        script(fresh / name, version)
    assert (found := spirv.compiler()) and found.name == "glslang"
    for chosen, name in (("glslc", "glslc"), (str(fresh / "glslc"), "glslc"), ("", None)):
        monkeypatch.setenv("HSGEN_GLSL", chosen)
        spirv.compiler.cache_clear()
        found = spirv.compiler()
        assert (found.name if found else None) == name
    monkeypatch.setenv("HSGEN_GLSL", "cc")
    spirv.compiler.cache_clear()
    with pytest.raises(Usage, match="HSGEN_GLSL: cc is no GLSL compiler; name glslangValidator, glslang, glslc"):
        spirv.compiler()


def test_a_program_without_a_version_is_no_compiler(fresh: Path) -> None:
    script(fresh / "glslang", "hello")
    assert spirv.compiler() is None


def test_results_are_kept_by_all_that_they_depend_on(fresh: Path) -> None:
    """The second time the compiler is not called; the header of a text does not count."""
    (fresh / "fake.py").write_text(
        "import sys\n"
        "said = ' '.join(sys.argv).encode()\n"
        "open(sys.argv[-1], 'wb').write(b'\\x03\\x02\\x23\\x07' + said + b' ' * (-len(said) % 4))\n"
    )
    body = f'echo x >> {fresh}/calls; exec {sys.executable} {fresh}/fake.py "$@"'
    using = Compiler(str(script(fresh / "glslang", "", body)), "glslang", "glslang 1")
    calls = fresh / "calls"
    head, text, module = "// made now\n// by hand\n", "#version 450\n", Module("clean", address=False)
    first = compile_one(head + text, "x.comp", module, using)
    assert b"-DHS_KERNEL_clean" in first and b"vulkan1.1" in first
    assert compile_one("// made later\n" + text, "x.comp", module, using) == first
    assert calls.read_text() == "x\n"
    others = [
        (text + "// more\n", module, using),
        (text, Module("clean", address=True), using),
        (text, Module("flip_1", address=False), using),
        (text, module, replace(using, identity="glslang 2")),
    ]
    for count, other in enumerate(others, 2):
        compile_one(other[0], "x.comp", *other[1:])
        assert calls.read_text() == "x\n" * count
    assert b"vulkan1.3" in compile_one(text, "x.comp", module, using, "1.3")


def test_a_refusal_names_the_kernel_and_is_not_kept(fresh: Path) -> None:
    script(fresh / "glslang", "", 'echo "ERROR: $0:7: nonsense"; exit 2')
    using = Compiler(str(fresh / "glslang"), "glslang", "glslang 1")
    with pytest.raises(Wrong, match=r"^a/x\.comp: kernel clean: glslang rejects it: ERROR: .*:7: nonsense$"):
        compile_one("#version 450\n", "a/x.comp", Module("clean", address=False), using)
    assert not [p for p in (fresh / "cache").rglob("*") if p.is_file()]
