/* The page: opens the device and prepares each section.
 *
 * For tests, the address can have ?points=N&count=N&most=N, to do less, ?copy, and ?post=PATH: the page then sorts and measures by
 * itself, and posts its results to that path. */
import { bars } from "./bars.js";
import { named, opened, problem } from "./gpu.js";
import { points } from "./points.js";
import { rates } from "./rates.js";

const element = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);
const errors = [];

function fail(error) {
  errors.push(String(error.message ?? error));
  const box = element("problem"), title = document.createElement("strong"), text = document.createElement("p");
  title.textContent = error.title ?? "Something went wrong.";
  text.textContent = error.message ?? String(error);
  box.replaceChildren(title, text);
  box.hidden = false;
  element("device").hidden = true;
}

async function loaded() {
  return import("./hs/js/index.js").catch(() => {
    throw problem("The sorts are missing.", "This page needs a bundle of hsgen in the folder hs next to it: make web generates one.");
  });
}

/* What tests look at. */
async function posted(path, parts) {
  const started = performance.now();
  const result = { device: element("device").textContent, ready: parts.ready, errors };
  result.bars = [];
  for (const key of parts.keys) {
    element("chart-key").value = key;
    element("chart-count").value = asked.get("count") ?? "100000";
    parts.bars.renew();
    result.bars.push({ key, right: await parts.bars.sort(), text: element("chart-state").textContent });
  }
  result.rates = {};
  for (const value of ["none", "u32"]) {
    element("rate-values").value = value;
    result.rates[value] = await parts.rates.run();
  }
  while (parts.points.state.right === null && performance.now() - started < 60000) await new Promise((done) => setTimeout(done, 50));
  result.points = { right: parts.points.state.right, text: parts.points.state.text };
  await fetch(path, { method: "POST", body: JSON.stringify(result) });
}

async function main() {
  const begin = performance.now();
  const [{ adapter, device }, { Sorter, sorts }] = await Promise.all([opened(), loaded()]);
  device.addEventListener("uncapturederror", (event) => fail(event.error));
  device.lost.then((info) => info.reason === "destroyed" || fail(problem("The GPU was lost.", info.message || "Reload this page.")));
  const made = {};
  const sorter = (key, value) => (made[key + value] ??= Sorter.create(device, key, { value }));
  const depth = await sorter("f32", "u32");
  const ready = performance.now() - begin;
  const slow = adapter.info?.isFallbackAdapter ? " It runs on the processor, not on a GPU." : "";
  element("device").textContent = `${named(adapter)}.${slow} Sorts of ${depth.name.split("/")[0]} were ready after ${Math.round(ready)} ms.`;
  for (const id of ["points", "bars", "rates"]) element(id).hidden = false;
  const keys = ["u32", "i32", "f32"].filter((key) => sorts.some((s) => s.bits === 32 && s.value === "v4" && (key === "u32" || s.transform)));
  const parts = { ready, keys, points: await points(device, depth, Number(asked.get("points")) || 1 << 20, asked.has("copy")) };
  parts.bars = bars(device, keys, (key) => sorter(key, "u32"), parts.points.hold);
  parts.rates = rates(device, (value) => sorter("u32", value), Number(asked.get("most")) || 1 << 22, parts.points.hold);
  if (asked.has("post")) await posted(asked.get("post"), parts);
}

addEventListener("error", (event) => errors.push(event.message));
main().catch(async (error) => {
  fail(error);
  if (asked.has("post")) await fetch(asked.get("post"), { method: "POST", body: JSON.stringify({ errors }) });
});
