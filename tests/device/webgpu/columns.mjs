/* Compares packs and sorts of tables of a bundle's JavaScript with arrays: node columns.mjs REQUEST.json
 *
 * The request has the folders of a bundle and of node_modules, the target, a seed, the counts, and for each table its
 * columns and the bytes of items.  Prints one JSON object: cases, failures, errors of wrong calls, what WebGPU reports. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { buffer, opened, read } from "./dawn.mjs";

const request = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { device } = await opened(request.npm, []);
const problems = [], failures = [], cases = {};
device.addEventListener("uncapturederror", (event) => problems.push(event.error.message.split("\n")[0]));
const bundle = await import(pathToFileURL(`${request.bundle}/js/index.js`));
const sorts = bundle.sorts.filter((s) => s.name.startsWith(`${request.target}/`));

let state = request.seed >>> 0 || 1; // xorshift
const random = (below) => {
    state ^= state << 13; state >>>= 0; state ^= state >>> 17; state ^= state << 5; state >>>= 0;
    return state % below;
};
const bits = (key) => (key === "bool" ? 8 : Number(/\d+/.exec(key)[0]));
const typedArray = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array, 64: BigUint64Array };

/* A column of few values, with those at which signs and halves of words matter, and room for whole words. */
function column(key, n) {
    const width = BigInt(bits(key)), top = 1n << (width - 1n), some = [0n, 1n, top, top | 1n, top - 1n, 2n * top - 1n];
    some.push(BigInt(random(2 ** 32)) * BigInt(random(2 ** 32)) % (2n * top), (top >> 1n) | 3n);
    return Array.from({ length: n }, () => (key === "bool" ? BigInt(random(2)) : some[random(some.length)]));
}
const stored = (values, key) => {
    const type = typedArray[bits(key)], each = 32 / bits(key), made = new type(Math.ceil(values.length / each) * each || 1);
    return made.fill(type === BigUint64Array ? 7n : 7), values.forEach((x, i) => (made[i] = type === BigUint64Array ? x : Number(x))), made;
};
/* The ordered bits of a value, as docs/reference/semantics.md has them. */
function ordered(x, [key, order]) {
    const width = BigInt(bits(key)), top = 1n << (width - 1n), all = 2n * top - 1n;
    const kind = key.startsWith("i") ? 1 : /^b?f/.test(key) ? 2 : 0;
    const turned = kind === 0 ? x : kind === 1 ? x ^ top : x & top ? x ^ all : x ^ top;
    return order === "descending" ? turned ^ all : turned;
}
const joined = (columns, by, i) => columns.reduce((sum, values, c) => (sum << BigInt(bits(by[c][0]))) | ordered(values[i], by[c]), 0n);
const paired = (by) => by.map((x) => (Array.isArray(x) ? x : [x, "ascending"]));

/* Buffers between guards, and what they must hold after the call. */
class Held {
    #list = [];
    add(array, wanted = array) {
        const made = buffer(device, array, { offset: 256, more: 64 });
        this.#list.push([made, wanted]);
        return { buffer: made, offset: 256, size: Math.max(4, array.byteLength) };
    }
    async check(what) {
        cases[what.split(" of ")[0]] = (cases[what.split(" of ")[0]] ?? 0) + 1;
        for (const [number, [made, wanted]] of this.#list.entries()) {
            const bytes = await read(device, made, made.size), around = new Uint8Array(bytes.length).fill(0xa5);
            around.set(new Uint8Array(wanted.buffer, wanted.byteOffset, wanted.byteLength), 256);
            const at = bytes.findIndex((x, i) => x !== around[i]);
            if (at >= 0) failures.push(`${what}: buffer ${number} differs at byte ${at - 256}`);
            made.destroy();
        }
    }
}
/* Columns as a call has them, in buffers that are held: arrays; fields of one table of records, between other bytes; or the first
 * in an array, and fields. */
function laid(way, held, columns, list, n) {
    const fielded = list.map((_, c) => way === "records" || (way === "mixed" && c > 0)), offsets = [];
    let at = 3;
    for (const c of [...list.keys()].reverse()) {
        const size = bits(list[c][0]) / 8, unit = Math.min(size, 4);
        offsets[c] = Math.ceil(at / unit) * unit;
        at = offsets[c] + size;
    }
    const stride = (Math.ceil(at / 4) + 1) * 4, table = Uint8Array.from({ length: Math.max(4, n * stride) }, () => random(256));
    columns.forEach((values, c) => {
        const size = bits(list[c][0]) / 8;
        for (let i = 0; i < n; i++) for (let b = 0; b < size; b++) table[i * stride + offsets[c] + b] = Number((values[i] >> BigInt(8 * b)) & 255n);
    });
    const records = fielded.some((x) => x) && held.add(table);
    return columns.map((x, c) => (fielded[c] ? { records, stride, offset: offsets[c] } : held.add(stored(x, list[c][0]))));
}
const submitted = (record) => {
    const encoder = device.createCommandEncoder();
    record(encoder);
    device.queue.submit([encoder.finish()]);
};

async function packed(by, n, way) {
    const list = paired(by), columns = list.map(([key]) => column(key, n)), total = list.reduce((sum, [key]) => sum + bits(key), 0);
    for (const key of ["u32", "u64"]) {
        const packer = await bundle.Packer.create(device, key, { sorts, columns: by }), type = key === "u64" ? BigUint64Array : Uint32Array;
        for (let beginBit = 0; beginBit < total; beginBit += 32) {
            const held = new Held(), given = laid(way, held, columns, list, n);
            const cut = (i) => BigInt.asUintN(bits(key), joined(columns, list, i) >> BigInt(beginBit));
            const wanted = type.from({ length: n }, (_, i) => (key === "u64" ? cut(i) : Number(cut(i))));
            const keysOut = held.add(new type(n), wanted);
            submitted((encoder) => packer.record(encoder, { columns: given, keysOut, n, ...(beginBit && { beginBit }) }));
            await held.check(`pack of ${JSON.stringify(by)} (${way}) into ${key} at ${beginBit}, n=${n}`);
        }
        packer.destroy();
    }
}

async function sorted(sorter, by, itemBytes, n, way) {
    const list = paired(by), columns = list.map(([key]) => column(key, n)), keys = Array.from({ length: n }, (_, i) => joined(columns, list, i));
    const places = keys.map((_, i) => i).sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b));
    for (const indexed of itemBytes.length ? [true, false] : [true]) {
        const held = new Held(), given = laid(way, held, columns, list, n);
        const tables = itemBytes.map((bytes) => Uint32Array.from({ length: (n * bytes) / 4 }, () => random(2 ** 32)));
        const values = tables.map((x) => held.add(x)), valuesOut = tables.map((table, t) => {
            const words = itemBytes[t] / 4, moved = new Uint32Array(table.length);
            places.forEach((from, i) => moved.set(table.subarray(from * words, (from + 1) * words), i * words));
            return held.add(new Uint32Array(table.length), moved);
        });
        const call = { columns: given, n, values, valuesOut, ...(indexed && { indexOut: held.add(new Uint32Array(n), Uint32Array.from(places)) }) };
        submitted((encoder) => sorter.record(encoder, call));
        await held.check(`table of ${JSON.stringify(by)} (${way}), items ${itemBytes}, n=${n}`);
    }
}

for (const { columns, itemBytes = [], packs = false } of request.tables) {
    if (packs) for (const n of request.counts) for (const way of ["arrays", "records", "mixed"]) await packed(columns, n, way);
    const sorter = await bundle.ColumnSorter.create(device, columns, { sorts, itemBytes });
    for (const n of request.counts) for (const way of ["arrays", "records"]) await sorted(sorter, columns, itemBytes, n, way);
    sorter.destroy();
}

const said = {};
async function refused(name, work) {
    said[name] = await Promise.resolve().then(work).then(() => null, (error) => error.message);
}
const encoder = device.createCommandEncoder(), [one, two, three, four] = [1, 2, 3, 4].map(() => buffer(device, new Uint32Array(64)));
const create = (columns, more = {}) => bundle.ColumnSorter.create(device, columns, { sorts, ...more });
const sorter = await create(["f32", "u16"], { itemBytes: [4, 8] }), values = [one, two], good = { columns: [one, two], n: 16, values };
const packer = await bundle.Packer.create(device, "u64", { sorts, columns: ["f32", "u16"] });
await refused("no columns", () => create([]));
await refused("many columns", () => create(["u8", "u8", "u8", "u8", "u8"]));
await refused("wide columns", () => create(["u64", "u64", "u8"]));
await refused("type", () => create(["u24"]));
await refused("order", () => create([["u32", "up"]]));
await refused("items", () => create(["u32"], { itemBytes: [6] }));
await refused("no sorts", () => bundle.ColumnSorter.create(device, ["u32"], { sorts: [] }));
await refused("one column", () => sorter.record(encoder, { ...good, columns: [one], valuesOut: [three, four] }));
await refused("no column", () => sorter.record(encoder, { ...good, columns: [one, undefined], valuesOut: [three, four] }));
await refused("too many rows", () => sorter.record(encoder, { ...good, n: 65, valuesOut: [three, four] }));
await refused("outputs", () => sorter.record(encoder, { ...good, valuesOut: [three] }));
await refused("no output", () => sorter.record(encoder, { ...good, valuesOut: [three, undefined] }));
await refused("over an input", () => sorter.record(encoder, { ...good, valuesOut: [two, three] }));
await refused("the same output", () => sorter.record(encoder, { ...good, valuesOut: [three, { buffer: three, offset: 0 }] }));
await refused("small output", () => sorter.record(encoder, { ...good, n: 33, valuesOut: [three, four] }));
await refused("index", () => sorter.record(encoder, { ...good, valuesOut: [three, four], indexOut: four }));
await refused("begin", () => packer.record(encoder, { columns: [one, two], keysOut: three, beginBit: 16 }));
await refused("begin beyond", () => packer.record(encoder, { columns: [one, two], keysOut: three, beginBit: 64 }));
await refused("no keys", () => packer.record(encoder, { columns: [one, two], n: 4 }));
const field = (stride, offset, records = one) => ({ columns: [{ records, stride, offset }, two], keysOut: three, n: 4 });
await refused("stride", () => packer.record(encoder, field(6)));
await refused("wide stride", () => packer.record(encoder, field(260)));
await refused("no stride", () => packer.record(encoder, field(undefined, 4)));
await refused("beyond the record", () => packer.record(encoder, field(8, 8)));
await refused("misaligned", () => packer.record(encoder, field(8, 2)));
await refused("no records", () => packer.record(encoder, { ...field(8, 4), columns: [one] }));
await refused("few records", () => packer.record(encoder, { ...field(16, 8), n: 17 }));
await refused("many records", () => packer.record(encoder, { ...field(256, 8), n: 2 ** 25 }));
await refused("one buffer", () => packer.record(encoder, field(8, 4, { buffer: three, offset: 0 })));
sorter.destroy();
await refused("destroyed", () => sorter.record(encoder, { ...good, valuesOut: [three, four] }));
submitted(() => encoder); // what was refused left nothing in it
device.queue.submit([encoder.finish()]);
const untouched = (await Promise.all([one, two, three, four].map((x) => read(device, x, 256)))).every((x) => x.every((byte) => byte === 0));
console.log(JSON.stringify({ cases, failures: failures.slice(0, 9), said, untouched, problems: problems.slice(0, 5) }));
process.exit(0);
