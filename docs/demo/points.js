/* Points by depth: projected, counted, sorted and drawn on the GPU. */
import { buffer, read } from "./gpu.js";
import { DRAW, PROJECT, knot, view } from "./knot.js";

const element = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const UNIFORM = 64, VERTEX = 32, INDIRECT = 256; // of GPUBufferUsage
const LOOKED = 1000; // milliseconds between looks at what was sorted

/* The buffers for n points, with what is bound. */
function scene(device, pipelines, n) {
  const b = { points: buffer(device, knot(n)), view: buffer(device, 80, UNIFORM), count: buffer(device, 16), draw: buffer(device, new Uint32Array([4, 0, 0, 0]), INDIRECT) };
  for (const name of ["depths", "indices", "sortedDepths", "sorted"]) b[name] = buffer(device, 4 * n);
  const bound = (pipeline, ...names) => device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: names.map((name, binding) => ({ binding, resource: { buffer: b[name] } })),
  });
  return {
    n, ...b,
    project: bound(pipelines.project, "view", "points", "depths", "indices", "count"),
    drawn: bound(pipelines.draw, "view", "points", "sorted"),
    drawnAsIs: bound(pipelines.draw, "view", "points", "indices"),
    destroy: () => Object.values(b).forEach((one) => one.destroy()),
  };
}

async function pipelinesOf(device, format) {
  const project = device.createShaderModule({ code: PROJECT }), draw = device.createShaderModule({ code: DRAW });
  const over = { srcFactor: "one", dstFactor: "one-minus-src-alpha" };
  const made = await Promise.all([
    device.createComputePipelineAsync({ layout: "auto", compute: { module: project } }),
    device.createRenderPipelineAsync({
      layout: "auto", vertex: { module: draw }, primitive: { topology: "triangle-strip" },
      fragment: { module: draw, targets: [{ format, blend: { color: over, alpha: over } }] },
    }),
  ]);
  return { project: made[0], draw: made[1] };
}

/* The canvas to draw on, and what to do after a frame: with `copied`, which is for browsers whose pictures of a page lack
 * what WebGPU draws, frames go through a second canvas. */
function surface(canvas, copied) {
  if (!copied) return { surface: canvas, shown: () => {} };
  const surface = new OffscreenCanvas(1, 1), flat = canvas.getContext("2d");
  return {
    surface,
    shown() {
      if (canvas.width !== surface.width || canvas.height !== surface.height) Object.assign(canvas, { width: surface.width, height: surface.height });
      flat.clearRect(0, 0, canvas.width, canvas.height);
      flat.drawImage(surface, 0, 0);
    },
  };
}

/** Prepare the section with a sorter of f32 keys with values; `most`: points at the start, at most. */
export async function points(device, sorter, most, copied) {
  const canvas = element("scene"), caption = element("scene-state"), { surface: target, shown } = surface(canvas, copied);
  const context = target.getContext("webgpu");
  const format = navigator.gpu.getPreferredCanvasFormat(), pipelines = await pipelinesOf(device, format);
  context.configure({ device, format, alphaMode: "premultiplied" });
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const state = { yaw: 0.5, pitch: 0.55, turning: !still, ordered: true, cut: 0, visible: true, held: false, waiting: false, again: false, last: 0, looked: 0, ms: 0, text: "", right: null };
  let s = null;

  function resized() {
    const ratio = Math.min(2, devicePixelRatio);
    target.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    target.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    wake();
  }

  function renewed() {
    const n = Math.min(2 ** Number(element("how-many").value), sorter.maxN);
    s?.destroy();
    s = scene(device, pipelines, n);
    element("how-many").nextElementSibling.value = number.format(n);
    state.looked = 0;
    wake();
  }

  function record() {
    const { width, height } = target, cut = 1.05 - state.cut * 2.1;
    const radius = Math.min(0.05, 4 / Math.sqrt(s.n));
    device.queue.writeBuffer(s.view, 0, view({ ...state, width, height, radius, cut, n: s.n }));
    const encoder = device.createCommandEncoder();
    encoder.clearBuffer(s.count);
    const groups = Math.ceil(s.n / 64), project = encoder.beginComputePass();
    project.setPipeline(pipelines.project);
    project.setBindGroup(0, s.project);
    project.dispatchWorkgroups(Math.min(groups, 32768), Math.ceil(groups / 32768));
    project.end();
    if (state.ordered)
      sorter.sort(encoder, { keys: s.depths, keysOut: s.sortedDepths, values: s.indices, valuesOut: s.sorted, n: s.n, count: s.count, order: "descending" });
    encoder.copyBufferToBuffer(s.count, 0, s.draw, 4, 4);
    const pass = encoder.beginRenderPass({ colorAttachments: [{ view: context.getCurrentTexture().createView(), loadOp: "clear", storeOp: "store", clearValue: [0, 0, 0, 0] }] });
    pass.setPipeline(pipelines.draw);
    pass.setBindGroup(0, state.ordered ? s.drawn : s.drawnAsIs);
    pass.drawIndirect(s.draw, 0);
    pass.end();
    device.queue.submit([encoder.finish()]);
    shown();
  }

  /* Read back what the last frame sorted: the count and all depths. */
  async function look() {
    const ordered = state.ordered, n = s.n;
    const [counts, data] = await read(device, [s.count, 4], [ordered ? s.sortedDepths : s.depths, 4 * n]);
    const count = new Uint32Array(counts)[0], depths = new Float32Array(data, 0, count);
    let inversions = 0;
    for (let i = 1; i < count; i++) inversions += depths[i] > depths[i - 1];
    state.right = ordered ? inversions === 0 : null;
    state.text = `${number.format(count)} of ${number.format(n)} points drawn, `
      + (inversions ? `${number.format(inversions)} in front of a nearer one` : "each behind the next: checked");
  }

  async function frame(now) {
    const drawn = s, passed = Math.min(100, now - (state.last || now));
    if (state.turning) state.yaw += passed * 0.0005;
    state.ms = state.ms ? 0.9 * state.ms + 0.1 * passed : passed;
    state.last = now;
    record();
    await device.queue.onSubmittedWorkDone();
    if (drawn !== s || (state.turning && now - state.looked < LOOKED)) return;
    state.looked = now;
    await look();
    caption.textContent = state.text + (state.turning && state.ms ? ` · ${Math.round(1000 / state.ms)} frames a second` : "");
    caption.className = state.right === false ? "wrong" : "";
  }

  /* Draw frames, one at a time, as long as something moves. */
  async function run() {
    state.waiting = true;
    while (!state.held && (state.again || (state.turning && state.visible))) {
      state.again = false;
      const now = await new Promise(requestAnimationFrame);
      if (!state.held) await frame(now);
    }
    state.waiting = false;
    state.last = 0;
  }

  function wake() {
    state.again = true;
    if (!state.waiting && s) run().catch((error) => (caption.textContent = error.message));
  }

  const pressed = (id, name) => {
    state[name] = !state[name];
    element(id).setAttribute("aria-pressed", state[name]);
    state.looked = 0;
    wake();
  };
  element("turn").addEventListener("click", () => pressed("turn", "turning"));
  element("ordered").addEventListener("click", () => pressed("ordered", "ordered"));
  element("turn").setAttribute("aria-pressed", state.turning);
  element("how-many").value = Math.min(Number(element("how-many").value), Math.floor(Math.log2(most)));
  element("how-many").addEventListener("change", renewed);
  element("cut").addEventListener("input", (event) => {
    state.cut = event.target.value / 100;
    event.target.nextElementSibling.value = `${event.target.value} %`;
    wake();
  });
  element("cut").nextElementSibling.value = "0 %";
  const turn = (x, y) => {
    state.yaw += x;
    state.pitch = Math.max(-1.5, Math.min(1.5, state.pitch + y));
    wake();
  };
  canvas.addEventListener("pointermove", (event) => event.buttons && turn(event.movementX * 0.008, event.movementY * 0.008));
  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("keydown", (event) => {
    const arrows = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    if (arrows[event.key]) turn(...arrows[event.key]);
    else if (event.key === " ") pressed("turn", "turning");
    else if (event.key === "s" || event.key === "S") pressed("ordered", "ordered");
    else return;
    event.preventDefault();
  });
  new IntersectionObserver(([entry]) => {
    state.visible = entry.isIntersecting;
    wake();
  }).observe(canvas);
  new ResizeObserver(resized).observe(canvas);
  renewed();
  /* Draw nothing while something else is measured. */
  async function hold(work) {
    state.held = true;
    try {
      return await work();
    } finally {
      state.held = false;
      wake();
    }
  }
  return { state, hold };
}
