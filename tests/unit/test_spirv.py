"""SPIR-V: the modules of a sort, their text in C, the selection of a compiler, and the cache."""

from __future__ import annotations

import hashlib
import re
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import pytest
from nightly import NIGHTLY
from steps import changed

from hsgen.core.errors import Usage, Wrong
from hsgen.core.keys import VALUES, Signature
from hsgen.core.sort import Sort
from hsgen.emit import c_spirv, spirv, spirv_file
from hsgen.emit.spirv import Compiler, Module, compile_one, defines, modules
from hsgen.targets import target

HEADER = (119734787, 0x10300, 0, 9, 0)


def module_of(number: int) -> bytes:
    """A module of a header and some instructions of two words."""
    words = (*HEADER, *((2 << 16 | 7, number) * 20))
    return struct.pack(f"<{len(words)}I", *words)


def as_once_written(sort: Sort, made: dict[Module, bytes]) -> bytes:
    """A file of SPIR-V as earlier versions wrote it: words as numbers."""
    names = {m: f"acme_{sort.target}_{sort.file}_{m.kernel}{'_address' if m.address else ''}" for m in made}
    what = {m: m.kernel + (", buffers by device address" if m.address else "") for m in made}
    texts = [
        f"\n/* {what[m]} */\nstatic const uint32_t {names[m]}[] = {{\n"
        + "".join(f"{n}u," for n in struct.unpack(f"<{len(data) // 4}I", data))
        + "\n};\n"
        for m, data in made.items()
    ]
    tables = ""
    for address in (False, True):
        rows = [names.get(Module(k.name, address)) for k in sort.kernels]
        tables += f"const hs_spirv x{int(address)}[] = {{\n"
        tables += "".join(f"    {{{n}, sizeof {n}}},\n" if n else "    {0, 0},\n" for n in rows) + "};\n"
    head = c_spirv.modules_c(sort, made, "glslang 1", "acme").decode().split("\n\n/*")[0]
    return (head + "\n" + "".join(texts) + "\n" + tables).encode()


@pytest.mark.parametrize("old", [False, True])
def test_equal_modules_share_an_array(old: bool) -> None:
    """And the reader finds both, in files of earlier versions too."""
    sort = target.find("generic").sort("bitonic", "u32")
    wanted = modules(sort)
    made = {m: module_of(i if old else i // 2) for i, m in enumerate(wanted)}
    data = c_spirv.modules_c(sort, made, "glslang 1", "acme")
    text = data.decode()
    if old:
        data = as_once_written(sort, made)
        assert data.count(b"119734787u,") == len(wanted)
    else:
        assert text.count("static const char *const acme_generic_") == -(-len(wanted) // 2)
        assert f"/* {wanted[0].kernel}; {wanted[1].kernel} */" in text
    found = spirv_file.read(data)
    assert found and c_spirv.modules_of(sort, found, wanted, "acme") == made
    assert c_spirv.modules_of(sort, found, wanted[:-1], "acme") is None
    assert c_spirv.modules_of(sort, found, wanted, "hs") is None
    assert c_spirv.modules_of(replace(sort, kernels=sort.kernels[1:]), found, wanted, "acme") is None
    first = next(iter(found.arrays)).encode()
    if old:
        other = spirv_file.read(data.replace(b"{%b," % first, b"{acme_x,", 1))
        assert other and c_spirv.modules_of(sort, other, wanted, "acme") is None
    else:
        size = len(made[wanted[0]])
        for wrong in (b"%d, acme_x}" % size, b"%d, %b}" % (size + 4, first)):
            assert spirv_file.read(data.replace(b"%d, %b}" % (size, first), wrong, 1)) is None


EACH = 1 if NIGHTLY else 3
"""The fast run takes every third sort of a target, other ones of the next target."""


@pytest.mark.parametrize("name", sorted(target.names()))
def test_every_kernel_has_a_row(name: str) -> None:
    """What no step launches is not generated, with any values, orders and features."""
    found = target.find(name)
    signatures = [
        *(Signature(value=v, key_transform=t) for v in VALUES for t in (False, True)),
        *(Signature(value=v, bit_range=True) for v in ("none", "v4")),
        *(Signature(value=v, device_count=True, bit_range=b) for v in ("none", "index") for b in (False, True)),
        Signature(run_boundaries=True),
    ]
    labels = [(key, label) for key in ("u8", "u32", "u64") for label in [*found.labels(key), *found.implicit(key)]]
    seen, first = 0, target.names().index(name) % EACH
    for (key, label), signature in islice(product(labels, signatures), first, None, EACH):
        with suppress(Usage):
            sort = found.sort(label, key, signature)
            assert {k.name for k in sort.kernels} == {s.kernel for s in sort.plan.steps}, (label, key, signature)
            seen += 1
    assert seen > 20


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
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / name))
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


def test_a_compiler_that_pip_has_installed_comes_after_those_of_the_path(fresh: Path) -> None:
    (fresh / "scripts").mkdir()
    own = script(fresh / "scripts" / "glslangValidator", "Glslang Version: 11:13.1.1")
    assert spirv.compiler() == Compiler(str(own), "glslangValidator", "glslangValidator 11:13.1.1 -Os")
    script(fresh / "glslc", "shaderc v2023.2")
    spirv.compiler.cache_clear()
    assert (found := spirv.compiler()) and found.name == "glslc"


def test_the_program_that_a_script_of_cmeel_starts_is_run_without_the_script(fresh: Path) -> None:
    for folder in ("scripts", "purelib/cmeel.prefix/bin"):
        (fresh / folder).mkdir(parents=True)
    report = script(fresh / "scripts" / "glslang", "Glslang Version: 1:2.3")
    using = spirv.compiler()
    assert using and using.path == str(report)
    prefix = fresh / "purelib/cmeel.prefix"
    body = 'echo "ERROR: libraries in $LD_LIBRARY_PATH"; exit 2'
    program = script(prefix / "bin/glslang", "Glslang Version: 1:2.3", body)
    spirv.compiler.cache_clear()
    using = spirv.compiler()
    assert using == Compiler(str(program), "glslang", "glslang 1:2.3 -Os", str(prefix / "lib"))
    with pytest.raises(Wrong, match=f"libraries in {prefix}/lib$"):
        compile_one("#version 450\n", "x.comp", Module("clean", address=False), using)
    script(program, "no version")
    spirv.compiler.cache_clear()
    using = spirv.compiler()
    assert using and using.path == str(report)


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
