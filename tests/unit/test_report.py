"""The page of `hsgen report`: valid, self-contained HTML; drawings and tables show the target's sorts."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from html_tree import Element, parsed
from nightly import NIGHTLY, nightly, nightly_except
from shipped import sampled

from hsgen.cli import main
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.quantities import power_of_two, size
from hsgen.emit.kernels import render
from hsgen.system import resources
from hsgen.targets import assembly, target
from hsgen.tools.bench import plot
from hsgen.tools.compile import nvrtc
from hsgen.tools.compile.nvrtc import Compiler, Use
from hsgen.tools.report import counts, measured, plans
from hsgen.tools.report.drawing import count, plural, power
from hsgen.tools.report.page import Contents, Subject, every_sort, page
from hsgen.tools.report.shapes import bitonic as merge
from hsgen.tools.report.shapes import radix
from hsgen.tools.report.shapes import scan as sums

ROOT = Path(__file__).resolve().parents[2]
FAST = ("apple-m1", "cpu", "intel-gen8", "nvidia-hopper", "swiftshader")
"""The targets of the fast run's pages, which include every algorithm, every API and every coordination."""

NAMES = nightly_except(sampled(), FAST)


def contents(*names: str, **more: Any) -> Contents:
    found = [target.find(name) for name in names]
    subjects = [Subject(target=t, sorts=every_sort(t), apis=t.apis) for t in found]
    return Contents(title=", ".join(names), subjects=subjects, **{"compiled": False, **more})


def region(root: Element, label: str) -> Element:
    (found,) = (e for e in root.every("div") if e.attrs.get("aria-label") == label)
    return found


@pytest.fixture(scope="module")
def pages() -> dict[str, Element]:
    return {name: parsed(page(contents(name))) for name in (sampled() if NIGHTLY else FAST)}


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_sound_and_needs_nothing_else(pages: dict[str, Element], name: str) -> None:
    root = pages[name]
    ids = [e.attrs["id"] for e in root.every() if "id" in e.attrs]
    assert len(set(ids)) == len(ids) and not any(re.search(r"\s", i) for i in ids)
    links = [e.attrs[a] for e in root.every() for a in ("href", "src") if a in e.attrs]
    assert links and all(link.startswith("#") and link[1:] in ids for link in links)
    assert not list(root.every("script", "link", "iframe", "object", "img"))
    named = re.findall(r"url\(([^)]*)\)", next(root.every("style")).text + str([e.attrs for e in root.every()]))
    assert named and all(n.strip("'\"").startswith("#") and n.strip("'\"")[1:] in ids for n in named)
    assert next(root.every("html")).attrs["lang"] == "en"


@pytest.mark.parametrize("name", NAMES)
def test_the_page_can_be_read_aloud(pages: dict[str, Element], name: str) -> None:
    root = pages[name]
    assert all(th.attrs.get("scope") in ("row", "col", "colgroup") for th in root.every("th"))
    drawn = [svg for svg in root.every("svg") if svg.attrs.get("aria-hidden") != "true"]
    assert drawn
    for svg in drawn:
        first = svg.inside[0]
        assert svg.attrs["role"] == "img" and isinstance(first, Element) and first.name == "title" and first.text
    levels = [int(h.name[1]) for h in root.every("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and all(b <= a + 1 for a, b in pairwise(levels))
    for table in root.every("table"):
        widths = {sum(int(c.attrs.get("colspan", 1)) for c in r.every("td", "th")) for r in rows_of(table)}
        assert len(widths) == 1


def rows_of(table: Element) -> list[Element]:
    return [r for part in table.every("tbody", "tfoot") for r in part.every("tr")]


@pytest.mark.parametrize("name", NAMES)
def test_kernels_and_launches_are_those_of_the_sorts(pages: dict[str, Element], name: str) -> None:
    found = target.find(name)
    for sort in every_sort(found):
        sources = [render(sort, api) for api in found.apis]
        expected = []
        for k in sort.kernels:
            sizes = [size(len(s.parts[k.name].encode())) if k.name in s.parts else "-" for s in sources]
            group = str(k.subgroup) if k.subgroup > 1 else "-"
            cuda = ["-", "-"] * ("cuda" in found.apis)
            expected.append([k.name, str(k.work_group), group, size(k.local_bytes(sort.key)), *sizes, *cuda, k.summary])
        assert region(pages[name], f"kernels of {sort.file}").cells() == expected
        shown = region(pages[name], f"launches of {sort.file}").cells()
        assert [row[0] for row in shown] == [counts.spelled(n) for n in plans.counts(sort, ())]
        for row, n in zip(shown, plans.counts(sort, ()), strict=True):
            assert row[3] == size(assembly.traffic(sort, n))
        assert len(region(pages[name], f"plan of {sort.file}").cells()) == len(sort.plan.steps)


def test_launches_alike_are_counted_together_and_none_is_lost() -> None:
    sort = target.find("nvidia-sm90").sort("auto", "u32")
    made = plans.shown(sort, 1 << 19)
    assert made.algorithm == "bitonic" and len(made.launches) == 17 and made.scratch == 0
    assert sum(times for _, times, _, _, _ in made.groups) == 17
    assert sum(moved for *_, moved in made.groups) == made.bytes == assembly.traffic(sort, 1 << 19)
    assert made.share == 8 * (1 << 19) / made.bytes
    assert plans.counts(sort, [5, 1 << 41, 5]) == [5]
    upto = target.find("nvidia-sm90").autos["u32"][0][1]
    assert plans.shown(sort, upto).algorithm == "bitonic" and plans.shown(sort, upto + 1).algorithm == "radix"


def boxes(svg: Element, *kinds: str) -> list[tuple[float, float, float, float]]:
    found = [r for r in svg.every("rect") if r.attrs["class"] in kinds]
    return [(*(float(r.attrs[a]) for a in ("x", "y", "width", "height")),) for r in found]  # type: ignore[misc]


def words(svg: Element) -> list[str]:
    return [t.text for t in svg.every("text")]


def svg_of(figure: Any) -> Element:
    return next(parsed(str(figure.drawing)).every("svg"))


def of(algorithm: str) -> list[Any]:
    return [
        (pytest.param if name in FAST else nightly)(params, id=f"{name}-{label}-{key}")
        for name in sampled()
        for (label, key), params in target.find(name).choices.items()
        if label.split("-")[0] == algorithm
    ]


@pytest.mark.parametrize("p", of("bitonic"))
def test_slabs_and_blocks_are_drawn_as_they_are(p: Any) -> None:
    shape = merge.figures(p, 1 << 29)[0]
    svg = svg_of(shape)
    tall = p.column_slabs(p.slabs)
    assert {
        f"slab: {p.subgroup} x {p.height} = {count(p.subgroup * p.height)} keys",
        f"block: {plural(p.slabs, 'slab')} = {count(p.block)} keys",
        f"column: {plural(tall, 'slab')}",
        f"= {plural(tall * p.height, 'row')}",
    } <= set(words(svg))
    (cells,) = (path.attrs["d"] for path in svg.every("path") if path.attrs["class"] == "grid")
    assert cells.count("H") == p.height - 1 and cells.count("V") == p.subgroup - 1
    hidden = sum(int(n) for n in re.findall(r"\.\.\. (\d+) more", " ".join(words(svg))))
    block = [b for b in boxes(svg, "dark", "light", "empty") if b[2] == 150]
    assert len(block) + hidden == p.slabs
    assert count(p.block) in shape.caption and plural(p.slabs * p.subgroup, "lane") in shape.caption


@pytest.mark.parametrize("p", of("bitonic"))
@pytest.mark.parametrize("most", [200_000, 1 << 29])
def test_the_launches_of_a_merge_level_cover_its_stages_once(p: Any, most: int) -> None:
    svg = svg_of(merge.figures(p, most)[1])
    bars = [b for b in boxes(svg, "dark", "mid", "hatch", "empty") if b[3] == 16]
    rows: dict[float, list[tuple[float, float]]] = {}
    for x, y, w, _ in bars:
        rows.setdefault(y, []).append((x, x + w))
    right = max(end for spans in rows.values() for _, end in spans)
    runs = [p.block << k for k in range(32) if p.block << k < most]
    assert len(rows) == len(runs) + sum(b[3] == 16 for b in boxes(svg, "dark"))
    blocks = [b for b in bars if b in boxes(svg, "dark")]
    stage = blocks[-1][2] / (p.block - 1).bit_length()
    for run, y in zip(runs, sorted(rows)[len(blocks) :], strict=True):
        spans = sorted(rows[y])
        assert all(abs(a[1] - b[0]) < 0.02 for a, b in pairwise(spans)), "a gap, or an overlap"
        assert spans[-1][1] == right
        assert round((right - spans[0][0]) / stage) == (2 * run - 1).bit_length()
    labels = [w for w in words(svg) if w.startswith("n > ") and "runs" in w]
    assert labels == [f"n > {power(run)}: runs of {power(2 * run)}" for run in runs]


@pytest.mark.parametrize("p", of("radix"))
def test_digits_and_passes_are_drawn_as_they_are(p: Any) -> None:
    digits, tile, passes = radix.figures(p, 1 << 30)
    tips = [t.text for r in svg_of(digits).every("rect") for t in r.every("title")]
    bits = [
        f"pass {i}: bits {s} to {s + w - 1}" if w > 1 else f"pass {i}: bit {s}" for i, (s, w) in enumerate(p.digits)
    ]
    assert tips[: len(bits)] == bits
    if p.single_bits:
        assert len(tips) == len(bits) + -(-p.key.bits // p.single_bits)
    covered = sorted((b[0], b[0] + b[2]) for b in boxes(svg_of(digits), "light", "empty")[: len(bits)])
    assert all(abs(a[1] - b[0]) < 0.02 for a, b in pairwise(covered))
    assert abs(covered[-1][1] - covered[0][0] - 704) < 0.1
    said = tile.caption + " ".join(words(svg_of(tile)))
    assert count(p.tile) in said and count(p.groups) in said
    if not p.serial:
        assert f"tile: {p.work_group} x {p.items} = {count(p.tile)} keys" in words(svg_of(tile))
        assert p.ranker in said
    flow = words(svg_of(passes))
    buffers = [w for w in flow if w in ("source", "scratch", "destination")]
    assert buffers[0] == "source" and buffers[-1] == "destination", "keys end in the destination"
    if len(p.digits) <= 8:
        together = p.STRATEGY == "cooperative"  # all its keys are in registers before the first is stored
        ends = ["destination" if together or (len(p.digits) - i) % 2 else "scratch" for i in range(len(p.digits))]
        assert buffers[1:] == ends
        sorter = {"cooperative": "grid", "partition": "partition_rest"}.get(
            p.STRATEGY, "onesweep" if p.looks_back else "scatter"
        )
        assert flow.count(sorter) == len(p.digits)


@pytest.mark.parametrize("name", nightly_except([n for n in sampled() if target.find(n).autos], FAST))
def test_crossovers_are_those_of_the_target(pages: dict[str, Element], name: str) -> None:
    found = target.find(name)
    for key, auto in found.autos.items():
        plain = counts.served(found, key, PLAIN)
        assert plain is not None and [(a, top) for a, _, top in plain[:-1]] == list(auto[:-1])
        pairs = found.autos_for(Signature(value="v4"))[key]
        valued = counts.served(found, key, Signature(value="v4"))
        assert valued is not None and [(a, top) for a, _, top in valued[:-1]] == list(pairs[:-1])
        svg = svg_of(counts.figure(found, key))
        tops = [power(top) for rows in (auto, pairs) for _, top in rows[:-1]]
        test_counts = {
            (e.attrs["x1"], float(e.attrs["y1"]) - 4) for e in svg.every("line") if e.attrs["class"] == "thick"
        }
        assert [t.text for t in svg.every("text") if (t.attrs["x"], float(t.attrs["y"])) in test_counts] == tops
        bars = [b for b in boxes(svg, "light", "mid", "hatch", "dots") if b[3] == 26]
        assert len(bars) == len(plain) + len(valued)
        scale = (plain[-1][2] - 1).bit_length()
        for (_, low, high), (x, _, w, _) in zip([*plain, *valued], bars, strict=True):
            assert (x - 152) / 640 * scale == pytest.approx(exponent(max(low, 1)), abs=0.02)
            assert (x + w - 152) / 640 * scale == pytest.approx(exponent(high), abs=0.02)


def exponent(n: int) -> float:
    """log2, linear between powers of two."""
    whole = 1 << (n.bit_length() - 1)
    return whole.bit_length() - 1 + n / whole - 1


def test_evidence_is_stated_for_each_api(pages: dict[str, Element]) -> None:
    said = {
        name: next(e for e in root.every("p") if e.attrs.get("class") == "standing").text
        for name, root in pages.items()
    }
    assert "run on a CPU runtime, not on the device" in said["intel-gen8"]
    assert said["cpu"] == "OpenCL: run on the device itself."
    for name, root in pages.items():
        rows = region(root, "evidence").cells() if target.find(name).evidence else []
        assert [r[0] for r in rows] == [e["level"] for e in target.find(name).evidence]
        now = target.find(name).shapes
        assert [r[2:] for r in rows] == [
            [e["device"], e["driver"], e["date"], "present" if e.get("shapes") == now else "older", e["result"]]
            for e in target.find(name).evidence
        ]
    bare = contents("cpu").subjects[0].target
    assert "OpenCL: no evidence." in page(
        Contents(
            title="x", compiled=False, subjects=[Subject(target=replace(bare, evidence=()), sorts=[], apis=bare.apis)]
        )
    )


def test_the_page_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    made = []
    for seed, folder in (("1", tmp_path / "a"), ("2", tmp_path / "b")):
        folder.mkdir()
        shutil.copytree(ROOT / "generated", folder / "sorts")
        command = [
            sys.executable,
            "-m",
            "hsgen",
            "report",
            "--bundle",
            "sorts",
            "-t",
            "generic",
            "--no-compile",
            "-o",
            "-",
        ]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        made.append(subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True).stdout)
    assert made[0] == made[1] and made[0].startswith(b"<!DOCTYPE html>\n") and made[0].endswith(b"</html>\n")
    for place in (str(tmp_path), str(ROOT), str(Path.home()) + "/"):
        assert place.encode() not in made[0]
    assert not re.search(rf"\b{re.escape(os.uname().nodename)}\b", made[0].decode())


def custom(folder: Path, name: str = "mine", change: Callable[[str], str] = lambda text: text) -> Path:
    """A target file of the user."""
    text = (resources.targets() / "nvidia-sm90.toml").read_text(encoding="utf-8")
    path = folder / f"{name}.toml"
    path.write_text(change(text.replace('"nvidia-sm90"', f'"{name}"')), encoding="utf-8")
    return path


def test_what_a_target_says_is_escaped(tmp_path: Path) -> None:
    summary = "A <script>alert(1)</script> & <b>fast</b> one"
    path = custom(tmp_path, change=lambda t: re.sub('summary = ".*"', f'summary = "{summary}"', t))
    root = parsed(page(contents(str(path))))
    assert not list(root.every("script", "b")) and any(summary in p.text for p in root.every("p"))


class Compiling:
    """A compiler that answers for every kernel."""

    name = "NVRTC 0.0"

    def compile(self, text: str, arch: int) -> dict[str, Use]:
        names = re.findall(r"^HS_KERNEL void __launch_bounds__\(\d+\) (\w+)\(", text, re.M)
        assert names and arch == 80
        return {n: Use(registers=77, spill_stores=8, spill_loads=16, shared=0) for n in names}


def test_registers_and_spills_are_shown_where_a_compiler_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "compiler_for", lambda arch: Compiling())
    found = target.find("nvidia-sm90")
    sort = found.sort("scan-x1", "u32")
    lines: list[str] = []
    one = Contents(title="x", subjects=[Subject(target=found, sorts=[sort], apis=found.apis)], progress=lines.append)
    root = parsed(page(one))
    table = region(root, "kernels of scan-x1_u32")
    assert [row[-3:-1] for row in table.cells()] == [["77", "8 / 16"]] * len(sort.kernels)
    assert "NVRTC 0.0 for sm_80" in root.text and lines == ["nvidia-sm90/scan-x1_u32: compiling 3 kernels for sm_80"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nvidia-hopper", "2 launches. Look-back in sections of 128 tiles: "),
        ("nvidia-sm90", "2 launches. Look-back: tiles wait for the sums of those before them."),
        ("cpu", "Reduced and scanned: "),
    ],
)
def test_captions_of_scans_say_what_tiles_wait_for(name: str, says: str) -> None:
    params: Any = target.find(name).sort("scan-x1", "u32").parts[0].params
    assert says in sums.figures(params, 1 << 29)[1].caption


def test_without_a_compiler_the_page_says_so_and_shows_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(arch: int) -> Compiler:
        raise Unavailable("none")

    monkeypatch.setattr(nvrtc, "compiler_for", nothing)
    found = target.find("nvidia-sm90")
    only = [Subject(target=found, sorts=[found.sort("scan-x1", "u32")], apis=found.apis)]
    root = parsed(page(Contents(title="x", subjects=only)))
    table = region(root, "kernels of scan-x1_u32")
    assert {tuple(row[-3:-1]) for row in table.cells()} == {("-", "-")} and "no compiler for sm_80" in root.text
    generic = target.find("generic")
    some = [Subject(target=generic, sorts=[generic.sort("bitonic", "u32")], apis=generic.apis)]
    assert "has no compute capability" in page(Contents(title="x", subjects=some))
    assert "not requested" in page(Contents(title="x", subjects=some, compiled=False))


def test_registers_are_those_of_the_real_compiler() -> None:
    if not nvrtc.compilers():
        missing(f"no CUDA compiler ({nvrtc.INSTALL})")
    found = target.find("nvidia-sm90")
    sort = found.sort("scan-x4", "u32")
    use = nvrtc.compile(render(sort, "cuda").text, 90)
    only = [Subject(target=found, sorts=[sort], apis=found.apis)]
    table = region(parsed(page(Contents(title="x", subjects=only, arch=90))), "kernels of scan-x4_u32")
    assert [row[-3] for row in table.cells()] == [str(use[k.name].registers) for k in sort.kernels]


ROW: dict[str, Any] = {
    "target": "cpu",
    "api": "opencl",
    "device": "A <fast> CPU",
    "key": "u32",
    "value": None,
    "order": "ascending",
    "bits": [0, 32],
    "device_count": False,
    "kind": "random",
    "n": 1024,
    "algorithm": "auto",
    "baseline": None,
    "runs": 9,
    "mkeys_per_s": 123.4,
    "min": 100.0,
    "q1": 110.0,
    "q3": 140.0,
    "max": 150.0,
    "roof_mkeys_per_s": 490.0,
    "roof_share": 0.25,
    "hsgen_ratio": None,
    "ratio_low": None,
    "ratio_high": None,
}
RATE = {"min": 60.0, "q1": 61.0, "mkeys_per_s": 61.7, "q3": 62.5, "max": 63.0}
BASELINE = {**ROW, **RATE, "algorithm": None, "baseline": "numpy", "roof_share": None, "hsgen_ratio": 2.0}
RIVAL = {**ROW, "baseline": "hsgen:/some/where/mine.toml:bitonic", "algorithm": "bitonic", "hsgen_ratio": 1.5}
ROWS = [ROW, {**BASELINE, "ratio_low": 1.9, "ratio_high": 2.1}, RIVAL, {**ROW, "key": "u64", "bits": [0, 64]}]


def document(folder: Path, data: object) -> str:
    path = folder / "bench.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return str(path)


def test_copies_alone_have_no_picture() -> None:
    (run,) = measured.runs([{**BASELINE, "baseline": "copy"}])
    assert run.picture is None and run.why.startswith("only copies were measured")


def test_measurements_are_shown_with_their_pictures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    drawn: list[list[Any]] = []
    monkeypatch.setattr(plot, "throughput", lambda rows: drawn.append(list(rows)) or svg)
    path = Path(document(tmp_path, {"schema": measured.SCHEMA, "rows": ROWS}))
    root = parsed(page(contents("cpu", records=measured.read(path))))
    pictures = list(root.every("img"))
    data = "data:image/svg+xml;base64,"
    assert [base64.b64decode(p.attrs["src"].removeprefix(data)).decode() for p in pictures] == [svg, svg]
    assert [len(rows) for rows in drawn] == [3, 1] and all(p.attrs["alt"] for p in pictures)
    table = region(root, "rates, u32 keys, random; OpenCL on A <fast> CPU")
    assert table.cells() == [
        ["2¹⁰", "hsgen auto", "123.4", "100.0", "150.0", "9", "", "25 %"],
        ["2¹⁰", "numpy", "61.7", "60.0", "63.0", "9", "2.00 x (1.90 to 2.10)", ""],
        ["2¹⁰", "hsgen:mine.toml:bitonic", "123.4", "100.0", "150.0", "9", "1.50 x", "25 %"],
    ]


def test_segments_and_merges_are_shown_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "throughput", lambda rows: "<svg/>")
    cut, equal = ({**ROW, "task": "segmented_sort", "segments": 64, "layout": x} for x in ("random", "equal"))
    reported = {**ROW, "run_boundaries": True}
    found = measured.runs([ROW, cut, equal, {**cut, "segments": 8}, {**ROW, "task": "merge"}, reported])
    words = ["", "64 segments, ", "64 segments, equal, ", "8 segments, ", "merge, ", "run boundaries, "]
    assert [run.title for run in found] == [f"u32 keys, {word}random; OpenCL on A <fast> CPU" for word in words]


@pytest.mark.parametrize("error", [Unavailable("matplotlib is not here"), ImportError("matplotlib")])
def test_without_matplotlib_numbers_are_shown_alone(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def nothing(rows: object) -> str:
        raise error

    monkeypatch.setattr(plot, "throughput", nothing)
    root = parsed(page(contents("cpu", records=ROWS)))
    assert not list(root.every("img"))
    assert any("No picture: matplotlib" in p.text for p in root.every("p"))
    assert len(region(root, "rates, u32 keys, random; OpenCL on A <fast> CPU").cells()) == 3


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{", "is no JSON"),
        (ROWS, "has no schema"),
        ({"schema": 99, "rows": ROWS}, "schema 99 is not known"),
        ({"schema": measured.SCHEMA, "rows": []}, "has no rows"),
        ({"schema": measured.SCHEMA, "rows": [{**ROW, "n": "many"}]}, "rows[0]: n is missing or of another type"),
        ({"schema": measured.SCHEMA, "rows": [{**ROW, "key": "u7"}]}, "rows[0]: key"),
        ({"schema": measured.SCHEMA, "rows": [{**ROW, "bits": [1]}]}, "rows[0]: bits"),
        ({"schema": measured.SCHEMA, "rows": [{**ROW, "q1": 1e9}]}, "rows[0]: mkeys_per_s is not between q1 and q3"),
        ({"schema": measured.SCHEMA, "rows": [{**ROW, "target": "generic"}]}, "measures target generic"),
    ],
)
def test_documents_that_do_not_fit_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: object, said: str
) -> None:
    out = tmp_path / "page.html"
    assert main(["report", "-t", "cpu", "--bench", document(tmp_path, data), "-o", str(out)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and said in lines[0] and "bench.json" in lines[0] and not out.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a target with -t or a bundle with --bundle"),
        (["-t", "none"], "target none: unknown"),
        (["-t", "cpu", "-t", "cpu"], "named twice"),
        (["-t", "cpu", "-o", "-", "--json"], "stdout"),
        (["-t", "cpu", "-o", "."], "is a folder"),
        (["-t", "cpu", "-o", "no/where.html"], "does not exist"),
        (["-t", "cpu", "--plan", "2^40"], "sort up to"),
        (["-t", "cpu", "--arch", "90"], "is for CUDA"),
        (["-t", "cpu", "--bench", "nowhere.json"], "cannot be read"),
        (["--bundle", "nowhere"], "no bundle there"),
        (["--bundle", str(ROOT / "generated"), "-t", "nvidia-sm35"], "holds no target nvidia-sm35"),
    ],
)
def test_wrong_usage_is_reported_in_one_line_and_nothing_is_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", *arguments]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and said in lines[0] and list(tmp_path.iterdir()) == []


def test_the_file_stdout_and_json_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", "-t", "generic", "--no-compile", "--plan", "777"]) == 0
    assert capsys.readouterr().out == "wrote generic.html\n"
    text = (tmp_path / "generic.html").read_text(encoding="utf-8")
    assert [r[0] for r in region(parsed(text), "launches of auto_u32").cells()] == ["777"]
    assert main(["report", "-t", "generic", "--no-compile", "--plan", "777", "-o", "-"]) == 0
    assert capsys.readouterr().out == text
    assert main(["report", "-t", "generic", "--no-compile", "--plan", "777", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert record["path"] == "generic.html" and record["bytes"] == len(text.encode())
    assert record["targets"] == ["generic"] and "generic/auto_u32" in record["sorts"]


def test_a_bundle_is_shown_as_its_manifest_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = custom(tmp_path)
    options = ["--api", "cuda", "--key", "u32", "--value", "v4", "--value", "none", "--algorithm", "radix"]
    assert main(["generate", "-t", str(path), *options, "-o", "sorts"]) == 0
    assert main(["report", "--bundle", "sorts"]) == 2
    assert "target mine does not come with hsgen" in capsys.readouterr().err
    assert main(["report", "--bundle", "sorts", "-t", str(path), "--no-compile"]) == 0
    text = (tmp_path / "mine.html").read_text(encoding="utf-8")
    root = parsed(text)
    files = {
        row[0]: row[1] for div in root.every("div") if div.attrs.get("aria-label") == "files" for row in div.cells()
    }
    on_disk = {p.relative_to("sorts").as_posix(): p for p in Path("sorts").rglob("*") if p.is_file()}
    on_disk.pop("manifest.json")
    assert files == {name: size(p.stat().st_size) for name, p in on_disk.items()}
    kernels = [e.attrs["aria-label"] for e in root.every("div") if e.attrs.get("aria-label", "").startswith("kernels")]
    assert kernels == ["kernels of radix_u32", "kernels of radix_u32_v4"]
    (tmp_path / "sorts" / "LICENSE").unlink()
    assert main(["report", "--bundle", "sorts", "-t", str(path), "--no-compile"]) == 2
    assert "LICENSE: cannot be read" in capsys.readouterr().err
    assert (tmp_path / "mine.html").read_text(encoding="utf-8") == text


def test_every_target_of_a_bundle_has_its_part() -> None:
    from hsgen.tools.report import bundles

    made = bundles.contents(ROOT / "generated", ())
    names = [s.target.name for s in made.subjects]
    assert names == sorted(json.loads((ROOT / "generated/manifest.json").read_text(encoding="utf-8"))["targets"])
    some = Contents(
        title=made.title, subjects=made.subjects[:2], bundle=made.bundle, common=made.common, compiled=False
    )
    root = parsed(page(some))
    assert [e.text for e in root.every("h2")] == [*names[:2], "Files of all targets"]
    with pytest.raises(Usage, match="holds no target swiftshader"):
        bundles.contents(ROOT / "generated", ("swiftshader",))


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (12345, "12.1 KiB"),
        (1048575, "1 MiB"),
        (1 << 20, "1 MiB"),
        (500 << 20, "500 MiB"),
        (1023 << 20, "1023 MiB"),
        ((1 << 30) - 1, "1 GiB"),
        (2**63 - 1, "8 EiB"),
    ],
)
def test_sizes_have_units(n: int, said: str) -> None:
    assert size(n) == said


def test_the_page_has_exact_bytes_and_superscripts(pages: dict[str, Element]) -> None:
    root = pages["cpu"]
    sizes = [td for td in root.every("td") if "title" in td.attrs]
    assert len(sizes) > 100
    for td in sizes:
        exact = int(re.sub(r"[^\d]", "", td.attrs["title"]))
        assert td.attrs["title"].endswith("bytes"[: 5 - (exact == 1)]) and td.text == size(exact)
    said = next(root.every("body")).text
    assert "2^" not in said and power_of_two(20) == "2²⁰" and "2²⁰" in said
