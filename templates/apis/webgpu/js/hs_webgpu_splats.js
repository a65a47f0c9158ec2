import { Sorter } from "./hs_webgpu.js";
import { located, overlap, refuse } from "./hs_webgpu_player.js";

const UNIFORM = 64, STORAGE = 128, COPY_SRC = 4, COPY_DST = 8; // of GPUBufferUsage
const LANES = 256, ROW = 32768; // work-groups in a row of the grid
const FLOATS = 12; // of the uniform buffer

/* The key of a splat is its depth.  A key of 32 bits has the bits of a float of 0 or more, which ascend with the float.
 * A key of 16 bits is the number of an even step of the depths from near to far. A splat that is not between near and
 * far is not visible. It has the greatest key, so the sort moves it behind all visible splats. */
const WGSL = `
struct Camera { row: vec4<f32>, near: f32, far: f32, n: u32, stride: u32, first: u32, bits: u32, ascending: u32 }
@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read> positions: array<f32>;
@group(0) @binding(2) var<storage, read_write> keys: array<u32>;
@group(0) @binding(3) var<storage, read_write> visible: array<atomic<u32>, 4>;
var<workgroup> sum: atomic<u32>;
@compute @workgroup_size(${LANES}) fn depth_keys(
  @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (group.x + group.y * ${ROW}u) * ${LANES}u + lane;
  if (i < camera.n) {
    let at = camera.first + i * camera.stride;
    let place = vec4<f32>(positions[at], positions[at + 1u], positions[at + 2u], 1.0);
    let depth = dot(camera.row, place);
    var key = 0xffffffffu >> (32u - camera.bits);
    if (depth >= camera.near && depth <= camera.far) {
      let top = select(0x7fffffffu, 0xfffeu, camera.bits == 16u);
      let part = (depth - camera.near) / (camera.far - camera.near);
      key = select(bitcast<u32>(max(depth, 0.0)), min(u32(part * 65534.0), top), camera.bits == 16u);
      key = select(top - key, key, camera.ascending == 1u);
      atomicAdd(&sum, 1u);
    }
    keys[i] = key;
  }
  workgroupBarrier();
  if (lane == 0u) { atomicAdd(&visible[0], atomicLoad(&sum)); }
}`;

const finite = (name, value) => (Number.isFinite(value) ? value : refuse(`${name}: ${String(value)} is no finite number`));

/** Sorts splats or other translucent points by their depth: keys from a camera and positions, an argsort, and a
 * count. */
export class SplatSorter {
    #device; #sorter; #pipeline; #bits; #uniform; #visible; #keys = null; #group = null;

    /** Create a sorter: see hs_webgpu_splats.d.ts. */
    static async create(device, { keyBits = 16, ...options } = {}) {
        if (keyBits !== 16 && keyBits !== 32) refuse(`keyBits: ${String(keyBits)} is neither 16 nor 32`);
        const sorter = await Sorter.create(device, "u32", { ...options, value: "index" }), made = new this();
        if (keyBits === 16 && !sorter.ranged) refuse("keyBits: the sort was generated for whole keys (--feature bit-range)");
        const module = device.createShaderModule({ code: WGSL });
        made.#pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module } });
        made.#device = device;
        made.#sorter = sorter;
        made.#bits = keyBits;
        made.#uniform = device.createBuffer({ size: 4 * FLOATS, usage: UNIFORM | COPY_DST });
        made.#visible = device.createBuffer({ size: 16, usage: STORAGE | COPY_SRC | COPY_DST });
        return made;
    }

    /** The greatest count of one call. */
    get maxN() {
        return this.#sorter.maxN;
    }

    /** A buffer whose first word is the count of the last recorded call. */
    get count() {
        return this.#visible;
    }

    /** Compile the kernels that calls of up to n splats need, except those that are already compiled. */
    prepare(n) {
        return this.#sorter.prepare(n);
    }

    /** Free the buffers; commands that use them must have been submitted. */
    destroy() {
        for (const x of [this.#sorter, this.#uniform, this.#visible, this.#keys]) x?.destroy();
        this.#keys = this.#group = null;
    }

    /** Record a sort: see hs_webgpu_splats.d.ts. */
    record(encoder, call = {}) {
        const { positions, n, view, indexOut, countOut, order = "far-first", near = 0, far = Infinity } = call;
        const { stride = 16, offset = 0 } = call, bits = this.#bits;
        if (order !== "far-first" && order !== "near-first") refuse(`order: ${String(order)} is neither "far-first" nor "near-first"`);
        if (!(view?.length === 16)) refuse("view: give the 16 numbers of a matrix, column after column");
        if (finite("near", near) < 0) refuse(`near: ${near} is less than 0`);
        if (!(far > near)) refuse(`far: ${String(far)} is not greater than near, ${near}`);
        if (bits === 16) finite("far", far);
        for (const [name, value, least] of [["stride", stride, 12], ["offset", offset, 0]])
            if (!Number.isInteger(value) || value % 4 || value < least) refuse(`${name}: ${String(value)} is no multiple of 4 from ${least} on`);
        if (!positions) refuse("positions: there is no buffer");
        if (!indexOut) refuse("indexOut: there is no buffer");
        if (!Number.isInteger(n) || n < 0 || n > this.maxN) refuse(`n: ${String(n)} is no count from 0 to ${this.maxN}`);
        const from = located("positions", positions), to = located("indexOut", indexOut), bytes = n && (n - 1) * stride + offset + 12;
        if (from.room < bytes) refuse(`positions: ${from.room} bytes are too few; n = ${n} takes ${bytes}`);
        if (overlap({ ...from, bytes }, { ...to, bytes: 4 * n })) refuse("positions and indexOut: the buffers overlap");
        const place = countOut && this.#place(countOut), keys = this.#room(n);
        this.#sorter._checked({ keys, valuesOut: indexOut, n, discardKeys: true }); // refuses before anything is recorded
        const data = new ArrayBuffer(4 * FLOATS), floats = new Float32Array(data), words = new Uint32Array(data);
        floats.set([-view[2], -view[6], -view[10], -view[14], near, Math.min(far, 3.4e38)]);
        words.set([n, stride / 4, offset / 4, bits, order === "near-first" ? 1 : 0], 6);
        this.#stage(encoder, data);
        encoder.clearBuffer(this.#visible);
        if (n) {
            const pass = encoder.beginComputePass(), groups = Math.ceil(n / LANES);
            pass.setPipeline(this.#pipeline);
            pass.setBindGroup(0, this.#bound({ buffer: from.buffer, offset: from.offset, size: bytes }, keys));
            pass.dispatchWorkgroups(Math.min(groups, ROW), Math.ceil(groups / ROW));
            pass.end();
            const range = bits === 16 ? { endBit: 16 } : {};
            this.#sorter.sort(encoder, { keys, valuesOut: indexOut, n, discardKeys: true, ...range });
        }
        if (place) encoder.copyBufferToBuffer(this.#visible, 0, place.buffer, place.offset, 4);
    }

    /* Several calls may be recorded before a submission, so each has its own staging buffer. */
    #stage(encoder, data) {
        const staging = this.#device.createBuffer({ size: data.byteLength, usage: COPY_SRC, mappedAtCreation: true });
        new Uint8Array(staging.getMappedRange()).set(new Uint8Array(data));
        staging.unmap();
        encoder.copyBufferToBuffer(staging, 0, this.#uniform, 0, data.byteLength);
    }

    #place(given) {
        const { buffer, offset = 0 } = given.buffer ? given : { buffer: given };
        if (!(buffer.usage & COPY_DST)) refuse("countOut: the buffer lacks the usage COPY_DST");
        if (offset % 4 || offset + 4 > buffer.size) refuse(`countOut: offset ${offset} is not that of a word in ${buffer.size} bytes`);
        return { buffer, offset };
    }

    #room(n) {
        if (this.#keys && this.#keys.size >= 4 * n) return this.#keys;
        const size = Math.max(16, 4 * n);
        return (this.#keys = this.#device.createBuffer({ size, usage: STORAGE })); // a recorded call may use the old one
    }

    #bound(positions, keys) {
        const old = this.#group, name = positions.offset + ":" + positions.size;
        if (old?.name === name && old.from === positions.buffer && old.keys === keys) return old.group;
        const resources = [{ buffer: this.#uniform }, positions, { buffer: keys }, { buffer: this.#visible }];
        const entries = resources.map((resource, binding) => ({ binding, resource }));
        const group = this.#device.createBindGroup({ layout: this.#pipeline.getBindGroupLayout(0), entries });
        this.#group = { name, from: positions.buffer, keys, group };
        return group;
    }
}
