"""Dialects define exactly the words of the contract, and kernel bodies use no others."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import covering
import pytest
from nightly import sampled

from hsgen.algorithms.segmented import short_rows
from hsgen.core.errors import Usage
from hsgen.core.kernels import Kernel
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.dialects import reference
from hsgen.dialects.contract import contract
from hsgen.dialects.definitions import Definition, omitting, split
from hsgen.dialects.dialect import Dialect, load
from hsgen.emit import kernels
from hsgen.emit.templates import environment
from hsgen.system import resources
from hsgen.targets import target
from hsgen.tree import passes

DIALECTS = ("opencl", "glsl", "cuda", "hip", "metal", "hlsl", "wgsl")
WORD = re.compile(r"\b(?:hs|HS)_\w+")
OTHERS = ("apis", "bundle", "dialects", "operations", "report")
ROOT = resources.templates()
FOLDERS = sorted(
    {
        p.relative_to(ROOT).parent.as_posix()
        for p in ROOT.glob("*/**/*.j2")
        if p.relative_to(ROOT).parts[0] not in OTHERS
    }
)
SHARED = sorted(p.name for p in resources.templates().glob("*.j2"))  # parts of bodies that all folders may import


def code(text: str) -> str:
    """A text without Jinja's comments and those of kernels."""
    return re.sub(r"//.*", "", re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL))


def sorts() -> tuple[Sort, ...]:
    return tuple(sort for sort, _ in covering.sorts())


def texts(dialect: Dialect) -> Iterator[tuple[Sort, str]]:
    """Preludes of all sorts in a dialect, for any APIs of their targets."""
    for sort in sorts():
        waits = any(k.cooperative for k in sort.kernels)
        lacking = waits and "cooperative" not in dialect.capabilities
        lacking |= any(k.handover for k in sort.kernels) and "handover" not in dialect.capabilities
        lacking |= any(k.by_rows for k in sort.kernels) and "rows" not in dialect.capabilities
        lacking |= any(k.int16 for k in sort.kernels) and "int16" not in dialect.capabilities
        if not lacking and (sort.lanes <= 32 or dialect.name != "cuda"):
            yield sort, dialect.prelude(sort)


def of(sort: Sort, dialect: Dialect) -> list[Kernel]:
    return [k for k in sort.kernels if "int64" in dialect.capabilities or not k.index64]


BODIES: dict[tuple[Kernel, frozenset[str], bool, bool], frozenset[str]] = {}


def used_by(sort: Sort, kernel: Kernel, dialect: Dialect) -> frozenset[str]:
    """The words of a body, which depends on no more of a sort and a dialect than this key has; many sorts share it."""
    key = kernel, dialect.capabilities, sort.written_out, sort.lanes > 1
    if key not in BODIES:
        body = code(kernels.body(environment(), sort, kernel, dialect))
        BODIES[key] = frozenset(WORD.findall(body))
    return BODIES[key]


@cache
def definitions(text: str) -> tuple[Definition, ...]:
    """Return the definitions of a text, which many sorts and kernels share."""
    return tuple(split(text))


def frame(sort: Sort, kernel: Kernel, dialect: Dialect) -> tuple[Definition, ...]:
    return definitions(dialect.wrap(sort, kernel, ""))


def defined(found: Iterable[Definition]) -> set[str]:
    return {name for d in found for name in (*d.names, *(n for b in d.branches for n in b.names))}


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_defines_the_words_of_the_contract_and_no_others(name: str) -> None:
    env = environment()
    dialect, shared = load(env, name), contract(env)
    words = {w: x for w, x in shared.words(dialect.capabilities).items() if w not in passes.replaced(dialect.passes)}
    found: dict[str, set[tuple[str, ...] | None]] = {}
    parts: set[str] = set()
    for sort, prelude in texts(dialect):
        parts |= {prelude, *(dialect.wrap(sort, k, "") for k in of(sort, dialect) if dialect.passes)}
    for d in itertools.chain.from_iterable(map(definitions, parts)):
        for one in (d, *d.branches):
            for word in one.names:
                found.setdefault(word, set()).add(one.parameters)
    ours = {w for w in found if WORD.fullmatch(w)} | (found.keys() & dialect.helpers)
    assert ours - dialect.helpers - shared.helpers == words.keys()
    unused = set() if "cooperative" in dialect.capabilities else {"hs_grid_word"}  # inherited by an extension without
    assert dialect.helpers - unused <= ours and not dialect.helpers & words.keys() and not shared.helpers & words.keys()
    for word, wanted in words.items():
        counts = {None if p is None else len(p) for p in found[word] if p is not None or wanted.parameters is None}
        assert counts == {None if wanted.parameters is None else len(wanted.parameters)}, word


@pytest.mark.parametrize("name", DIALECTS)
def test_bodies_use_defined_words_and_each_is_defined_once(name: str) -> None:
    """Each kernel of sorts of all kinds, with the prelude of its sort and the words of its algorithms."""
    env = environment()
    dialect, shared = load(env, name), contract(env)
    words = shared.words(dialect.capabilities).keys()
    for sort, prelude in sampled(texts(dialect), 5):
        own = definitions("".join(kernels.words(env, sort)))
        before = [*definitions(prelude), *own]
        twice = [(n, d.parameters) for d in before for n in d.names if not d.branches and not overloaded(d)]
        assert len(twice) == len(set(twice)), sort.name
        for kernel in of(sort, dialect):
            used = used_by(sort, kernel, dialect)
            assert used <= words | defined(own), (sort.name, kernel.name, used - words - defined(own))
            assert ("key" in kernel.picks, "value" in kernel.picks) == (
                "hs_select_keys" in used,
                "hs_select_values" in used,
            )
            there = defined(before) | defined(frame(sort, kernel, dialect))
            assert used <= there | passes.replaced(dialect.passes) | UNREAD, (sort.name, kernel.name, used - there)


@pytest.mark.parametrize("name", DIALECTS)
def test_no_helper_of_a_word_is_left_out_with_another(name: str) -> None:
    """Whichever groups of words are left out since no kernel uses them."""
    env = environment()
    dialect, shared = load(env, name), contract(env)
    groups = [{w.name for w in g.words} for g in shared.groups if g.if_used]
    assert groups
    _, prelude = next(texts(dialect))
    for n in range(1, len(groups) + 1):
        for some in itertools.combinations(groups, n):
            words = set[str]().union(*some)
            found = split(omitting(prelude, words, dialect.helpers))
            helpers = set(WORD.findall("".join(d.text for d in found))) & dialect.helpers
            assert helpers & defined(split(prelude)) <= defined(found), words
            assert not words & defined(found)


UNREAD = {"HS_FIRST_SLOTS", "HS_SECOND_SLOTS", "hs_row_cut"}
"""Arguments that hs_row_tag ignores for sorts without values."""


def overloaded(d: Definition) -> bool:
    """Whether it is a function, which may have one definition per type."""
    return d.parameters is not None and not d.text.startswith("#")


def test_templates_of_bodies_name_no_other_words() -> None:
    """Also in branches that no sort of these tests takes."""
    env = environment()
    shared = contract(env)
    words = set(shared.words(shared.capabilities))
    for folder in FOLDERS:
        own, prefixes = set(), []
        for file in (ROOT / folder / "words.j2", (ROOT / folder).parent / "words.j2"):
            if not file.is_file():
                continue
            text = file.read_text(encoding="utf-8")
            for included in re.findall(r'\{% include "(.+?)" %\}', text):
                text += (resources.templates() / included).read_text(encoding="utf-8")
            own |= set(re.findall(r"#define (\w+)(?!\w|\{\{)", text))
            prefixes += re.findall(r"#define (\w+)\{\{", text)
        for path in bodies(folder):
            used = set(WORD.findall(code(path.read_text(encoding="utf-8"))))
            other = {w for w in used - words - own if not any(w.startswith(p) for p in prefixes)}
            assert other == set(), path.name
    for name in SHARED:
        used = set(WORD.findall(code((resources.templates() / name).read_text(encoding="utf-8"))))
        assert used <= words | shared.helpers, name


def bodies(folder: str) -> list[Path]:
    pattern = "*.j2" if folder == "." else "**/*.j2"
    found = sorted(p for p in (resources.templates() / folder).glob(pattern) if p.name != "words.j2")
    assert found
    return found


@pytest.mark.parametrize("folder", [*FOLDERS, "."])
def test_bodies_hold_no_word_of_a_dialect_vendor_or_api(folder: str) -> None:
    vendors = r"opencl|glsl|cuda|vulkan|metal|intel|nvidia|\bamd|lavapipe|pocl|apple|mali|adreno"
    languages = r"__kernel|__global|__local|__shared__|threadgroup|\bgl_|get_\w+_id|CLK_|\buvec|\buint\d?\b|\bulong\b"
    cases = r"kernel\.(name|algorithm|template|buffers)\b|\bsort\.target|\bapi\b|selectattr\(.name"
    for path in bodies(folder):
        text = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(f"{vendors}|{languages}|{cases}", text, re.IGNORECASE), path.name


def test_dialects_name_no_algorithm_and_none_of_their_buffers() -> None:
    algorithms = {k.algorithm for sort in sorts() for k in sort.kernels} | set(FOLDERS)
    buffers = {b.name for sort in sorts() for k in sort.kernels for b in k.buffers}
    arrays = {a.name for sort in sorts() for k in sort.kernels for a in k.arrays}
    for path in sorted((resources.templates() / "dialects").rglob("*.j2")):
        text = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"\{% set (capabilities|helpers|passes) = .*\n", "", text)
        quoted = set(re.findall(r'"(\w+)"', text)) - {"key", "value", "word", "int64", "pair", *Kernel.__slots__}
        assert not quoted & (algorithms | buffers | arrays), path
        plain = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", text)
        assert not {n for n in buffers | arrays if re.search(rf"\b{n}\[", plain)} - ARGUMENTS, path
        assert not re.search(r"\.(algorithm|template|params)\b|startswith", text), path


ARGUMENTS = {"from", "to", "lines", "slots"}
"""Parameters and variables of words with the names of buffers."""


def test_the_page_has_the_words_of_the_contract() -> None:
    """`make words` writes them."""
    page = (resources.root() / "docs/reference/dialect.md").read_text(encoding="utf-8")
    words = page.partition("<!-- words -->\n")[2].partition("<!-- end of words -->")[0]
    assert words == reference.table(environment())
    assert {d.name for d in reference.dialects(environment())} == set(DIALECTS)


def test_sorts_that_a_dialect_cannot_express_are_refused() -> None:
    waits = target.find("nvidia-hopper").sort("auto", "u32")
    assert any(k.cooperative for k in waits.kernels)
    with pytest.raises(Usage, match="requires barriers of all work-groups, which metal lacks; omit the API metal"):
        kernels.render(waits, "metal")
    segments = target.find("nvidia-hopper").sort(
        "segmented_sort", "u32", Signature(value="index64", key_transform=True)
    )
    rows = short_rows.specialize(segments, 1 << 18)
    assert rows is not None and any(k.int16 for k in rows.kernels) and not all(k.int16 for k in rows.kernels)
    with pytest.raises(Usage, match=r"has 16-bit integers in local memory, which glsl lacks; omit the API vulkan$"):
        kernels.render(rows, "vulkan")
