/* Compares the operations of a bundle's JavaScript with typed arrays: node operations.mjs REQUEST.json
 *
 * The request has the folders of a bundle, of one with selections of indices, and of node_modules; the target, a seed
 * and the counts.  Without bundles of featured sorts, calls with features are left out.  Prints one JSON object: cases and failures by operation, errors of wrong calls, what WebGPU reports. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { buffer, opened, read } from "./dawn.mjs";

const request = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { device } = await opened(request.npm, []);
const problems = [];
device.addEventListener("uncapturederror", (event) => problems.push(event.error.message.split("\n")[0]));
const bundle = await import(pathToFileURL(`${request.bundle}/js/index.js`));
const { sorts: more } = await import(pathToFileURL(`${request.more}/js/index.js`));
const sorts = [...bundle.sorts, ...more].filter((s) => s.name.startsWith(`${request.target}/`));
const featured = {};
for (const [what, folder] of Object.entries(request.featured))
    featured[what] = (await import(pathToFileURL(`${folder}/js/index.js`))).sorts;
const every = Object.keys(featured).length > 0;
const known = new Map();
/* An operation by its arguments, made once: compiling takes most of the time. */
function made(name, key, { from, ...options } = {}) {
    const id = JSON.stringify([name, key, from, options]), all = { sorts: featured[from] ?? sorts, ...options };
    if (!known.has(id)) known.set(id, name === "Gatherer" ? bundle.Gatherer.create(device, all) : bundle[name].create(device, key, all));
    return known.get(id);
}

let state = request.seed >>> 0 || 1; // xorshift
const random = (below) => {
    state ^= state << 13; state >>>= 0; state ^= state >>> 17; state ^= state << 5; state >>>= 0;
    return state % below;
};
const array = (n, below = 2 ** 32) => Uint32Array.from({ length: n }, () => random(below));
const counted = (n) => Uint32Array.from({ length: n }, (_, i) => i);
const blank = (n) => new Uint32Array(n).fill(0xa5a5a5a5);
const cases = {}, failures = [];

/* Run a call; every buffer given must then hold what is expected, by name, and the others what they held. */
async function check(what, operation, call, expected) {
    const given = Object.entries(call).filter(([, x]) => ArrayBuffer.isView(x));
    const buffers = Object.fromEntries(given.map(([name, x]) => [name, buffer(device, x, { offset: 256, more: 64 })]));
    const bound = Object.fromEntries(given.map(([name]) => [name, { buffer: buffers[name], offset: 256, size: Math.max(4, call[name].byteLength) }]));
    const encoder = device.createCommandEncoder();
    operation.record(encoder, { ...call, ...bound });
    device.queue.submit([encoder.finish()]);
    cases[what] = (cases[what] ?? 0) + 1;
    for (const [name, before] of given) {
        const bytes = await read(device, buffers[name], buffers[name].size), around = new Uint8Array(bytes.length).fill(0xa5);
        const wanted = expected[name] ?? before;
        around.set(new Uint8Array(wanted.buffer, wanted.byteOffset, wanted.byteLength), 256);
        const at = bytes.findIndex((x, i) => x !== around[i]);
        if (at >= 0) failures.push(`${what} n=${call.n}: ${name} differ at byte ${at - 256}`);
        buffers[name].destroy();
    }
}

const ordered = (keys, descending = false) => [...counted(keys.length)].sort((a, b) => (descending ? keys[b] - keys[a] : keys[a] - keys[b]) || a - b);
const at = (x, places) => x.constructor.from(places, (i) => x[i]);
const joined = (parts) => Uint32Array.from(parts.flatMap((part) => [...part]));

const digest = await made("Digest", "u32", { value: "u32" }), sorter = await made("Sorter", "u32", { value: "u32" });
async function digested(keys, values, n, capacity) {
    const out = buffer(device, blank(8)), encoder = device.createCommandEncoder();
    digest.record(encoder, { keys, values, n, capacity, digest: out });
    device.queue.submit([encoder.finish()]);
    return new Uint32Array((await read(device, out, 32)).buffer);
}
async function verified(n) {
    const keys = buffer(device, array(n + 3, 1000)), values = buffer(device, counted(n + 3)), encoder = device.createCommandEncoder();
    const before = await digested(keys, values, n, n + 3);
    sorter.sort(encoder, { keys, values, n });
    device.queue.submit([encoder.finish()]);
    const after = await digested(keys, values, n, n + 3), said = (words) => bundle.Digest.faults(before, words, { stable: true }).join();
    cases.digest = (cases.digest ?? 0) + 1;
    if (said(after) !== "" || after[7] !== n) failures.push(`digest n=${n}: ${said(after)}`);
    if (n > 2 && !said(before).startsWith("order")) failures.push(`digest n=${n}: finds no order`);
    if (n) device.queue.writeBuffer(keys, 4 * (n - 1), new Uint32Array([2000]));
    device.queue.writeBuffer(keys, 4 * (n + 1), new Uint32Array([2000]));
    const faults = said(await digested(keys, values, n, n + 3)), wanted = n ? "keys,values,beyond" : "beyond";
    if (faults !== wanted) failures.push(`digest n=${n}: ${faults} instead of ${wanted}`);
}

async function scanned(n) {
    for (const key of ["u32", "i32", "f32"])
        for (const exclusive of [false, true]) {
            const scanner = await made("Scanner", key, { exclusive });
            const type = { u32: Uint32Array, i32: Int32Array, f32: Float32Array }[key];
            const elements = type.from({ length: n }, () => random(100) - (key === "u32" ? 0 : 50)), sums = new type(n);
            for (let i = 0, sum = 0; i < n; i++) {
                sums[i] = exclusive ? sum : sum + elements[i];
                sum += elements[i];
            }
            await check(`scan of ${key}`, scanner, { n, elements, elementsOut: type.from(elements, () => 7) }, { elementsOut: sums });
            await check(`scan of ${key} in place`, scanner, { n, elements }, { elements: sums });
        }
}

async function segmented(n) {
    const sorter = await made("SegmentedSorter", "u32", { value: "u32" }), keys = array(n, 50), values = array(n);
    const cuts = Uint32Array.from([0, ...Array.from({ length: 9 }, () => random(n + 1)), n]).sort();
    const order = (ends) => joined([...ends].slice(1).map((end, i) => ordered(keys.subarray(ends[i], end)).map((x) => x + ends[i])));
    const places = order(cuts), expected = { keysOut: at(keys, places), valuesOut: at(values, places) };
    await check("segmented sort", sorter, { n, keys, values, segments: 10, offsets: cuts, keysOut: blank(n), valuesOut: blank(n) }, expected);
    await check("segmented sort in place", sorter, { n, keys, values, segments: 10, offsets: cuts }, { keys: expected.keysOut, values: expected.valuesOut });
    const rows = order(Uint32Array.from([0, n]));
    await check("rows in place", sorter, { n, keys, values, segments: 1 }, { keys: at(keys, rows), values: at(values, rows) });
}

/* With a number of segments in device memory, bits, and ends of segments. */
async function chosen(n) {
    const keys = array(n, 5000), values = array(n), bits = { beginBit: 3, endBit: 9 }, most = 10;
    const sorter = await made("SegmentedSorter", "u32", { value: "u32", from: "counted" });
    const apart = await made("SegmentedSorter", "u32", { value: "u32", from: "apart" });
    const cuts = Uint32Array.from([0, ...Array.from({ length: 9 }, () => random(n + 1)), n]).sort();
    const ends = Uint32Array.from(cuts.subarray(1), (end, i) => end - random(end - cuts[i] + 1)), offsets = cuts.subarray(0, most);
    const digit = (x) => (x >>> bits.beginBit) % 64;
    const order = (begins, ends, live, by) => { // what is in no segment stays
        const places = counted(n);
        for (let i = 0; i < live; i++) places.set(ordered(keys.subarray(begins[i], ends[i]).map(by)).map((x) => x + begins[i]), begins[i]);
        return places;
    };
    const sorted = (places) => ({ keys: at(keys, places), values: at(values, places) });
    const out = { keysOut: blank(n), valuesOut: blank(n) };
    for (const live of [0, 4, most, most + 7]) {
        const some = Math.min(live, most), call = { n, keys, values, segments: most, count: Uint32Array.of(live), ...bits };
        const places = order(cuts, cuts.subarray(1), some, digit), moved = sorted(places);
        await check("segments counted in place", sorter, { ...call, offsets: cuts }, moved);
        await check("segments counted", sorter, { ...call, offsets: cuts, ...out }, { keysOut: moved.keys, valuesOut: moved.values });
        await check("segments apart in place", apart, { ...call, offsets, ends }, sorted(order(offsets, ends, some, digit)));
        const into = { keysOut: blank(n), valuesOut: blank(n) }, inside = order(offsets, ends, some, digit);
        for (let i = 0; i < some; i++)
            for (let at = offsets[i]; at < ends[i]; at++) [into.keysOut[at], into.valuesOut[at]] = [keys[inside[at]], values[inside[at]]];
        await check("segments apart", apart, { ...call, offsets, ends, ...out }, into);
    }
    const rows = (n / 2) >> 0, live = { n: 2 * rows, keys: keys.subarray(0, 2 * rows), values: values.subarray(0, 2 * rows) };
    const first = order([0], [rows], 1, (x) => x).subarray(0, 2 * rows);
    await check("rows counted", sorter, { ...live, segments: 2, count: Uint32Array.of(1) }, sorted(first));
    const all = order(cuts, cuts.subarray(1), most, (x) => x);
    await check("segments not counted", sorter, { n, keys, values, segments: most, offsets: cuts }, sorted(all));
}

async function merged(n) {
    const merger = await made("Merger", "u32", { value: "u32" }), first = Math.floor((n * 2) / 3);
    const keys = array(first, 90).sort(), otherKeys = array(n - first, 90).sort(), values = array(first), otherValues = array(n - first);
    const all = joined([keys, otherKeys]), places = ordered(all), out = { keysOut: at(all, places), valuesOut: at(joined([values, otherValues]), places) };
    await check("merge", merger, { n: first, otherN: n - first, keys, otherKeys, values, otherValues, keysOut: blank(n), valuesOut: blank(n) }, out);
}

async function selected(n) {
    const select = await made("TopK", "u32", { value: "index" }), rows = n % 2 ? 1 : 2, each = n / rows, keys = array(n, 4000);
    for (const k of new Set([1, Math.min(each, 10), Math.min(each, 100)])) {
        const places = Array.from({ length: rows }, (_, r) => ordered(keys.subarray(r * each, (r + 1) * each), true).slice(0, k));
        const expected = { keysOut: joined(places.map((p, r) => at(keys.subarray(r * each, (r + 1) * each), p))), valuesOut: joined(places) };
        await check("top k", select, { n, rows, k, keys, keysOut: blank(rows * k), valuesOut: blank(rows * k) }, expected);
    }
}

/* With a k of each row and the number of rows, or with lengths of rows and starts of their values, in device memory. */
async function selectedOfRows(n) {
    const rows = n % 3 ? 1 : 3, each = n / rows, k = Math.min(each, 7), keys = array(n, 4000), values = array(n);
    const result = (live, lengths, takes, starts) => {
        const out = { keysOut: blank(rows * k), valuesOut: blank(rows * k) };
        for (let r = 0; r < Math.min(live, rows); r++) {
            const first = ordered(keys.subarray(r * each, r * each + Math.min(lengths[r], each)), true).slice(0, Math.min(takes[r], k));
            for (let i = 0; i < k; i++) {
                out.keysOut[r * k + i] = i < first.length ? keys[r * each + first[i]] : 0;
                out.valuesOut[r * k + i] = i < first.length ? values[starts[r] + first[i]] : 0xffffffff;
            }
        }
        return out;
    };
    const every = counted(rows), whole = every.map(() => each), most = every.map(() => k), call = { n, rows, k, keys, values };
    const out = { keysOut: blank(rows * k), valuesOut: blank(rows * k) };
    const byNumbers = await made("TopK", "u32", { value: "u32", from: "rows", maxN: 3000 }), takes = every.map(() => random(k + 3));
    for (const live of [0, 1, rows + 5])
        await check("top k of rows", byNumbers, { ...call, ...out, takes, count: Uint32Array.of(live) }, result(live, whole, takes, every.map((r) => r * each)));
    const byTables = await made("TopK", "u32", { value: "u32", from: "tables", maxN: 3000 }), lengths = every.map(() => random(each + 3));
    const valueStarts = every.map(() => random(n - each + 1));
    await check("top k of tables", byTables, { ...call, ...out, lengths, valueStarts }, result(rows, lengths, most, valueStarts));
}

async function gathered(n) {
    for (const itemBytes of [4, 12]) {
        const gather = await made("Gatherer", "", { itemBytes }), words = itemBytes / 4, items = 77;
        const index = array(n, items + 3), table = array(items * words), out = blank(n * words);
        index.forEach((from, i) => from < items && out.set(table.subarray(from * words, (from + 1) * words), i * words));
        await check("gather", gather, { n, index, table, out: blank(n * words) }, { out });
    }
}

async function reducedByCount(n) {
    const reduce = await made("ReduceByKey", "u32", { value: "u32", from: "keys" }), keys = array(n, 4), values = array(n, 9);
    for (const live of new Set([0, n >> 1, n, n + 5])) {
        const some = [...keys.subarray(0, live)], starts = counted(some.length).filter((i) => i === 0 || keys[i] !== keys[i - 1]);
        const into = { keysOut: blank(n), valuesOut: blank(n), groups: Uint32Array.of(starts.length) };
        into.keysOut.set(at(keys, starts));
        starts.forEach((begin, i) => (into.valuesOut[i] = values.subarray(begin, Math.min(starts[i + 1] ?? n, live)).reduce((a, b) => a + b, 0)));
        const call = { n, keys, values, count: Uint32Array.of(live), keysOut: blank(n), valuesOut: blank(n), groups: blank(1) };
        await check("reduce by key counted", reduce, call, into);
    }
}

async function reduced(n) {
    const reduce = await made("ReduceByKey", "u32", { value: "i32" }), keys = array(n, 4), values = Int32Array.from(array(n, 100), (x) => x - 50);
    const starts = [...counted(n)].filter((i) => i === 0 || keys[i] !== keys[i - 1]);
    const runs = starts.map((begin, i) => values.subarray(begin, starts[i + 1] ?? n));
    const found = (list, type = Uint32Array) => { // the rest of the buffer stays as it was
        const out = type === Int32Array ? new Int32Array(blank(n).buffer) : blank(n);
        list.forEach((x, i) => (out[i] = x));
        return out;
    };
    for (const [reduction, of] of [["sum", (x) => x.reduce((a, b) => a + b, 0)], ["min", (x) => Math.min(...x)], ["max", (x) => Math.max(...x)]]) {
        const expected = { keysOut: found(starts.map((i) => keys[i])), valuesOut: found(runs.map(of), Int32Array), groups: Uint32Array.of(starts.length) };
        const call = { n, keys, values, reduction, keysOut: blank(n), valuesOut: blank(n), groups: blank(1) };
        await check("reduce by key", reduce, call, expected);
        Object.assign(expected, { counts: found(runs.map((x) => x.length)), firstIndices: found(starts) });
        await check("reduce by key", reduce, { ...call, counts: blank(n), firstIndices: blank(n) }, expected);
    }
}

for (const n of request.counts) {
    await verified(n);
    await scanned(n);
    await segmented(n);
    if (every) await chosen(n);
    await merged(n);
    if (n) await selected(n);
    if (n && every) await selectedOfRows(n);
    await gathered(n);
    await reduced(n);
    if (every) await reducedByCount(n);
}

const said = {};
async function refused(name, work) {
    said[name] = await Promise.resolve().then(work).then(() => null, (error) => error.message);
}
const encoder = device.createCommandEncoder(), one = buffer(device, array(64)), two = buffer(device, array(64)), three = buffer(device, array(64));
const merger = await made("Merger", "u32"), select = await made("TopK", "u32"), segments = await made("SegmentedSorter", "u32");
const reduce = await made("ReduceByKey", "u32"), gather = await made("Gatherer", "", { itemBytes: 4 });
await refused("no output", () => merger.record(encoder, { keys: one, otherKeys: two }));
await refused("the same twice", () => merger.record(encoder, { keys: one, otherKeys: one, keysOut: two, n: 8, otherN: 8 }));
await refused("small", () => merger.record(encoder, { keys: one, otherKeys: two, keysOut: three }));
await refused("values", () => merger.record(encoder, { keys: one, otherKeys: two, keysOut: three, values: one, n: 4, otherN: 4 }));
await refused("k", () => select.record(encoder, { keys: one, keysOut: two, k: 65 }));
await refused("rows", () => select.record(encoder, { keys: one, keysOut: two, k: 1, rows: 3 }));
const values = three;
if (every) {
    const ofRows = await made("TopK", "u32", { value: "u32", from: "rows", maxN: 3000 });
    await refused("no takes", () => ofRows.record(encoder, { keys: one, values, keysOut: two, valuesOut: three, k: 1, count: two }));
}
await refused("takes", () => select.record(encoder, { keys: one, keysOut: two, k: 1, takes: three }));
await refused("segments", () => segments.record(encoder, { keys: one, segments: 3 }));
await refused("offsets", () => segments.record(encoder, { keys: one, segments: 64, offsets: two }));
if (every) {
    const apart = await made("SegmentedSorter", "u32", { value: "u32", from: "apart" }), four = buffer(device, array(64));
    await refused("ends missing", () => apart.record(encoder, { keys: one, values, segments: 4, offsets: two }));
    await refused("ends too small", () => apart.record(encoder, { keys: one, values, segments: 65, offsets: two, ends: four }));
}
await refused("ends", () => segments.record(encoder, { keys: one, segments: 4, offsets: two, ends: three }));
await refused("count of segments", () => segments.record(encoder, { keys: one, segments: 4, count: two }));
await refused("bits of segments", () => segments.record(encoder, { keys: one, segments: 4, beginBit: 1 }));
await refused("digest", () => digest.record(encoder, { keys: one, values: two, n: 4 }));
await refused("reduction", () => reduce.record(encoder, { keys: one, keysOut: two, groups: three, reduction: "mean" }));
await refused("no groups", () => reduce.record(encoder, { keys: one, keysOut: two }));
await refused("no keys", () => reduce.record(encoder, { keysOut: two, groups: three }));
await refused("items", () => gather.record(encoder, { index: one, table: two, out: three, items: 65 }));
await refused("item bytes", () => bundle.Gatherer.create(device, { itemBytes: 6, sorts }));
await refused("columns", () => made("Scanner", "u32", { columns: 9 }));
await refused("value", () => made("ReduceByKey", "u32", { value: "u64" }));
await refused("firstN", () => made("Sorter", "u32", { maxN: 10, firstN: 11 }));

/* Of a sorter that compiles only what a few keys need, more keys are sorted as well, prepared or not. */
for (const prepares of [false, true]) {
    const some = await bundle.Sorter.create(device, "u32", { value: "u32", sorts, firstN: 10 }), n = 20_000, keys = array(n), values = counted(n);
    const sort = { record: (to, call) => some.sort(to, call) }, places = ordered(keys);
    if (prepares) await some.prepare();
    await check("first", sort, { n, keys, values }, { keys: at(keys, places), values: at(values, places) });
    some.destroy();
}
console.log(JSON.stringify({ cases, failures: failures.slice(0, 9), said, problems: problems.slice(0, 5) }));
process.exit(0);
