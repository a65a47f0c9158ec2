"""The page of `hsgen report` in a real browser: it loads without an error, has content, and fits its window."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import zlib
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from nightly import NIGHTLY, nightly
from shipped import sampled
from tools import chromium

from hsgen.targets import target
from hsgen.tools.report.page import Contents, Subject, every_sort, page

MEASURE = """<script>
addEventListener("load", () => {
  for (const d of document.querySelectorAll("details")) d.open = true;
  const outside = [], over = [];
  for (const svg of document.querySelectorAll("svg[role=img]")) {
    const box = svg.viewBox.baseVal, texts = [...svg.querySelectorAll("text")].filter(t => t.textContent);
    const boxes = texts.map(t => t.getBBox());
    boxes.forEach((b, i) => {
      if (b.x < 0 || b.y < 0 || b.x + b.width > box.width || b.y + b.height > box.height)
        outside.push(texts[i].textContent);
      for (let j = 0; j < i; j++) {
        const c = boxes[j];
        if (Math.min(b.x + b.width, c.x + c.width) - Math.max(b.x, c.x) > 1
            && Math.min(b.y + b.height, c.y + c.height) - Math.max(b.y, c.y) > 3)
          over.push(texts[j].textContent + " | " + texts[i].textContent);
      }
    });
  }
  const e = document.documentElement;
  parent.postMessage(JSON.stringify({
    inner: innerWidth, wide: e.scrollWidth, high: e.scrollHeight, outside, over,
    drawings: document.querySelectorAll("svg[role=img]").length,
    cut: [...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().right > innerWidth).length,
    broken: [...document.images].filter(i => !i.complete || !i.naturalWidth).length,
    loaded: performance.getEntriesByType("resource").length,
  }), "*");
});
</script>"""
WINDOW = """<!DOCTYPE html><body><script>
addEventListener("message", e => { document.body.append(Object.assign(document.createElement("pre"),
  {id: "facts", textContent: e.data})); });
</script><iframe src="PAGE" style="width:WIDTHpx;height:900px;border:0"></iframe></body>"""
"""A frame of any width: headless browsers have a minimum window width."""


@pytest.fixture(scope="session")
def browser() -> str:
    """A headless browser."""
    return chromium()


def run(browser: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the browser with arguments; its stderr contains the consoles of pages."""
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
    command += ["--disable-dev-shm-usage", "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, errors="replace", timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done


def console(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The console output of pages: script errors, and resources that could not be loaded."""
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def measured(browser: str, path: Path, width: int) -> dict[str, Any]:
    """The browser's measurements of a page in a window, with all details unfolded."""
    probe = path.with_name(f"probe-{path.name}")
    probe.write_text(path.read_text(encoding="utf-8").replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    window = path.with_name("window.html")
    window.write_text(WINDOW.replace("PAGE", probe.name).replace("WIDTH", str(width)), encoding="utf-8")
    done = run(
        browser, path.parent, "--window-size=1600,1000", "--virtual-time-budget=10000", "--dump-dom", window.as_uri()
    )
    assert console(done) == []
    found = re.search(r'<pre id="facts">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stdout[-500:]
    facts: dict[str, Any] = json.loads(unescape(found[1]))
    return facts


def pixels(path: Path) -> tuple[int, int, list[bytes]]:
    """Read a PNG with 8 bits per channel: its width, its height and its rows."""
    data, at, packed = path.read_bytes(), 8, b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    assert depth == 8 and colour in (2, 6) and not interlaced
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += length + 12
    each, raw = (3 if colour == 2 else 4), zlib.decompress(packed)
    rows, before = [], bytes(width * each)
    for y in range(height):
        kind, line = raw[y * (width * each + 1)], raw[y * (width * each + 1) + 1 : (y + 1) * (width * each + 1)]
        before = _unfiltered(kind, line, before, each)
        rows.append(before)
    return width, height, [b"".join(r[i : i + 3] for i in range(0, len(r), each)) for r in rows]


def _unfiltered(kind: int, line: bytes, before: bytes, each: int) -> bytes:
    """A row of a PNG without its filter."""
    out = bytearray(line)
    for i in range(len(out)):
        left, up = (out[i - each] if i >= each else 0), before[i]
        corner = before[i - each] if i >= each else 0
        if kind == 4:
            guess = left + up - corner
            out[i] = (out[i] + min((left, up, corner), key=lambda v: abs(guess - v))) & 255
        elif kind:
            out[i] = (out[i] + (left, up, (left + up) // 2)[kind - 1]) & 255
    return bytes(out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of many targets, with measurements; the fast run takes every other target."""
    found = [target.find(name) for name in sampled()[:: 1 if NIGHTLY else 2]]
    subjects = [Subject(target=t, sorts=every_sort(t), apis=t.apis) for t in found]
    path = tmp_path_factory.mktemp("page") / "every.html"
    path.write_text(page(Contents(title="Every target", subjects=subjects, compiled=False)), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, nightly(800), 1400])
def test_nothing_is_wider_than_the_window_and_no_text_is_cut(browser: str, whole: Path, width: int) -> None:
    facts = measured(browser, whole, width)
    assert facts["inner"] == width and facts["wide"] <= width
    assert facts["high"] > 20_000 and facts["drawings"] > 100
    assert facts["outside"] == [] and facts["over"] == []
    assert facts["cut"] == 0, "a drawing is wider than the window"
    assert facts["broken"] == 0 and facts["loaded"] == 0, "something was fetched"


@pytest.mark.parametrize("name", ["cpu", nightly("intel-gen8"), nightly("nvidia-sm90")])
def test_a_picture_of_the_page_shows_it(browser: str, tmp_path: Path, name: str) -> None:
    found = target.find(name)
    subjects = [Subject(target=found, sorts=every_sort(found), apis=found.apis)]
    path, shot = tmp_path / "page.html", tmp_path / "page.png"
    path.write_text(page(Contents(title=name, subjects=subjects, compiled=False)), encoding="utf-8")
    done = run(browser, tmp_path, "--window-size=500,1000", f"--screenshot={shot}", path.as_uri())
    assert console(done) == []
    width, height, rows = pixels(shot)
    assert (width, height) == (500, 1000)
    colours = [{row[i : i + 3] for i in range(0, len(row), 3)} for row in rows]
    assert len(set().union(*colours)) > 30, "letters and drawings have many shades"
    written = sum(len(c) > 1 for c in colours)
    assert written > 330, "many lines hold more than the paper"
    paper = rows[2][:3]
    assert paper == b"\xff\xff\xff" and sum(row.count(paper) for row in rows) > 0


def test_the_browser_reports_errors_and_overflow(browser: str, tmp_path: Path) -> None:
    """Required by the other tests: a broken page is detected."""
    broken = tmp_path / "broken.html"
    wide = '<svg role="img" width="2000" height="9" viewBox="0 0 10 9"><text x="0" y="30">out</text></svg>'
    broken.write_text(f'<!DOCTYPE html><body><img src="gone.png">{wide}<script>nothing();</script></body>')
    done = run(browser, tmp_path, "--dump-dom", broken.as_uri())
    assert any("nothing is not defined" in line for line in console(done))
    broken.write_text(f"<!DOCTYPE html><body>{wide}</body>")
    facts = measured(browser, broken, 360)
    assert facts["wide"] >= 2000 and facts["outside"] == ["out"]
