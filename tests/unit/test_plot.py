"""Plots of benchmarks: reproducible, with text as text; impossible ones are refused in one line."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from conftest import missing

from hsgen.cli import main
from hsgen.core.errors import Unavailable, Usage
from hsgen.tools import bench
from hsgen.tools.bench import plot

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def row(n: int, rate: float, **more: Any) -> dict[str, Any]:
    """A record in the format of `hsgen bench`."""
    own = more.get("baseline") is None
    found = {
        **{field.name: None for field in fields(bench.Row)},
        **{"target": "cpu", "api": "opencl", "device": "A CPU (Its <Platform>, 1.0)", "key": "u32"},
        **{"order": "ascending", "bits": [0, 32], "device_count": False, "kind": "random", "n": n, "runs": 5},
        **{"algorithm": "auto" if own else None, "mkeys_per_s": rate, "min": rate / 2, "q1": rate * 0.9},
        **{"q3": rate * 1.2, "max": rate * 2, "seconds": n / rate / 1e6, "roof_mkeys_per_s": 900.0 if own else None},
    }
    return found | more


def rows(**more: Any) -> list[dict[str, Any]]:
    """Four counts of hsgen, two baselines, a candidate from a file, and the copy."""
    out = []
    for n in (1024, 1448, 65536, 1 << 20):
        out += [row(n, 100.0, **more), row(n, 40.0, baseline="numpy", **more), row(n, 3.0, baseline="pyopencl", **more)]
        out += [row(n, 90.0, baseline="hsgen:a/b/mine.toml:bitonic", **more), row(n, 5000.0, baseline="copy", **more)]
    return out


@pytest.fixture(autouse=True)
def needed(request: pytest.FixtureRequest) -> None:
    """matplotlib, except for the tests that run without it."""
    if "without" not in request.node.name:
        try:
            plot._matplotlib()
        except Unavailable as e:
            missing(str(e))


def texts(svg: str) -> list[str]:
    return ["".join(x.itertext()).strip() for x in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_picture_says_what_it_shows() -> None:
    said = texts(plot.throughput(rows()))
    assert {"cpu: u32 keys, no values, random", "opencl on A CPU (Its <Platform>, 1.0)", "keys", "Mkeys/s"} <= set(said)
    assert {"hsgen auto", "numpy", "pyopencl", "hsgen:mine.toml:bitonic"} <= set(said)
    assert sum("roof" in x for x in said) == 1 and "copy" not in said
    assert {"2¹⁰", "2¹²", "2¹⁴", "2¹⁶", "2¹⁸", "2²⁰", "10", "100", "1,000"} <= set(said)


def test_a_picture_is_the_same_each_time() -> None:
    first = plot.throughput(rows())
    assert first.startswith("<svg ") and first.rstrip().endswith("</svg>")
    assert plot.throughput(list(rows())) == first and "<dc:date>" not in first
    changed = [{**r, "mkeys_per_s": r["mkeys_per_s"] * 1.1} for r in rows()]
    assert plot.throughput(changed) != first


def test_lines_differ_without_colours() -> None:
    """Each line has its own marker and its own dashes."""
    names = [f"baseline{i}" for i in range(7)]
    styles = plot._styles(
        [row(16, 1.0), *(row(16, 1.0, baseline=name) for name in names), row(16, 1.0, baseline="copy")]
    )
    assert list(styles) == ["hsgen auto", *names]
    assert len({s["marker"] for s in styles.values()}) == len({str(s["linestyle"]) for s in styles.values()}) == 8
    assert styles["hsgen auto"]["linewidth"] > max(styles[name]["linewidth"] for name in names)


def test_each_sort_has_a_panel() -> None:
    more = [*rows(), *rows(kind="sorted"), *rows(value="v4", order="descending"), *rows(bits=[0, 8], device_count=True)]
    more += rows(key="f64", bits=[0, 64], device="Another " * 16)
    said = texts(plot.throughput(more))
    heads = [
        "cpu: u32 keys, no values, random",
        "cpu: u32 keys, no values, sorted",
        "cpu: u32 keys, descending, values v4, random",
        "cpu: u32 keys, no values, random, bits 0 to 8, device-side count",
        "cpu: f64 keys, no values, random",
    ]
    assert [x for x in said if x.startswith("cpu: ")] == heads
    assert said.count("hsgen auto") == said.count("Mkeys/s") == 5
    assert max(map(len, said)) <= 80


def test_segments_and_merges_have_panels_of_their_own() -> None:
    cut, equal = ({"task": "segmented_sort", "segments": 64, "layout": layout} for layout in ("random", "equal"))
    more = [*rows(task="sort"), *rows(**cut), *rows(**cut | {"segments": 8}), *rows(**equal), *rows(task="merge")]
    said = texts(plot.throughput([*more, *rows(task="sort", run_boundaries=True)]))
    kinds = ("", ", 64 segments", ", 8 segments", ", 64 rows", ", merge", ", run boundaries")
    assert [x for x in said if x.startswith("cpu: ")] == [f"cpu: u32 keys, no values, random{kind}" for kind in kinds]


@pytest.mark.parametrize(
    "some", [[row(1000, 5.0)], [row(1, 0.001), row(2, 0.002)], [row(16, 1.0, roof_mkeys_per_s=None)]]
)
def test_little_can_be_drawn(some: list[dict[str, Any]]) -> None:
    assert "hsgen auto" in texts(plot.throughput(some))


def test_nothing_cannot_be_drawn() -> None:
    with pytest.raises(Usage, match="there are no rows to draw"):
        plot.throughput([])


def test_files_are_of_their_kind(tmp_path: Path) -> None:
    plot.save(rows(), str(tmp_path / "a.svg"))
    plot.save(rows(), str(tmp_path / "a.png"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").endswith(plot.throughput(rows()))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG\r\n")
    with pytest.raises(Usage, match=r"cannot be written \(Is a directory\); name another file"):
        (tmp_path / "b.svg").mkdir()
        plot.save(rows(), str(tmp_path / "b.svg"))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.pdf", "plot a.pdf: is not an SVG or PNG file; give a name that ends in .svg or .png"),
        ("a", "plot a: is not an SVG or PNG file"),
        ("none/a.svg", "plot none/a.svg: there is no folder none; make it first"),
    ],
)
def test_files_that_cannot_be_are_refused_first(
    name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "measure", lambda *_, **__: pytest.fail("something was timed"))
    assert main(["bench", "-t", "cpu", "--plot", name]) == 2
    out, err = capsys.readouterr()
    assert not out and err.startswith(f"hsgen: {line}") and err.count("\n") == 1


def test_without_matplotlib_nothing_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(bench, "measure", lambda *_, **__: pytest.fail("something was timed"))
    line = "hsgen: plots need matplotlib; install it with pip install 'hsgen[plot]'\n"
    assert main(["bench", "-t", "cpu", "--plot", "a.svg"]) == 3 and capsys.readouterr().err == line
    assert main(["bench", "-t", "cpu", "--plot", "a.svg", "--require"]) == 1 and capsys.readouterr().err == line
    with pytest.raises(Unavailable):
        plot.throughput(rows())
    assert list(tmp_path.iterdir()) == []


def test_a_picture_adapts_to_dark_mode() -> None:
    """No paper of its own, and every colour of its elements has one for dark mode."""
    svg = plot.throughput(rows())
    head, body = svg.split("</defs>", 1)
    root = ElementTree.fromstring(svg)
    canvas = next(e for e in root.iter(f"{SVG}g") if e.attrib.get("id") == "patch_1")
    assert [e.attrib["style"].split(";")[0] for e in canvas] == ["fill: none"]
    assert "@media (prefers-color-scheme:dark)" in head and "color-scheme:light dark" in head
    used = set(re.findall(r"(fill|stroke): (#[0-9a-f]+)", body))
    assert len(used) > 8 and not {x for x in used if f'[style*="{x[0]}: {x[1]}"]' not in head}
    own = [e for e in root.iter(f"{SVG}use") if "stroke: #111111" in e.attrib.get("style", "")]
    assert own and "fill: #111111" in {x for e in own for x in e.attrib["style"].split("; ")}


def test_colours_stand_out_in_both_modes() -> None:
    """Contrast as WCAG 2 defines it: text 7, lines 2.2 on light and 4.5 on dark paper."""
    papers = {plot.PAPER: plot.INK, plot.DARK[plot.PAPER]: plot.DARK[plot.INK]}
    assert all(contrast(paper, ink) >= 7 for paper, ink in papers.items())
    assert all(contrast(plot.PAPER, line) >= 2.2 for line in plot.LINES)
    assert all(contrast(plot.DARK[plot.PAPER], plot.DARK[line]) >= 4.5 for line in plot.LINES)
    assert len({plot.DARK[line] for line in plot.LINES}) == len(set(plot.LINES)) == 8


def contrast(one: str, other: str) -> float:
    """The ratio of the luminances of two colours."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("path", sorted((ROOT / "docs/results").glob("*.svg")), ids=lambda p: p.name)
def test_pictures_of_the_documentation_adapt_as_well(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "@media (prefers-color-scheme:dark)" in text and 'viewBox="0 0 ' in text
    body = text.split("</defs>", 1)[1]
    light = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]+)", body))
    assert light and not light - set(plot.DARK)
