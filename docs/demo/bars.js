/* Keys as bars: before and after a sort. */
import { buffer, read } from "./gpu.js";
import { array, keysOf, pairsWrong } from "./check.js";

const element = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const shortened = (x) => (x < 100 ? x.toPrecision(2) : number.format(Math.round(x)));

/** Prepare the section; `sorter(key)` returns a promise of a sorter with values, `alone(work)` does work while nothing is drawn. */
export function bars(device, keys, sorter, alone) {
  const canvas = element("chart"), state = element("chart-state");
  let data, shown, sorted = false;
  element("chart-key").append(...keys.map((key) => new Option(key)));

  const settings = () => ({
    key: element("chart-key").value, order: element("chart-order").value, kind: element("chart-kind").value,
    n: Number(element("chart-count").value),
  });

  function draw() {
    const ratio = devicePixelRatio, width = (canvas.width = canvas.clientWidth * ratio), height = (canvas.height = canvas.clientHeight * ratio);
    const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    let low = Infinity, high = -Infinity;
    for (const x of shown) (low = Math.min(low, x)), (high = Math.max(high, x));
    const count = Math.min(shown.length, Math.floor(canvas.clientWidth / 2)), step = width / count;
    context.fillStyle = style.getPropertyValue(sorted ? "--gpu" : "--cpu");
    for (let i = 0; i < count; i++) {
      const x = shown[Math.floor(((i + 0.5) / count) * shown.length)];
      const tall = (0.03 + 0.94 * ((x - low) / (high - low || 1))) * height;
      context.fillRect(i * step, height - tall, Math.max(1, step - ratio * 0.6), tall);
    }
  }

  function renew() {
    const { key, kind, n } = settings();
    shown = data = keysOf(key, kind, n);
    sorted = false;
    state.textContent = `${number.format(n)} ${key} keys, not sorted`;
    draw();
  }

  async function sort() {
    const { key, order } = settings(), n = data.length, bytes = data.byteLength;
    element("sort").disabled = true;
    try {
      const made = await sorter(key), indices = Uint32Array.from(data, (_, i) => i);
      const source = buffer(device, data), values = buffer(device, indices);
      const milliseconds = await alone(async () => {
        await device.queue.onSubmittedWorkDone();
        const begin = performance.now(), encoder = device.createCommandEncoder();
        made.sort(encoder, { keys: source, values, n, order });
        device.queue.submit([encoder.finish()]);
        await device.queue.onSubmittedWorkDone();
        return performance.now() - begin;
      });
      const [after, moved] = await read(device, [source, bytes], [values, bytes]);
      source.destroy();
      values.destroy();
      const wrong = pairsWrong(key, order, new Uint32Array(data.buffer), new Uint32Array(after), new Uint32Array(moved));
      shown = new (array(key))(after);
      sorted = true;
      state.className = wrong ? "wrong" : "";
      state.textContent = wrong ? `Wrong: ${wrong}.`
        : `${number.format(n)} keys and values sorted in ${shortened(milliseconds)} ms, the way to the GPU and back included. All checked: in order and stable.`;
      draw();
      return wrong === null;
    } finally {
      element("sort").disabled = false;
    }
  }

  element("sort").addEventListener("click", () => sort().catch((error) => (state.textContent = error.message)));
  element("shuffle").addEventListener("click", renew);
  for (const id of ["chart-key", "chart-kind", "chart-count"]) element(id).addEventListener("change", renew);
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  renew();
  return { sort, renew };
}
