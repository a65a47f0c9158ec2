"""The page docs/demo in a real Chromium with WebGPU on SwiftShader: what it sorts, shows and says."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import Chromium
from PIL import Image
from tools import chromium, tool
from web_server import Server

from hsgen.cli import main

PAGE = Path(__file__).parents[2] / "docs/demo"
QUERY = "points=8192&most=4096&count=1000&copy"
NOTHING = "Object.defineProperty(navigator, 'gpu', { value: undefined })"
NO_ADAPTER = "navigator.gpu.requestAdapter = () => Promise.resolve(null)"


@pytest.fixture(scope="session")
def browser() -> str:
    """A browser that can be driven by pipes."""
    return chromium()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The page with its bundle, as `make web` has them, on a server."""
    folder = tmp_path_factory.mktemp("web")
    shutil.copytree(PAGE, folder, dirs_exist_ok=True)
    options = ["--order", "both", "--feature", "device-count", "-o", str(folder / "hs")]
    for value in ("none", "v4"):
        keys = ["--key", "u32", "--key", "i32", "--key", "f32", "--value", value]
        assert main(["generate", "-t", "webgpu", "-t", "webgpu-cpu", "--api", "webgpu", *keys, *options]) == 0
    with Server(folder) as server:
        yield server


@pytest.fixture(scope="module")
def page(browser: str, web: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """The page, which has sorted and measured everything and posted its results."""
    with Chromium(browser, tmp_path_factory.mktemp("profile")) as found:
        found.view(1100, 2300)
        found.open(f"{web.address}/index.html?{QUERY}&post=/result")
        until = time.monotonic() + 300
        while not web.posted:
            found.value("0")  # reads what the page says
            assert time.monotonic() < until, found.console
            time.sleep(0.2)
        yield found


@pytest.fixture
def results(web: Server, page: Chromium) -> dict[str, Any]:
    """What the page posted."""
    found: dict[str, Any] = json.loads(web.posted[0])
    return found


def pixels(page: Chromium, selector: str, folder: Path) -> np.ndarray:
    """The part of a picture of the page where an element is, as height x width x 3 bytes."""
    names = "x", "y", "width", "height"
    box = page.value(
        f"(b => [b.x, b.y, b.width, b.height])(document.querySelector('{selector}').getBoundingClientRect())"
    )
    x, y, width, height = (round(part) for _, part in zip(names, box, strict=True))
    with Image.open(page.picture(folder / "page.png")) as image:
        return np.asarray(image.convert("RGB"))[y + 3 : y + height - 3, x + 3 : x + width - 3].astype(int)


def test_every_result_is_right_and_nothing_fails(results: dict[str, Any], page: Chromium) -> None:
    assert results["errors"] == [] and page.console == []
    assert "swiftshader" in results["device"]
    assert [row["key"] for row in results["bars"]] == ["u32", "i32", "f32"]
    assert all(row["right"] is True for row in results["bars"]), results["bars"]
    assert results["points"]["right"] is True, results["points"]
    for value in ("none", "u32"):
        assert [row["n"] for row in results["rates"][value]] == [1024, 4096]
        assert all(row["wrong"] is None and row["gpu"] > 0 and row["cpu"] > 0 for row in results["rates"][value])


def test_the_picture_shows_points_and_sorted_bars(page: Chromium, results: dict[str, Any], tmp_path: Path) -> None:
    scene = pixels(page, "#scene", tmp_path)
    coloured = (scene.max(axis=2) - scene.min(axis=2)) > 60
    assert 0.08 < coloured.mean() < 0.6, "the knot covers a part of its canvas"
    middle = coloured[len(coloured) // 4 : -len(coloured) // 4]
    assert middle.mean() > coloured.mean()
    assert len(np.unique(scene[coloured] // 32, axis=0)) > 20, "of many colours"
    chart = pixels(page, "#chart", tmp_path)
    heights = (chart.max(axis=2) - chart.min(axis=2) > 30).sum(axis=0)
    tall = np.maximum.accumulate(heights)
    assert heights[-8:].max() > 0.9 * len(chart) and heights[:8].max() < 0.15 * len(chart)
    steps = np.array([part.max() for part in np.array_split(heights, 40)])  # gaps between bars are lower
    assert (np.diff(steps) >= -2).all() and tall[-1] == heights.max(), "bars ascend"


def test_rates_are_shown_for_every_size(page: Chromium, results: dict[str, Any]) -> None:
    rows = page.value("[...document.querySelectorAll('#table tbody tr')].map(r => [...r.cells].map(c => c.innerText))")
    assert [row[0] for row in rows] == ["1,024", "4,096"]
    for row in rows:
        assert (
            float(row[1]) > 0 and float(row[2]) > 0 and row[3][-1] == "\N{MULTIPLICATION SIGN}" and row[4] == "✓ right"
        )
    assert page.value("document.getElementById('rate-state').innerText") == "Every result was read back and checked."


def test_keys_stop_the_knot_and_switch_sorting_off(page: Chromium, results: dict[str, Any]) -> None:
    state = "document.getElementById('scene-state').innerText"
    page.value("document.getElementById('scene').focus()")
    page.press(" ", "Space")
    assert page.value("document.getElementById('turn').getAttribute('aria-pressed')") == "false"
    page.press("s", "KeyS")
    page.wait(f"/in front of a nearer one/.test({state})")
    page.press("ArrowLeft")
    page.press("s", "KeyS")
    page.wait(f"/each behind the next: checked/.test({state})")
    page.value("(c => { c.value = 60; c.dispatchEvent(new Event('input')) })(document.getElementById('cut'))")
    page.wait(f"/^[1-7],?[0-9]* of 8,192 points drawn, each behind/.test({state})")
    page.value("(c => { c.value = 0; c.dispatchEvent(new Event('input')) })(document.getElementById('cut'))")
    page.wait(f"/^8,192 of 8,192 points/.test({state})")
    assert page.console == []


@pytest.mark.parametrize("width", [320, 390, 1100])
def test_it_fits_the_window_in_both_schemes(
    page: Chromium, results: dict[str, Any], width: int, tmp_path: Path
) -> None:
    for dark in (False, True):
        page.view(width, 900, dark=dark)
        page.wait(f"innerWidth === {width}")
        assert page.value("document.documentElement.scrollWidth") <= width
        small = (
            "[...document.querySelectorAll('button, select')].filter(e => e.getBoundingClientRect().height < 40).length"
        )
        assert page.value(small) == 0
        with Image.open(page.picture(tmp_path / "page.png")) as image:
            corner = image.convert("RGB").getpixel((2, 2))
        assert isinstance(corner, tuple)
        assert (max(corner) < 64) if dark else (min(corner) > 192)
    page.view(1100, 2300)


def test_a_phone_has_sliders_for_fingers_and_no_hints_about_keys(page: Chromium, results: dict[str, Any]) -> None:
    """A touch screen without a pointer that hovers."""
    hints = "[...document.querySelectorAll('.keys')].filter(e => e.getBoundingClientRect().height > 0).length"
    assert page.value(hints) == 2
    page.view(390, 900)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    page.wait("matchMedia('(hover: none) and (pointer: coarse)').matches")
    assert page.value(hints) == 0
    heights = page.value(
        "[...document.querySelectorAll('input[type=range]')].map(e => e.getBoundingClientRect().height)"
    )
    assert len(heights) == 2 and min(heights) >= 40
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)
    page.view(1100, 2300)


AGENTS = {
    "Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0 Safari/537.36": "chrome://flags/#enable-unsafe-webgpu",
    "Mozilla/5.0 (Windows NT 10.0) Chrome/110.0 Safari/537.36": "version 113",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0": "dom.webgpu.enabled",
    "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0": "from 141",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1": "version 26",
    "Mozilla/5.0 (Linux; Android 11) Chrome/120.0 Mobile Safari/537.36": "Android 12",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_0) Version/17.0 Safari/605.1": "Safari 26",
}


def test_advice_names_a_browser_or_a_flag() -> None:
    program = f"import {{ advice }} from {json.dumps(str(PAGE / 'gpu.js'))};\n"
    program += f"console.log(JSON.stringify({json.dumps(list(AGENTS))}.map(advice)));"
    command = [tool("node"), "--input-type=module", "--eval", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for text, advice in zip(AGENTS.values(), json.loads(done.stdout), strict=True):
        assert text in advice


@pytest.mark.parametrize(("script", "text"), [(NOTHING, "This browser has no WebGPU."), (NO_ADAPTER, "found no GPU")])
def test_it_says_what_is_missing(browser: str, web: Server, tmp_path: Path, script: str, text: str) -> None:
    with Chromium(browser, tmp_path) as other:
        other.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        other.open(f"{web.address}/index.html")
        other.wait("!document.getElementById('problem').hidden")
        assert text in other.value("document.getElementById('problem').innerText")
        assert other.value("document.getElementById('rates').hidden") is True
        assert other.console == []


def test_nothing_moves_for_those_who_prefer_that(browser: str, web: Server, tmp_path: Path) -> None:
    with Chromium(browser, tmp_path / "profile") as other:
        other.view(390, 900, still=True)
        other.open(f"{web.address}/index.html?{QUERY}")
        other.wait("/checked/.test(document.getElementById('scene-state').innerText)")
        assert other.value("document.getElementById('turn').getAttribute('aria-pressed')") == "false"
        first = pixels(other, "#scene", tmp_path)
        time.sleep(0.5)
        assert (first == pixels(other, "#scene", tmp_path)).all()


FIRST_SORT = """void (async () => {
    const adapter = await navigator.gpu.requestAdapter(), device = await adapter.requestDevice(), n = 10000;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const made = (bytes, usage) => device.createBuffer({ size: bytes, usage });
    const keys = made(4 * n, usage), values = made(4 * n, usage);
    const end = made(4 * n, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    device.queue.writeBuffer(keys, 0, Uint32Array.from({ length: n }, (_, i) => Math.imul(i, 2654435761)));
    await device.queue.onSubmittedWorkDone();
    const begin = performance.now();
    const { Sorter } = await import("/hs/js/index.js");
    const sorter = await Sorter.create(device, "u32", { value: "u32", maxN: n });
    const encoder = device.createCommandEncoder();
    sorter.sort(encoder, { keys, values, n });
    encoder.copyBufferToBuffer(keys, 0, end, 0, 4 * n);
    device.queue.submit([encoder.finish()]);
    await end.mapAsync(GPUMapMode.READ);
    const took = performance.now() - begin;
    const sorted = new Uint32Array(end.getMappedRange()).every((key, i, all) => !i || all[i - 1] <= key);
    globalThis.first = JSON.stringify({ took, sorted, name: sorter.name });
})()"""


@pytest.mark.nightly
def test_the_first_sort_of_a_new_page_takes_little_time(browser: str, web: Server, tmp_path: Path) -> None:
    """300 ms from the import of the module to sorted keys, with pipelines that no page has compiled before.

    The least of several pages, since other programs delay some.
    """
    took = []
    for number in range(6):
        with Chromium(browser, tmp_path / str(number)) as page:
            page.open(f"{web.address}/style.css")
            page.value(FIRST_SORT)
            page.wait("globalThis.first")
            found = json.loads(page.value("globalThis.first"))
        assert found["sorted"] is True and found["name"].startswith("webgpu-cpu/")
        took.append(found["took"])
        if min(took) <= 300:
            break
    assert min(took) <= 300, took
