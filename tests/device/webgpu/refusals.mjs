/* The errors of wrong calls, each with what it must say: node refusals.mjs REQUEST.json; prints one JSON object. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { buffer, opened, read } from "./dawn.mjs";

const request = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { device } = await opened(request.npm, []);
const problems = [];
device.addEventListener("uncapturederror", (event) => problems.push(event.error.message.split("\n")[0]));
const { Sorter, sorts } = await import(pathToFileURL(`${request.bundle}/js/index.js`));
const { Sorter: Bare } = await import(pathToFileURL(`${request.bundle}/js/hs_webgpu.js`));

const { sorts: bare } = await import(pathToFileURL(`${request.bare}/js/index.js`));

const said = {};
async function refused(name, work) {
    try {
        await work();
        said[name] = null;
    } catch (error) {
        said[name] = error instanceof Error ? error.message : String(error);
    }
}

const words = new Uint32Array(1024).map((_, i) => 1024 - i);
const keys = buffer(device, words), values = buffer(device, words), out = buffer(device, words), more = buffer(device, words);
const count = buffer(device, new Uint32Array([3])), uniform = device.createBuffer({ size: 4096, usage: GPUBufferUsage.UNIFORM });
const plain = await Sorter.create(device, "u32"), valued = await Sorter.create(device, "u32", { value: "u32" });
const small = await Sorter.create(device, "u32", { maxN: 100 }), narrow = await Sorter.create(device, "u16", { sorts: bare });
const encoder = device.createCommandEncoder();
const call = (sorter, given) => () => sorter.sort(encoder, given);

await refused("no keys", call(plain, {}));
await refused("n", call(plain, { keys, n: -1 }));
await refused("fraction", call(plain, { keys, n: 2.5 }));
await refused("too many", call(plain, { keys, n: 2 ** 30 }));
await refused("small buffer", call(plain, { keys, n: 1025 }));
await refused("small size", call(plain, { keys: { buffer: keys, size: 64 }, n: 17 }));
await refused("offset", call(plain, { keys: { buffer: keys, offset: 128 }, n: 1 }));
await refused("usage", call(plain, { keys: uniform, n: 1 }));
await refused("no buffer", call(plain, { keys: { offset: 0 }, n: 1 }));
await refused("no values", call(valued, { keys }));
await refused("values", call(plain, { keys, values }));
await refused("half in place", call(valued, { keys, keysOut: out, values }));
await refused("overlap", call(valued, { keys, values, keysOut: out, valuesOut: keys }));
await refused("count overlaps", call(plain, { keys, count: keys }));
await refused("bits", call(plain, { keys, beginBit: 9, endBit: 4 }));
await refused("order", call(plain, { keys, order: "upwards" }));
await refused("order not generated", call(narrow, { keys, order: "descending" }));
await refused("count not generated", call(narrow, { keys, count }));
await refused("range not generated", call(narrow, { keys, endBit: 4 }));
await refused("scope", call(small, { keys, n: 101 }));
await refused("discard", call(plain, { keys, discardKeys: true }));
await refused("key", () => Sorter.create(device, "u33"));
await refused("value", () => Sorter.create(device, "u32", { value: "v16" }));
await refused("type not generated", () => Sorter.create(device, "i16", { sorts: bare }));
await refused("created order", () => Sorter.create(device, "u32", { order: "up" }));
await refused("no sorts", () => Bare.create(device, "u32"));
await refused("device", () => Sorter.create({}, "u32"));
await refused("subgroups", () => Sorter.create(device, "u32", { sorts: sorts.map((s) => ({ ...s, subgroups: 32 })) }));
await refused("kernel", async () => {
    const listed = sorts.find((s) => s.bits === 32 && s.value === "none" && s.kind === "sort");
    device.pushErrorScope("validation");
    try {
        await Sorter.create(device, "u32", { sorts: [{ ...(await listed.load()).default, wgsl: "fn broken( {" }] });
    } finally {
        await device.popErrorScope();
    }
});
device.queue.submit([encoder.finish()]);
const untouched = new Uint32Array((await read(device, keys, 4096)).buffer).every((x, i) => x === words[i]);

await refused("small scope works", () => {
    const commands = device.createCommandEncoder();
    small.sort(commands, { keys: more, n: 100 });
    device.queue.submit([commands.finish()]);
});
const first = [...new Uint32Array((await read(device, more, 408)).buffer)];
plain.destroy();
plain.destroy();
await refused("destroyed", call(plain, { keys }));
console.log(JSON.stringify({ said, untouched, problems, sorted: first.slice(0, 100).every((x, i) => x === 925 + i) && first[100] === 924, bytes: valued.scratchBytes(1000) }));
process.exit(0);
