"""A dialect that extends another inherits its words, except those that it redefines, each once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hsgen.core.errors import Wrong
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.dialects.definitions import overridden, split
from hsgen.emit import kernels, templates
from hsgen.system import resources
from hsgen.targets import target

TOY = """\
{% set extends = "cuda" %}
{% set suffix = "toy" %}
{% set helpers = ("hs_toy",) %}
{% macro words(sort) %}
// what lanes exchange here
#define hs_toy(a) (a)
#define hs_shuffle_xor(a, mask) __shfl_xor(hs_toy(a), mask)
typedef unsigned long long hs_lanemask;
{% endmacro %}
"""
Add = Callable[..., None]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Add]:
    """Add a dialect to a copy of the templates: its text, and optionally that of its frame."""
    shutil.copytree(resources.templates(), tmp_path / "templates")
    monkeypatch.setattr(resources, "templates", lambda: tmp_path / "templates")
    templates.environment.cache_clear()
    folder = tmp_path / "templates/dialects"

    def adding(name: str, text: str, frame: str = "") -> None:
        (folder / name).mkdir()
        (folder / name / "dialect.j2").write_text(text, encoding="utf-8")
        if frame:
            (folder / name / "kernel.j2").write_text(frame, encoding="utf-8")

    yield adding
    monkeypatch.undo()
    templates.environment.cache_clear()


def sort() -> Sort:
    return target.find("nvidia-hopper").sort("auto", "u32")


def names(text: str) -> list[str]:
    return [name for d in split(text) for name in d.names]


def test_words_are_replaced_where_they_stand(add: Add) -> None:
    add("toy", TOY)
    own, base = sort(), kernels.written(sort(), "cuda", "cuda")
    made = kernels.written(own, "toy", "cuda")
    assert names(made.prelude).count("hs_lanemask") == names(made.prelude).count("hs_shuffle_xor") == 1
    assert [n for n in names(made.prelude) if n != "hs_toy"] == names(base.prelude)  # in the same order, each once
    assert "typedef unsigned int hs_lanemask;" in base.prelude and "__shfl_xor_sync" in base.prelude
    assert "typedef unsigned long long hs_lanemask;" in made.prelude and "__shfl_xor_sync" not in made.prelude
    assert "#define hs_toy(a) (a)\n#define hs_shuffle_xor(a, mask) __shfl_xor(hs_toy(a), mask)\n" in made.prelude
    assert made.parts == base.parts  # bodies and frames
    assert made.path.endswith("/kernels/toy/auto_u32.toy")
    opened = re.findall(r"^// templates: (.*)$", made.header, re.MULTILINE)[0].split()
    assert {"dialects/toy/dialect.j2", "dialects/cuda/dialect.j2", "dialects/cuda/kernel.j2"} <= set(opened)


def test_words_that_a_sort_does_not_need_are_left_out(add: Add) -> None:
    add("toy", TOY)
    own = target.find("generic").sort("bitonic", "u32")
    assert own.lanes == 1
    assert kernels.written(own, "toy", "cuda").prelude == kernels.written(own, "cuda", "cuda").prelude


def test_a_dialect_may_have_capabilities_and_a_frame_of_its_own(add: Add) -> None:
    words = (
        "#define hs_head_flags(key, shift) 0u\n"
        "#define hs_expand_flags(word, begin, places) (word) = (begin) + (places)\n"
    )
    text = TOY.replace("{% macro words(sort) %}\n", "{% macro words(sort) %}\n" + words)
    add(
        "toy",
        text.replace("{% set suffix", '{% set capabilities = ("int64", "marks", "cooperative") %}\n{% set suffix'),
        "{% macro kernel(k, sort) %}void {{ k.name }}()\n{\n{{ caller() }}}\n{% endmacro %}",
    )
    made = kernels.written(sort(), "toy", "cuda")
    assert made.prelude.endswith(words) or words in made.prelude
    assert all(f"void {name}()" in text for name, text in made.parts.items())
    walks = target.find("cpu").sort("radix", "u32", Signature(run_boundaries=True))
    assert "hs_head_flags(keys[" in kernels.written(walks, "toy", "cuda").text
    assert "hs_head_flags(keys[" not in kernels.written(walks, "cuda", "cuda").text


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "hs_shuffle_xor(a, mask)",
            "hs_shufle_xor(a, mask)",
            "hs_shufle_xor is neither a word",
        ),
        ("hs_shuffle_xor(a, mask)", "hs_shuffle_xor(a)", "hs_shuffle_xor takes 1 parameters, not 2"),
        ('"hs_toy",', "", "hs_toy is neither a word"),
        ('extends = "cuda"', 'extends = "toy"', "extends itself"),
        ('extends = "cuda"', 'extends = "cud"', "dialects/cud/dialect.j2"),
        ('{% set suffix = "toy" %}', '{% set capabilities = ("wings",) %}', "not a capability of the contract: wings"),
        ('{% set extends = "cuda" %}', "", "does not define comment, capabilities"),
    ],
)
def test_errors_are_one_line(add: Add, old: str, new: str, says: str) -> None:
    assert old in TOY
    add("toy", TOY.replace(old, new))
    with pytest.raises(Wrong) as e:
        kernels.written(sort(), "toy", "cuda")
    assert says in str(e.value) and "\n" not in str(e.value)


BASE = """\
// sums
#define hs_a(x) (x)
#ifdef FAST
#pragma FAST
#define hs_b(x) fast(x)
#define hs_c 1
#else
#define hs_b(x) (x)
#define hs_c 2
#endif
typedef struct { int x; } hs_d;
static int hs_e(hs_d *from, int i)
{
    return from[i].x;
}
static int hs_f(int a) { return a; }
static int hs_f(long a) { return a; }
int hs_g, hs_h;
#define hs_i(x) { x; \\
    x; }
"""


def test_texts_are_split_into_definitions() -> None:
    found = split(BASE)
    assert "".join(d.text for d in found) == BASE
    assert [d.names for d in found if d.names] == [
        ("hs_a",),
        ("hs_b", "hs_c"),
        ("hs_d",),
        ("hs_e",),
        ("hs_f",),
        ("hs_f",),
        ("hs_g", "hs_h"),
        ("hs_i",),
    ]
    assert found[1].parameters == ("x",) and found[2].parameters is None
    assert [d.parameters for d in found if d.names == ("hs_e",)] == [("from", "i")]


def test_definitions_are_replaced_in_blocks_and_of_all_types() -> None:
    own = "#define hs_b(x) (-x)\n// both\nint hs_f(int a) { return 1; }\n#define hs_z 0\n"
    made = overridden(BASE, own, (), ())
    assert (
        names(made).count("hs_b") == 1 and "#define hs_b(x) (-x)\n#ifdef FAST\n#pragma FAST\n#define hs_c 1\n" in made
    )
    assert names(made).count("hs_f") == 1 and "// both\nint hs_f(int a) { return 1; }\nint hs_g" in made
    assert "hs_z" not in made
    whole = overridden(BASE, "#define hs_c 3\n#define hs_b(x) x\n", (), ())
    assert "FAST" not in whole and whole.startswith("// sums\n#define hs_a(x) (x)\n#define hs_b(x) x\n#define hs_c 3\n")
    assert (
        overridden(BASE, "#define hs_y\n#define hs_z 0\n", ("hs_y",), ("hs_z",))
        == BASE + "#define hs_y\n#define hs_z 0\n"
    )
