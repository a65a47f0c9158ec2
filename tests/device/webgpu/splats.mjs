/* Compares sorts of splats by depth with arrays: node splats.mjs REQUEST.json
 *
 * The request has the folders of a bundle, of one without ranges of bits and of node_modules, a seed and counts.
 * Prints one JSON object: cases, failures, errors of wrong calls, what WebGPU reports. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { buffer, opened, read } from "./dawn.mjs";

const request = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { device } = await opened(request.npm, []);
const problems = [], failures = [], said = {};
let cases = 0, state = request.seed >>> 0 || 1; // xorshift
device.addEventListener("uncapturederror", (event) => problems.push(event.error.message.split("\n")[0]));
const { SplatSorter } = await import(pathToFileURL(`${request.bundle}/js/index.js`));
const bare = await import(pathToFileURL(`${request.bare}/js/index.js`));
const random = () => {
    state ^= state << 13; state >>>= 0; state ^= state >>> 17; state ^= state << 5; state >>>= 0;
    return state / 2 ** 32;
};

/* Depths are multiples of 2^-8, which floats hold exactly: a model in doubles has the same keys. */
const view = [0, 0, 0.5, 0, 0, 0, -0.25, 0, 0, 0, -1, 0, 7, 7, -4, 1];
const place = () => Math.round(random() * 2048 - 1024) / 64;
const depthOf = (p, at) => -(view[2] * p[at] + view[6] * p[at + 1] + view[10] * p[at + 2] + view[14]);

function wanted(positions, n, { stride = 16, offset = 0, near = 0, far = Infinity, order }, bits) {
    const depths = Array.from({ length: n }, (_, i) => depthOf(positions, (offset + i * stride) / 4));
    const key = (d) => {
        if (!(d >= near && d <= far)) return Infinity;
        const steps = bits === 32 ? d : Math.floor(Math.fround(Math.fround(Math.fround(d - near) / Math.fround(far - near)) * 65534));
        return order === "near-first" ? steps : -steps;
    };
    const keys = depths.map(key), index = [...keys.keys()].sort((a, b) => (keys[a] === keys[b] ? a - b : keys[a] < keys[b] ? -1 : 1));
    return { index, count: keys.filter((k) => k !== Infinity).length };
}

const USAGE = GPUBufferUsage.INDIRECT;
const sorters = { 16: await SplatSorter.create(device), 32: await SplatSorter.create(device, { keyBits: 32 }) };
for (const bits of [16, 32])
    for (const n of request.counts)
        for (const [number, options] of [{ near: 0, far: 16 }, { near: 1, far: 9, order: "near-first", stride: 12, offset: 8 }, { near: 0.5, far: bits === 32 ? Infinity : 32, stride: 32 }].entries()) {
            const { stride = 16, offset = 0 } = options, floats = new Float32Array(Math.ceil((offset + n * stride) / 4) + 4).map(place);
            const positions = { buffer: buffer(device, floats, { offset: 256 }), offset: 256, size: floats.byteLength };
            const out = buffer(device, new Uint32Array(n), { offset: 256, more: 64 }), draw = buffer(device, new Uint32Array([6, 9, 0, 0]), { usage: USAGE });
            const encoder = device.createCommandEncoder();
            sorters[bits].record(encoder, { positions, n, view, indexOut: { buffer: out, offset: 256, size: 4 * n || 4 }, countOut: { buffer: draw, offset: 4 }, ...options });
            device.queue.submit([encoder.finish()]);
            const got = new Uint32Array((await read(device, out, 256 + 4 * n + 64)).buffer), model = wanted(floats, n, options, bits);
            const counts = new Uint32Array((await read(device, draw, 16)).buffer), index = got.slice(64, 64 + n);
            const guards = [...got.slice(0, 64), ...got.slice(64 + n)].every((x) => x === 0xa5a5a5a5);
            const right = bits === 32 || number === 0 || number === 2 ? index.every((x, i) => x === model.index[i]) : ordered(index, floats, options, model.count);
            cases++;
            if (!right || !guards || counts.join() !== [6, model.count, 0, 0].join()) failures.push({ bits, n, number, right, guards, counts: counts.join(), count: model.count });
        }

/* A division by 8 may round a step apart from the model's: depths then differ by less than a step. */
function ordered(index, positions, { stride, offset, near, far }, count) {
    const depths = [...index].map((i) => depthOf(positions, (offset + i * stride) / 4)), step = (far - near) / 65534;
    const inside = depths.slice(0, count), outside = depths.slice(count);
    return new Set(index).size === index.length && inside.every((d, i) => d >= near && d <= far && (!i || inside[i - 1] - d <= step)) && outside.every((d) => d < near || d > far);
}

/* Two calls in one command buffer have their own cameras. */
{
    const floats = new Float32Array(4 * 100).map(place), positions = buffer(device, floats), outs = [0, 1].map(() => buffer(device, new Uint32Array(100)));
    const encoder = device.createCommandEncoder(), calls = [{ far: 16 }, { far: 4, order: "near-first" }];
    calls.forEach((call, i) => sorters[32].record(encoder, { positions, n: 100, view, indexOut: outs[i], ...call }));
    device.queue.submit([encoder.finish()]);
    for (const [i, call] of calls.entries()) {
        const got = new Uint32Array((await read(device, outs[i], 400)).buffer), model = wanted(floats, 100, call, 32);
        cases++;
        if (!got.every((x, k) => x === model.index[k])) failures.push({ call });
        if (i === 1 && new Uint32Array((await read(device, sorters[32].count, 4)).buffer)[0] !== model.count) failures.push("count");
    }
}

const small = buffer(device, new Uint32Array(64)), out = buffer(device, new Uint32Array(64)), call = { positions: small, n: 4, view, far: 9, indexOut: out };
const flat = device.createBuffer({ size: 16, usage: GPUBufferUsage.COPY_SRC });
const wrong = {
    view: { view: [1, 2] }, order: { order: "up" }, near: { near: -1 }, far: { far: 0 }, "no far": { far: undefined }, stride: { stride: 8 },
    offset: { offset: 6 }, "no positions": { positions: null }, "no output": { indexOut: null }, n: { n: -1 }, few: { n: 17 },
    overlap: { indexOut: small }, usage: { countOut: flat }, word: { countOut: { buffer: out, offset: 256 } }, room: { indexOut: { buffer: out, size: 8 } },
};
for (const [name, change] of Object.entries(wrong)) {
    const encoder = device.createCommandEncoder();
    try {
        sorters[16].record(encoder, { ...call, ...change });
        said[name] = null;
    } catch (error) { said[name] = error.message; }
    encoder.finish();
}
for (const [name, make] of [["bits", () => SplatSorter.create(device, { keyBits: 24 })], ["ranges", () => bare.SplatSorter.create(device)]])
    said[name] = await make().then(() => null, (error) => error.message);
for (const x of Object.values(sorters)) x.destroy();
await device.queue.onSubmittedWorkDone();
console.log(JSON.stringify({ cases, failures, said, problems }));
process.exit(0);
