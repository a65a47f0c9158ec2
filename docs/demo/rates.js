/* Millions of keys per second, next to the sort of typed arrays. */
import { buffer, read } from "./gpu.js";
import { keysWrong, pairsWrong } from "./check.js";

const element = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const ROUNDS = 5, ENOUGH = 40, LONG = 1500; // milliseconds: of a round, and of a size that ends the measurement

const median = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];
const rounded = (rate) => (rate >= 100 ? Math.round(rate) : Number(rate.toPrecision(3)));
const after = () => new Promise((done) => setTimeout(done));

/* Seconds of one sort on the device, as the median of rounds of as many sorts as are long enough together. */
async function timed(device, sorter, call) {
  const once = async (times) => {
    const begin = performance.now(), encoder = device.createCommandEncoder();
    for (let i = 0; i < times; i++) sorter.sort(encoder, call);
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    return (performance.now() - begin) / times;
  };
  await once(1);
  const times = Math.min(64, Math.max(1, Math.ceil(ENOUGH / Math.max(0.02, await once(1)))));
  const all = [];
  for (let round = 0; round < ROUNDS; round++) all.push(await once(times));
  return median(all) / 1000;
}

/* Seconds of the processor for the same keys; with values, of words that hold the key above the index.  Clocks of browsers
 * are coarse, so that short sorts are timed many at once. */
function typedArray(keys, valued) {
  const words = valued ? BigUint64Array.from(keys, (key, i) => (BigInt(key) << 32n) | BigInt(i)) : keys;
  const times = Math.ceil((1 << 17) / keys.length), all = [];
  for (let round = 0; round < (keys.length > 1 << 18 ? 1 : ROUNDS); round++) {
    const copies = Array.from({ length: times }, () => words.slice()), begin = performance.now();
    for (const copy of copies) copy.sort();
    all.push((performance.now() - begin) / times);
  }
  return Math.max(1e-4, median(all)) / 1000;
}

/** Measure all sizes up to `most` keys; `row` gets each result. */
async function measured(device, sorter, valued, most, row) {
  for (let n = 1 << 10; n <= most; n <<= 2) {
    await after(); // the page stays alive
    const keys = Uint32Array.from({ length: n }, () => Math.random() * 4294967296);
    const indices = Uint32Array.from(keys, (_, i) => i);
    const made = { keys: buffer(device, keys), keysOut: buffer(device, 4 * n) };
    if (valued) Object.assign(made, { values: buffer(device, indices), valuesOut: buffer(device, 4 * n) });
    const begin = performance.now();
    const gpu = await timed(device, sorter, { ...made, n });
    const whole = performance.now() - begin;
    const results = await read(device, [made.keysOut, 4 * n], ...(valued ? [[made.valuesOut, 4 * n]] : []));
    for (const one of Object.values(made)) one.destroy();
    const [sorted, moved] = results.map((data) => new Uint32Array(data));
    const wrong = valued ? pairsWrong("u32", "ascending", keys, sorted, moved) : keysWrong("u32", keys, sorted);
    row({ n, gpu: n / gpu / 1e6, cpu: n / typedArray(keys, valued) / 1e6, wrong });
    if (whole > LONG * ROUNDS) return;
  }
}

function show(rows) {
  const greatest = Math.max(...rows.flatMap((r) => [r.gpu, r.cpu]));
  const cell = (rate, name) => {
    const made = document.createElement("td"), bar = document.createElement("span");
    made.className = `rate ${name}`;
    bar.className = "bar";
    bar.style.width = `${(100 * rate) / greatest}%`;
    made.append(String(rounded(rate)), bar);
    return made;
  };
  const plain = (text, name = "") => Object.assign(document.createElement("td"), { textContent: text, className: name });
  element("table").tBodies[0].replaceChildren(...rows.map((r) => {
    const line = document.createElement("tr");
    const ratio = r.gpu / r.cpu;
    line.append(plain(number.format(r.n)), cell(r.gpu, "gpu"), cell(r.cpu, "cpu"), plain(`${ratio.toPrecision(2)}×`),
      r.wrong ? plain(r.wrong, "wrong") : plain("✓ right", "good"));
    return line;
  }));
}

/** Prepare the section; `sorter(value)` returns a promise of a sorter of u32, `alone(work)` does work while nothing is drawn. */
export function rates(device, sorter, most, alone) {
  const state = element("rate-state"), button = element("measure");
  async function run() {
    const value = element("rate-values").value, valued = value !== "none", rows = [];
    element("rival").innerHTML = valued ? "<code>BigUint64Array.prototype.sort</code> (key and index in one word)" : "<code>Uint32Array.prototype.sort</code>";
    button.disabled = true;
    try {
      state.textContent = "Measuring…";
      const made = await sorter(value);
      await alone(() => measured(device, made, valued, most, (row) => {
        rows.push(row);
        show(rows);
        state.textContent = `${number.format(row.n)} keys measured…`;
      }));
      const wrong = rows.filter((r) => r.wrong).length;
      state.textContent = wrong ? `${wrong} results are wrong.` : "Every result was read back and checked.";
    } finally {
      button.disabled = false;
    }
    return rows;
  }
  button.addEventListener("click", () => run().catch((error) => (state.textContent = error.message)));
  return { run };
}
