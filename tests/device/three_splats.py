"""Compare the splat sorter with the counting sort of three.js, in Chromium with WebGPU on SwiftShader.

    python tests/device/three_splats.py FOLDER [COUNT ...]    FOLDER: the unpacked package `three` of npm

The page runs the code of docs/guides/splats.md as it stands, draws a frame, and reads the order and the count of
instances back.  Exit code 1: an order or a count is wrong.  Both sorts take turns.  A time lasts from the first command
to the end of the work.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from chromium import Chromium
from web_server import Server

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".ci"))
import npm_package  # noqa: E402  # a module of .ci

COUNTS = (1 << 16, 1 << 18, 1 << 20)
BINS = 4096
"""The bins of `GaussianSplat` of three.js."""
IMPORTS = {
    "three": "./three/build/three.webgpu.js",
    "three/webgpu": "./three/build/three.webgpu.js",
    "three/tsl": "./three/build/three.tsl.js",
    "three/addons/": "./three/examples/jsm/",
    "hsgen-webgpu/splats": "./package/js/hs_webgpu_splats.js",
    "hsgen-webgpu/u32-index": "./package/js/pairs/u32-index.js",
}
PAGE = f"""<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><canvas width="64" height="64"></canvas>
<script type="importmap">{json.dumps({"imports": IMPORTS})}</script><script type="module" src="page.js"></script>
"""
BEFORE = """
const post = (result) => fetch("/result", { method: "POST", body: JSON.stringify(result) });
addEventListener("unhandledrejection", (event) => post({ error: String(event.reason?.stack ?? event.reason) }));
const query = new URLSearchParams(location.search), n = Number(query.get("n")), rounds = Number(query.get("rounds"));
const places = new Float32Array(4 * n);
let state = 12345; // xorshift
for (let i = 0; i < places.length; i++) {
  state ^= state << 13; state >>>= 0; state ^= state >>> 17; state ^= state << 5; state >>>= 0;
  places[i] = i % 4 === 3 ? 1 : (state / 2 ** 32) * 10 - 5;
}
const renderer = new THREE.WebGPURenderer({ canvas: document.querySelector("canvas") });
const camera = new THREE.PerspectiveCamera(60, 1, 6, 12); // some splats are too near, some too far
camera.position.set(1, 2, 9);
camera.lookAt(0, 0, 0);
const scene = new THREE.Scene(), geometry = new THREE.PlaneGeometry(0.02, 0.02), splats = new THREE.Mesh(geometry);
"""
AFTER = """
import { cameraProjectionMatrix, instanceIndex, max, positionLocal, storage, uint, uniform, vec4 } from "three/tsl";
import { CountingSort } from "three/addons/gpgpu/CountingSort.js";

const placed = storage(positions, "vec4", n).toReadOnly();
const material = new THREE.NodeMaterial();
const splat = storage(order, "uint", n).toReadOnly().element(instanceIndex);
material.positionNode = placed.element(splat).xyz.add(positionLocal);
material.fragmentNode = vec4(1, 0.5, 0.2, 1);
Object.assign(splats, { material, frustumCulled: false, count: n });
scene.add(splats);
renderer.render(scene, camera); // makes the buffers
frame();

const read = async (attribute) => new Uint32Array(await renderer.getArrayBufferAsync(attribute));
const e = view.elements, span = camera.far - camera.near;
const depth = (i) => -(e[2] * places[4 * i] + e[6] * places[4 * i + 1] + e[10] * places[4 * i + 2] + e[14]);
const near = (i, slack) => depth(i) >= camera.near - slack && depth(i) <= camera.far + slack;
const within = (slack) => { // the number of splats in range, in doubles: floats may differ at its ends
  let count = 0;
  for (let i = 0; i < n; i++) if (near(i, slack)) count++;
  return count;
};
const descents = (index, steps) => { // neighbours that are farther than their predecessor, beyond a step
  let faults = 0;
  for (let i = 1; i < index.length; i++) if (depth(index[i]) - depth(index[i - 1]) > (1.01 * span) / steps) faults++;
  return faults;
};
const index = await read(order), instances = (await read(draw))[1], slack = 1e-4;
let faults = n - new Set(index).size + descents(index.slice(0, instances), 65534);
faults += index.slice(0, instances).filter((i) => !near(i, slack)).length;
faults += index.slice(instances).filter((i) => near(i, -slack)).length;
if (instances < within(-slack) || instances > within(slack)) faults++;

const counting = new CountingSort(n, { binCount: BINS, workgroupSize: 256 });
const matrix = uniform(new THREE.Matrix4().copy(view)), range = uniform(new THREE.Vector2(camera.near, camera.far));
counting.setBinNode(() => {
  const far = matrix.mul(vec4(placed.element(instanceIndex).xyz, 1)).xyz.z.negate();
  const part = far.sub(range.x).div(max(range.y.sub(range.x), 0.0001)).clamp(0, 1);
  return uint(BINS - 1).sub(uint(part.mul(BINS - 1)));
});

function sorted() { // the sort of the guide's frame, which draws, too
  const encoder = backend.device.createCommandEncoder(), countOut = { buffer: buffer(draw), offset: 4 };
  sorter.record(encoder, { positions: buffer(positions), n, view: view.elements, near: camera.near, far: camera.far,
    indexOut: buffer(order), countOut });
  backend.device.queue.submit([encoder.finish()]);
}
const { queue } = backend.device;
const timed = async (work) => {
  await queue.onSubmittedWorkDone();
  const begin = performance.now();
  work();
  await queue.onSubmittedWorkDone();
  return performance.now() - begin;
};
const hsgen = [], three = [];
for (let round = -2; round < rounds; round++) {
  const times = [await timed(sorted), await timed(() => counting.compute(renderer))];
  if (round >= 0) hsgen.push(times[0]), three.push(times[1]);
}
const theirs = await read(counting.orderAttribute);
const adapter = backend.device.adapterInfo?.description || backend.device.adapterInfo?.vendor;
const coarse = descents(theirs.filter((i) => near(i, 0)), 65534); // its order within a bin is any
await post({ hsgen, three, adapter, version: THREE.REVISION, faults, instances, coarse });
"""


def guide() -> str:
    """The code of the guide for three.js."""
    text = (ROOT / "docs/guides/splats.md").read_text(encoding="utf-8")
    return re.findall(r"```js\n(.*?)```", text[text.index("## With three.js") :], re.DOTALL)[0]


def site(folder: Path, three: Path) -> None:
    """Write the page, and the modules that it imports."""
    chosen = npm_package.chosen(("webgpu", "webgpu-cpu"), ("u32",), ("index",), ("auto",))
    with tarfile.open(fileobj=io.BytesIO(npm_package.tarball(npm_package.files(chosen)))) as package:
        package.extractall(folder, filter="data")
    for name in ("build", "examples/jsm/gpgpu"):
        shutil.copytree(three / name, folder / "three" / name)
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    script = f"const BINS = {BINS};\n{BEFORE}\n{guide()}\n{AFTER}"
    (folder / "page.js").write_text(script, encoding="utf-8")


def measured(page: Chromium, server: Server, count: int, rounds: int) -> dict[str, Any]:
    """Return what the page posts for a number of splats."""
    server.posted.clear()
    page.open(f"{server.address}/index.html?n={count}&rounds={rounds}")
    until = time.monotonic() + 300
    while not server.posted:
        page.value("0")  # reads what the page says
        if time.monotonic() > until or any("rror" in line for line in page.console):
            raise SystemExit(f"the page failed: {page.console}")
        time.sleep(0.2)
    result: dict[str, Any] = json.loads(server.posted[0])
    if "error" in result:
        raise SystemExit(result["error"])
    return result


def main(three: Path, counts: list[int]) -> int:
    browser = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if browser is None or not (three / "build/three.webgpu.js").is_file():
        print("needs Chromium, and the folder of three.js with build/three.webgpu.js", file=sys.stderr)
        return 3
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        site(Path(name), three)
        with Server(Path(name)) as server, Chromium(browser, Path(name) / "profile") as page:
            for count in counts:
                got = measured(page, server, count, max(5, (1 << 21) // count))
                wrong += got["faults"]
                times = {who: sorted(got[who]) for who in ("hsgen", "three")}
                texts = {who: f"{t[0]:.1f} ms (median {t[len(t) // 2]:.1f})" for who, t in times.items()}
                print(f"{count} splats, {got['instances']} in range, {got['adapter']}")
                print(f"    hsgen: {texts['hsgen']}, {got['faults']} wrong")
                print(
                    f"    three.js r{got['version']}: {texts['three']}, {got['coarse']} descents within its bins",
                    flush=True,
                )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), [int(count) for count in sys.argv[2:]] or list(COUNTS)))
