/* Compares sorts of a bundle's JavaScript with the order that semantics.md gives: node sorts.mjs REQUEST.json
 *
 * The request has the bundle's folder, that of node_modules, a seed, the counts, and rows of keys and options.  One
 * line of JSON for each row, then one of the device. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { buffer, opened, read } from "./dawn.mjs";

const request = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { adapter, device } = await opened(request.npm, request.subgroups ? ["subgroups"] : []);
const problems = [];
device.addEventListener("uncapturederror", (event) => problems.push(event.error.message.split("\n")[0]));
const { Sorter, sorts } = await import(pathToFileURL(`${request.bundle}/js/index.js`));

let state = BigInt(request.seed) + 1n; // SplitMix64
function random() {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
}

/* Random keys, many of them equal in every second case. */
function keysOf(bits, n, few) {
    const mask = few ? 0x8000000000000003n | (1n << BigInt(bits - 1)) : (1n << 64n) - 1n;
    const out = new BigUint64Array(n);
    for (let i = 0; i < n; i++) out[i] = BigInt.asUintN(bits, random() & mask);
    return out;
}

function stored(words, bytes) {
    const data = new Uint8Array(words.length * bytes);
    const view = new DataView(data.buffer);
    words.forEach((word, i) => {
        if (bytes === 8) view.setBigUint64(8 * i, word, true);
        else for (let b = 0; b < bytes; b++) data[bytes * i + b] = Number((word >> BigInt(8 * b)) & 255n);
    });
    return data;
}

/* The unsigned integer that orders a key, by a part of its bits. */
function ordered(key, kind, bits, { order, beginBit = 0, endBit = bits }) {
    const top = 1n << BigInt(bits - 1);
    let x = kind === "f" && key & top ? BigInt.asUintN(bits, ~key) : kind === "u" ? key : key ^ top;
    if (order === "descending") x = BigInt.asUintN(bits, ~x);
    return BigInt.asUintN(endBit - beginBit, x >> BigInt(beginBit));
}

/* The stable order of keys: indices. */
function places(keys, kind, bits, call) {
    const by = Array.from(keys, (key) => ordered(key, kind, bits, call));
    return Array.from(keys, (_, i) => i).sort((a, b) => (by[a] < by[b] ? -1 : by[a] > by[b] ? 1 : a - b));
}

const VALUES = { none: 0, v4: 4, v8: 8, v16: 16, index: 4 };
const equal = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

/* One sort: returns null, or what is wrong. */
async function tried(sorter, row, call, n, number) {
    const [, kind, width] = /^(u|i|f)(\d+)$/.exec(row.key), bits = Number(width), bytes = bits / 8, size = VALUES[row.value];
    const live = call.count === undefined ? n : Math.min(n, call.count);
    const keys = keysOf(bits, n, number % 2), data = stored(keys, bytes);
    const moves = size && row.value !== "index";
    const values = new Uint8Array(n * size).map((_, i) => Number((BigInt(i) * 2654435761n) >> 7n) & 255);
    const order = places(keys.slice(0, live), kind, bits, call);
    const offset = call.offset ?? 0, more = 64, blank = (length) => new Uint8Array(length).fill(0xa5);
    const made = [];
    const on = (array) => (made.push(buffer(device, array, { offset, more })), { buffer: made[made.length - 1], offset });
    const given = { keys: on(data), n };
    for (const name of ["order", "beginBit", "endBit", "discardKeys"]) if (call[name] !== undefined) given[name] = call[name];
    if (call.count !== undefined) given.count = on(new Uint32Array([call.count]));
    const out = call.out && !call.discardKeys;
    if (out) given.keysOut = on(blank(data.length));
    if (moves) given.values = on(values);
    if (size && (out || !moves)) given.valuesOut = on(blank(n * size));
    const before = { keys: out ? blank(data.length) : data.slice(), values: out || !moves ? blank(n * size) : values.slice() };
    order.forEach((from, to) => {
        if (!call.discardKeys) before.keys.set(data.subarray(from * bytes, (from + 1) * bytes), to * bytes);
        if (moves) before.values.set(values.subarray(from * size, (from + 1) * size), to * size);
        else if (size) new DataView(before.values.buffer).setUint32(4 * to, from, true);
    });
    for (let turn = 0; turn < (call.out ? 2 : 1); turn++) { // the second one is recorded already
        const encoder = device.createCommandEncoder();
        sorter.sort(encoder, given);
        device.queue.submit([encoder.finish()]);
    }
    const wrong = [];
    const checked = async (name, at, expected) => {
        const all = await read(device, at.buffer, at.buffer.size), around = new Uint8Array(at.buffer.size).fill(0xa5);
        around.set(expected, offset);
        if (!equal(all, around)) wrong.push(`${name} differ at byte ${all.findIndex((x, i) => x !== around[i]) - offset}`);
    };
    await checked("keys", given.keysOut ?? given.keys, before.keys);
    if (out) await checked("sources", given.keys, data);
    if (size) await checked("values", given.valuesOut ?? given.values, before.values);
    for (const one of made) one.destroy();
    return wrong.length ? `${row.key} ${row.value} n=${n} ${JSON.stringify(call)}: ${wrong.join(", ")}` : null;
}

for (const row of request.rows) {
    let cases = 0;
    const failures = [];
    const of = sorts.filter((s) => !row.target || s.name.startsWith(`${row.target}/`));
    const sorter = await Sorter.create(device, row.key, { value: row.value, sorts: of });
    for (const n of row.counts)
        for (const call of row.calls) {
            const counts = call.counts ? [0, 1, n - 1, n, n + 7].filter((c) => c >= 0) : [undefined];
            for (const count of counts) {
                const failure = await tried(sorter, row, { ...call, count }, n, cases++);
                if (failure) failures.push(failure);
            }
        }
    sorter.destroy();
    console.log(JSON.stringify({ key: row.key, value: row.value, sort: sorter.name, cases, failures: failures.length, examples: failures.slice(0, 5) }));
}
const info = adapter.info;
console.log(JSON.stringify({ device: `${info.description} (${info.device})`, widths: [info.subgroupMinSize, info.subgroupMaxSize], problems: problems.slice(0, 5) }));
process.exit(0);
