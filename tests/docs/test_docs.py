"""The documents are correct: their commands and examples run, and their links and names exist."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doc_blocks import ROOT, Block, blocks, only, shell
from nightly import NIGHTLY, nightly
from tools import OPENCL, need

from hsgen.cli import group
from hsgen.engines.hosts import Host
from hsgen.opencl import Sorter
from hsgen.system import compilers, toolchain

DOCS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "SOUNDNESS.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PARTS = (
    "hsgen",
    "templates",
    "targets",
    "generated",
    "docs",
    "pyproject.toml",
    "hatch_build.py",
    "README.md",
    "LICENSE",
)
OPTIONS = {
    name: {o for p in command.params for o in (*p.opts, *p.secondary_opts)} for name, command in group.commands.items()
}


def records(folder: Path, command: str) -> list[dict[str, Any]]:
    """The --json output of a command."""
    done = shell(f"hsgen {command} --json", folder, subprocess.PIPE)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    found: Any = json.loads(done.stdout)
    return found if isinstance(found, list) else [found]  # bench prints a single object


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the checkout's files."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("*.pyc.*"))
        else:
            shutil.copy(ROOT / part, tmp_path / part)
    return tmp_path


def fewer(tree: Path) -> None:
    """The fast run keeps two targets in the copy, since commands for all targets are slow."""
    if not NIGHTLY:
        kept = {"cpu", "generic"}
        gone = [n for n in sorted(p.name for p in (tree / "generated/targets").iterdir()) if n not in kept]
        done = shell(f"hsgen generate {' '.join(f'--remove {n}' for n in gone)}", tree)
        assert gone and done.returncode == 0, done.stdout
        for path in (tree / "targets").glob("*.toml"):
            if path.stem not in kept:
                path.unlink()


NARROWED = ("validate -t my-gpu.toml\n", "validate -t my-gpu.toml --key u64\n")
"""In the fast run the first validation of a new target skips u32, which the recorded one at the end of the page
covers."""


def follow(path: Path, folder: Path) -> Iterator[tuple[Block, str]]:
    """Follow a document; yield every block that was run with its output.

    The first TOML block is saved, the second appended to that file at its current path.  Blocks of sh must succeed; in
    blocks of console every command must print exactly the lines below it.
    """
    files = iter(only(path, "toml"))
    for language, text in blocks(path):
        if language == "sh":
            done = shell(text if NIGHTLY else text.replace(*NARROWED), folder)
            assert done.returncode == 0, f"{text}\n{done.stdout}"
            yield (language, text), done.stdout
        elif language == "console":
            for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
                assert shell(command, folder).stdout == expected, command
            yield (language, text), text
        elif language == "toml":
            name = "my-gpu.toml"
            place = next((p for p in (folder / "targets" / name, folder / name) if p.exists()), folder / name)
            with place.open("a", encoding="utf-8") as file:
                file.write("\n" + next(files))
            yield (language, text), ""


def test_adding_a_target_as_the_document_says(tree: Path, embedded: Host) -> None:
    fewer(tree)
    before = {p: p.read_bytes() for p in (tree / "generated").rglob("*.cl")}
    ran = list(follow(tree / "docs/guides/add-a-target.md", tree))
    languages = [language for (language, _), _ in ran]
    assert languages.count("toml") == 2 and "console" in languages and languages.count("sh") >= 5
    assert sum(text.count(NARROWED[0]) for (_, text), _ in ran) == 1
    output = {text: out for (_, text), out in ran}
    validated = next(out for text, out in output.items() if "validate" in text)
    assert re.search(r"^my-gpu +opencl +u64 .* 0 +1$", validated, re.M), validated
    assert (tree / "sorts/targets/my-gpu/kernels/opencl/bitonic_u64.cl").is_file()
    assert (tree / "generated/targets/my-gpu/plans/auto_u32.json").is_file()
    assert all(p.read_bytes() == data for p, data in before.items()), "another target's files changed"
    mine = next(t for t in records(tree, "targets") if t["name"] == "my-gpu")
    ran_here, shown = mine["evidence"]  # the evidence of --record, and the example of the page
    assert ran_here["level"] == shown["level"] == "cpu" and ran_here["shapes"] == mine["shapes"] != shown["shapes"]
    assert records(tree, "check") == [], "evidence changed what is generated"


def test_the_readme_vendors_a_bundle(tree: Path) -> None:
    """Its commands about bundles run, and the headers declare the functions that its lines of C call."""
    ran = ""
    for text in only(tree / "README.md", "sh"):
        if "third_party" in text:
            done = shell(text, tree)
            assert done.returncode == 0, f"{text}\n{done.stdout}"
            ran += done.stdout
    assert "third_party/sorts is up to date" in ran and "third_party/sorts is as it was generated" in ran
    need(OPENCL)
    head = '#include "hs/hs_opencl.h"\n#include "hs/hs_targets.h"\n'
    prototype = (
        "hs_status make_sorter(cl_context, cl_device_id, hs_opencl **);\n"
        "hs_status sort_keys(hs_opencl *, cl_command_queue, cl_mem, uint64_t, cl_mem);\n"
    )
    (tree / "lines.c").write_text(head + prototype + "".join(only(tree / "README.md", "c")), encoding="utf-8")
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-Ithird_party/sorts/include"]
    command = [*compilers.c_compiler(), *flags, "lines.c"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_layers_are_those_that_the_test_holds() -> None:
    """docs/internals/architecture.md lists the packages of tests/unit/test_architecture.py, from the top."""
    text = (ROOT / "docs/internals/architecture.md").read_text(encoding="utf-8")
    shown = re.search(r"^## Imports go one way\n\n((?: {4}.*\n)+)", text, re.M)
    assert shown, "docs/internals/architecture.md shows no layers"
    source = ast.parse((ROOT / "tests/unit/test_architecture.py").read_text(encoding="utf-8"))
    held = next(
        ast.literal_eval(node.value)
        for node in source.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYERS"
    )
    there = {p.stem for p in (ROOT / "hsgen").iterdir()}
    expected = [sorted(set(names) & there) for names in reversed(held)]
    assert [sorted(line.split()) for line in shown[1].splitlines()] == expected


def test_the_three_lines_of_python_sort(embedded: Host) -> None:
    three = only(ROOT / "docs/guides/python.md", "python")[0]
    assert len(three.splitlines()) == 3
    cl = toolchain.pyopencl()
    import pyopencl.array as cl_array

    context = cl.Context([embedded.handle])
    queue = cl.CommandQueue(context)
    host = np.random.default_rng(7).integers(0, 2**32, 10_007, np.uint32)
    names: dict[str, Any] = {"Sorter": Sorter, "queue": queue, "keys": cl_array.to_device(queue, host)}
    names["sorted_keys"] = cl_array.zeros_like(names["keys"])
    exec(three, names)
    for name in ("keys", "sorted_keys"):
        assert np.array_equal(names[name].get(queue), np.sort(host))


def test_the_pairs_of_the_guide_are_sorted(embedded: Host) -> None:
    """Its example with values: in place, in descending order, stable."""
    (text,) = (x for x in only(ROOT / "docs/guides/python.md", "python") if x.startswith("pairs"))
    cl = toolchain.pyopencl()
    import pyopencl.array as cl_array

    context = cl.Context([embedded.handle])
    queue, rng = cl.CommandQueue(context), np.random.default_rng(8)
    scores = rng.integers(-50, 50, 3001).astype(np.float32)
    ids = rng.permutation(3001).astype(np.uint32)
    names: dict[str, Any] = {"Sorter": Sorter, "queue": queue}
    names |= {"scores": cl_array.to_device(queue, scores), "ids": cl_array.to_device(queue, ids)}
    exec(text, names)
    order = np.argsort(-scores, kind="stable")
    assert np.array_equal(names["scores"].get(queue), scores[order])
    assert np.array_equal(names["ids"].get(queue), ids[order])


def test_the_three_lines_are_the_same_everywhere() -> None:
    three = only(ROOT / "docs/guides/python.md", "python")[0]
    assert three in only(ROOT / "README.md", "python")
    shown = ast.get_docstring(ast.parse((ROOT / "hsgen/opencl/sorter.py").read_text(encoding="utf-8"))) or ""
    shown = "".join(f"{line[4:]}\n" for line in shown.splitlines() if line.startswith(">>> "))
    assert re.sub(r" +#", "  #", shown) == three


def test_the_whole_python_program_runs(embedded: Host, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(only(ROOT / "docs/guides/python.md", "python")[2], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sorted 100000 keys" in done.stdout


def section(command: str) -> str:
    """The section of docs/reference/json.md for a command."""
    text = (ROOT / "docs/reference/json.md").read_text(encoding="utf-8")
    found = re.search(rf"^## `hsgen {command}\b.*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert found, f"docs/reference/json.md has no section for {command}"
    return found[1]


def fields(command: str) -> dict[str, str]:
    """The table of docs/reference/json.md for a command: each field and its description."""
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section(command), re.M))


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("targets", ""),
        ("show", "cpu --plan 100000"),
        ("generate", "-t cpu -o new --dry-run"),
        ("check", ""),
        ("verify", "generated"),
        nightly("doctor", ""),  # which takes long; in the fast run its output conforms to the schema
        ("help", ""),
        ("suggest", "-t cpu --key u32"),
    ],
)
def test_json_is_as_documented(tree: Path, command: str, arguments: str) -> None:
    if command == "check":
        fewer(tree)
    if command in ("check", "verify"):
        (tree / "generated/LICENSE").write_text("changed", encoding="utf-8")
    if command == "targets":
        evidence = only(ROOT / "docs/guides/add-a-target.md", "toml")[1]
        with (tree / "targets/cpu.toml").open("a", encoding="utf-8") as file:
            file.write("\n" + evidence)
    compare_fields(command, records(tree, f"{command} {arguments}"))


def test_json_of_a_validation_is_as_documented(tree: Path, embedded: Host) -> None:
    compare_fields("validate", records(tree, "validate -t cpu --key u16"))


def test_json_of_a_benchmark_is_as_documented(tree: Path, embedded: Host) -> None:
    """Its section has a table of the document and one of the rows; each row has these fields in this order."""
    text = section("bench").split("| field |")[1:]
    document, row = (re.findall(r"^\| `(\w+)` \|", table, re.M) for table in text)
    (found,) = records(tree, "bench -t cpu --key u32 --sizes 1000 --rounds 1 --against numpy,hsgen:bitonic")
    assert list(found) == document and found["schema"] == 2
    assert len(found["rows"]) == 4 and all(list(r) == row for r in found["rows"])


def compare_fields(command: str, found: list[dict[str, Any]]) -> None:
    documented = fields(command)
    assert found, f"{command} printed no object to look at"
    for record in found:
        assert list(record) == list(documented)
        for name, value in record.items():
            for inner in value if isinstance(value, list) else []:
                unnamed = [k for k in inner if f"`{k}`" not in documented[name]] if isinstance(inner, dict) else []
                assert not unnamed, f"docs/reference/json.md: {command} {name} does not name {unnamed}"


@pytest.mark.parametrize("path", DOCS, ids=lambda p: p.name)
def test_links_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\[[^\]]*\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        if not re.match(r"\w+:", link):
            place, _, anchor = link.partition("#")
            goal = path.parent / place if place else path
            assert goal.exists(), f"{path.name}: {link} leads nowhere"
            if anchor:
                assert anchor in anchors(goal), f"{path.name}: {link} names no heading"


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as git forges generate them."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads}


def test_the_readme_fits_on_a_few_screens() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120 and max(map(len, lines)) <= 130


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    for name in group.commands:
        assert re.search(rf"^\| `hsgen {name}\b", page, re.M), f"cli.md: no row for hsgen {name}"
        assert fields(name)


@pytest.mark.parametrize("path", DOCS, ids=lambda p: p.name)
def test_commands_and_options_that_documents_name_exist(path: Path) -> None:
    code = re.findall(r"`([^`\n]+)`", path.read_text(encoding="utf-8"))
    code += [line for word in ("sh", "console") for text in only(path, word) for line in text.splitlines()]
    for name, rest in (m.groups() for line in code if (m := re.match(r"(?:\$ )?hsgen ([a-z]+)\b(.*)", line))):
        assert name in OPTIONS, f"{path.name}: there is no hsgen {name}"
        unknown = {o for o in re.findall(r"(?<!\S)--?[a-z]+(?:-[a-z]+)*", rest)} - OPTIONS[name] - {"--help", "--json"}
        assert not unknown, f"{path.name}: hsgen {name} has no {unknown}"


def test_the_table_of_targets_is_that_of_the_command(tree: Path) -> None:
    """`make docs-targets` rewrites it."""
    page = (ROOT / "docs/reference/targets.md").read_text(encoding="utf-8")
    shown = shell("hsgen targets --markdown", tree, subprocess.PIPE).stdout
    assert shown.count("\n") == 2 + len(list((ROOT / "targets").glob("*.toml")))
    assert f"<!-- targets -->\n{shown}<!-- end of targets -->\n" in page, "targets.md: run `make docs-targets`"


def test_no_file_names_a_place_on_a_machine() -> None:
    places = re.compile(rb"(?<![\w.*-])/(?:" + b"|".join([b"work", b"root", b"home", b"tmp/x"]) + rb")/")
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    files = [ROOT / os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    wrong = [str(f.relative_to(ROOT)) for f in files if f.is_file() and places.search(f.read_bytes())]
    assert not wrong
