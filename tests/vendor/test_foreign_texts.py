"""Texts and names of target files arrive unchanged in C, or are refused in one line."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from building import SMALL, WARNINGS, bundle, folder, need, run
from hypothesis import given, settings
from hypothesis import strategies as st

from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.emit import c_files, identifiers
from hsgen.emit.c_values import c_comment, c_string, filled, slot
from hsgen.targets import target
from hsgen.targets.target import parse

TEXT = Path(SMALL).read_text(encoding="utf-8")
HOSTILE = [
    '"', "\\", "??/", "??/??/", "??'", "???", "??\\", "\\n", "\\0", "%s", "@bitonic_u32@", "@PROJECT_NAME@", "${x}",
    "$(x)", "*/ int x; /*", "/*", "*/", "//", "#include <x>", '"; int x; "', "\\u0041", "\\x41", "\\", "a??/", "hs_x",
    "HS_X", "hs/hs.h", "(hs_", "'", "`x`", "|", "<b>", "{{ x }}", "{% x %}", "names 0", "'''", '"""', "/**/", "*//*",
    "-->", "?",
]  # fmt: skip


def small(**texts: object) -> target.Target:
    """The small target with other texts, as a target file has them."""
    text = TEXT
    if "summary" in texts:
        line = next(x for x in text.splitlines() if x.startswith("summary"))
        text = text.replace(line, f"summary = {json.dumps(texts['summary'])}")
    more = {k: v for k, v in texts.items() if k != "summary"}
    text += "\n[match]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in more.items()) if more else ""
    return parse(text, "small", "small.toml")


def c_file(found: target.Target, prefix: str) -> str:
    return c_files.target_c(found, [], prefix).decode()


def compiled(found: target.Target, prefix: str, standard: str) -> list[bytes]:
    """The names and platforms of a target as a C program sees them."""
    need("gcc")
    place = folder("texts")
    sorts = bundle(SMALL, prefix=prefix)
    (place / "small.c").write_text(c_file(found, prefix).replace("small_sorts[] = {}", "small_sorts[] = {0}"))
    P = prefix
    loops = "".join(
        f"for (i = 0; i < {P}_small.match->{count}; i++) puts({P}_small.match->{words}[i]);"
        for words, count in (("names", "name_count"), ("platforms", "platform_count"))
    )
    text = f'#include "{P}/{P}_targets.h"\n#include <stdio.h>\n'
    (place / "main.c").write_text(f"{text}int main(void) {{ unsigned i; {loops} return 0; }}\n")
    command = ["gcc", f"-std={standard}", *WARNINGS, "-Wno-trigraphs", f"-I{sorts / 'include'}"]
    run(*command, place / "small.c", place / "main.c", "-o", place / "main")
    return run(place / "main").encode().splitlines()


@pytest.mark.parametrize(("standard", "prefix"), [("c99", "hs"), ("gnu11", "acme")])
def test_texts_are_the_same_in_c(standard: str, prefix: str) -> None:
    """With and without trigraphs; the compiled text is compared byte by byte."""
    rng = random.Random(7)
    names = [*HOSTILE, *("".join(rng.choices(HOSTILE, k=4))[:200] for _ in range(60))]
    names += ["".join(chr(rng.randrange(32, 127)) for _ in range(rng.randrange(1, 200))) for _ in range(60)]
    found = small(names=names, platforms=names[::-1], summary="".join(HOSTILE)[:200])
    assert compiled(found, prefix, standard) == [x.encode() for x in [*names, *names[::-1]]]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=210))
def test_any_text_is_refused_in_one_line_or_kept(text: str) -> None:
    try:
        found = small(names=[text], summary=text)
    except (Usage, UnicodeEncodeError) as e:
        lines = e.lines if isinstance(e, Usage) else ()
        assert all(line.isprintable() for line in lines)
        return
    out = c_file(found, "hs")
    assert f"{{{c_string(text)}}}" in out
    head = out[: out.index("#include")]
    assert head.count("*/") == head.count("/*") == 1 and c_comment(text) in head


def test_a_text_is_put_in_once() -> None:
    """Placeholders and the prefix are not replaced within an inserted text."""
    slots = {"a": slot("b"), "b": slot("a")}
    assert filled(slot("a") + slot("b"), slots) == slot("b") + slot("a")
    assert "hs_x @bitonic_u32@" in c_file(small(names=["hs_x @bitonic_u32@"]), "acme")


@pytest.mark.parametrize(
    "name",
    ["A", "a_b", "a.b", "-a", "a-", "a--b", "x" * 65, "con", "com1", "aux", "a b", "a/b", "..", "", "hs", "my-hs",
     "a\n", "a;b", "${x}", "a)", "ä", "x)\nexecute_process(COMMAND id", "'", "x'y"],
)  # fmt: skip
def test_names_that_files_and_build_systems_cannot_take(name: str) -> None:
    """A target's name occurs in paths, CMake, Meson, Markdown and C."""
    with pytest.raises(Usage) as e:
        parse(TEXT.replace('name = "small"', f"name = {json.dumps(name)}"), name, "x.toml")
    assert len(e.value.lines) == 1 and e.value.lines[0].isprintable()


@pytest.mark.parametrize("variant", ["A", "a-b", "a_b", "x" * 33, "", "a b"])
def test_names_of_variants(variant: str) -> None:
    text = TEXT.replace("[radix.u32]", f"[radix.u32.{json.dumps(variant)}]").replace(
        "[bitonic.u32]", f"[bitonic.u32.{json.dumps(variant)}]"
    )
    with pytest.raises(Usage, match="cannot name a variant"):
        parse(text, "small", "small.toml")


def named(name: str, *sorts: str, apis: tuple[str, ...] = ("opencl",), spirv: tuple[str, ...] = ()) -> c_files.Named:
    return c_files.Named(name=name, apis=apis, sorts=sorts, spirv=spirv)


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        ([named("x", "radix-bits2_u32"), named("x-radix-bits2-u32")], "hs_x_radix_bits2_u32; rename one"),
        ([named("x", "bitonic_u32"), named("x-bitonic", "u32")], "hs_x_bitonic_u32; rename one"),
        ([named("x", "bitonic_u32"), named("x-bitonic-u32-kernels")], "may be a C name of both"),
        ([named("x", "bitonic_u32"), named("x-bitonic-u32-block-sort-4")], "may be a C name of both"),
        ([named("x-bitonic-u32-spirv"), named("x", "bitonic_u32")], "may be a C name of both"),
        ([named("x"), named("x-sorts")], "hs_x_sorts; rename one"),
        ([named("x"), named("x-devices")], "hs_x_devices; rename one"),
        ([named("x"), named("x-cuda")], "hs_x_cuda; rename one"),
        ([named("x", "merge-a_u32", "merge_a_u32")], "has the C name hs_x_merge_a_u32 twice"),
        ([named("opencl")], "hs_opencl is one of the runtime's"),
        ([named("targets")], "hs_targets is one of the runtime's"),
        ([named("cuda-targets")], "one of the runtime's"),
        ([named("status-text")], "one of the runtime's"),
        ([named("x-y", "bitonic_u32"), named("x", "bitonic_u32"), named("x-bitonic", "bitonic_u32")], None),
        ([named(n, "auto_u32", "auto_u32_v4", "digest_u32") for n in target.names()], None),
    ],
)
def test_names_that_clash_in_c(targets: list[c_files.Named], said: str | None) -> None:
    for order in (targets, targets[::-1]):
        if said is None:
            identifiers.refuse_clashes(order)
        else:
            with pytest.raises(Usage, match=said.replace("(", r"\(")):
                identifiers.refuse_clashes(order)


def test_known_names_in_c_are_those_that_files_define() -> None:
    """The check for clashes covers every global name of a compiled bundle, except the runtime's."""
    need("gcc", "nm")
    place = bundle(SMALL, "cpu")
    manifest = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
    entries = [named(n, *e["sorts"], apis=tuple(e["apis"])) for n, e in manifest["targets"].items()]
    known = {name for entry in entries for name, _ in identifiers._owned(entry)}
    families = {name for entry in entries for name, family in identifiers._owned(entry) if family}
    out = folder("names")
    for path in sorted(place.glob("targets/*/*.c")):
        run("gcc", "-std=c99", f"-I{place / 'include'}", "-c", path, "-o", out / f"{path.stem}.o")
        symbols = [line.split() for line in run("nm", out / f"{path.stem}.o").splitlines()]
        names = {s[-1] for s in symbols if s[-2] not in "Uu" and s[-1].startswith("hs_")}
        assert len(names) > 4
        left = {n for n in names - known if not any(n.startswith(f"{f}_") for f in families)}
        assert left == set()


def test_targets_that_clash_are_refused_by_generate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "cpu-sorts"
    (tmp_path / f"{name}.toml").write_text(TEXT.replace('name = "small"', f'name = "{name}"'), encoding="utf-8")
    command = ["generate", "-t", "cpu", "-t", str(tmp_path / f"{name}.toml"), "--api", "opencl", "--key", "u32"]
    assert main([*command, "-o", str(tmp_path / "out")]) == 2
    assert "have the same C name hs_cpu_sorts; rename one" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_lists_of_sources_name_what_builds() -> None:
    """The files of each list exist, and build systems list the same."""
    place = bundle(SMALL, "cpu", apis=())
    lists = sorted(place.glob("sources/*.txt"))
    assert [p.stem for p in lists] == ["cuda", "opencl", "vulkan"] or [p.stem for p in lists] == ["opencl", "vulkan"]
    cmake = (place / "CMakeLists.txt").read_text(encoding="utf-8")
    for file in lists:
        names = file.read_text(encoding="utf-8").splitlines()
        assert names[:5] == [f"src/hs{part}.c" for part in ("", "_call", "_match", "_plan", "_targets")]
        assert len(set(names)) == len(names)
        for name in names:
            assert (place / name).is_file() and name in cmake
    assert shutil.which("sh") and "*" not in "".join(p.read_text(encoding="utf-8") for p in lists)
