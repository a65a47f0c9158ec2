const HSGEN_CONSTANTS = 0;
const ROLE = Object.fromEntries(ROLES.map((name, i) => [name, i]));
const ALIGNMENT = 256; // of bindings; no device requires more
const INT = 2 ** 31 - 1;
const KEPT = 32; // recorded calls of a sorter
const STORAGE = 128, UNIFORM = 64, INDIRECT = 256, COPY_SRC = 4, COPY_DST = 8; // of GPUBufferUsage
const COMPUTE = 4; // of GPUShaderStage

const TYPES = { u: 0, i: 1, f: 2, bf: 2 };
const SIZES = { 4: "v4", 8: "v8", 16: "v16", u32: "v4", i32: "v4", f32: "v4", u64: "v8", i64: "v8", f64: "v8" };

/* Sorts in place need a source that is not the destination: WebGPU binds no part of a buffer for writing twice. */
const COPY = `@group(0) @binding(0) var<storage, read_write> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> destination: array<u32>;
@group(1) @binding(0) var<uniform> words: vec4<i32>;
@compute @workgroup_size(256) fn copy(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = at.x; i < u32(words.x); i += groups.x * 256u) { destination[i] = source[i]; }
}`;

const up = (x, to) => Math.ceil(x / to) * to;
const shown = (x) => (typeof x === "string" ? `"${x}"` : String(x));

function refuse(text) {
    throw new Error(`hs_webgpu: ${text}`);
}

/* The kind of a type of keys and its bits. */
function typed(key) {
    const [, letters, bits] = /^(u|i|f|bf)(8|16|32|64)$/.exec(key === "bool" ? "u8" : key) ?? refuse(`key: ${shown(key)} is no type of keys`);
    if (letters[letters.length - 1] === "f" && (bits === "8" || (letters === "bf" && bits !== "16"))) refuse(`key: ${shown(key)} is no type of keys`);
    return { kind: TYPES[letters], bits: Number(bits) };
}

const moved = (value) => SIZES[value] ?? value ?? "none";
const label = (s) => `u${s.bits}` + (s.value === "none" ? "" : ` with ${s.value}`);
const unlike = (order) => order !== undefined && order !== "ascending" && order !== "descending";

/* The sort of a list that takes such calls, loaded if necessary: one for such an adapter first, then one with subgroups. */
async function picked(sorts, device, key, options) {
    const { kind, bits } = typed(key);
    const value = moved(options.value), transform = kind > 0 || options.order === "descending";
    if (unlike(options.order)) refuse(`order: ${shown(options.order)} is neither "ascending" nor "descending"`);
    const of = sorts.filter((s) => s.kind === "sort" && s.bits === bits && s.value === value && s.algorithm === (options.algorithm ?? s.algorithm));
    const has = [...new Set(sorts.filter((s) => s.kind === "sort").map(label))].join(", ") || "none";
    if (!of.length) refuse(`${label({ bits, value })}: there is no such sort among those given (${has})`);
    const fits = of.filter((s) => s.transform || !transform);
    if (!fits.length) refuse(`${key}, ${options.order ?? "ascending"}: the sort was generated for unsigned ascending keys (hsgen generate --key, --order)`);
    const least = device.features.has("subgroups") ? (device.adapterInfo?.subgroupMinSize ?? 1) : 1;
    const run = fits.filter((s) => s.subgroups <= least); // parts of wider subgroups serve as well
    if (!run.length) refuse(`the sorts need subgroups of ${fits[0].subgroups} lanes; the device has ${least} (requiredFeatures: ["subgroups"], or hsgen generate -t webgpu)`);
    const slow = !!device.adapterInfo?.isFallbackAdapter, rank = (s) => [s.fallback === slow, s.subgroups, s.algorithm === "auto"];
    const before = (a, b) => rank(b).reduce((found, x, i) => found || x - rank(a)[i], 0);
    run.sort(before);
    return run[0].load ? (await run[0].load()).default : run[0];
}

/* The interpreter of plans: docs/reference/json.md of hsgen describes the steps. */
const passes = (begin, end, bits) => Math.max(1, Math.ceil((end - begin) / bits));

function argument(step, call) {
    const { begin, end } = call, bits = step.bits;
    const flags = step.flags | call.flags;
    switch (step.argument) {
        case "literal":
            return step.value | flags;
        case "bit_range":
            return end | (begin << 8) | flags;
        case "pass_count":
            return passes(begin, end, bits) | flags;
        case "call_number":
            return 0;
    }
    const count = passes(begin, end, bits), left = count - step.value; // a pass
    if (left <= 0) return null;
    const least = Math.floor((end - begin) / count), more = (end - begin) % count;
    const shift = begin + step.value * least + Math.min(step.value, more), width = least + (step.value < more ? 1 : 0);
    const kept = flags & ~(left % 2 ? 0 : DIRECT) & ~(left > 1 ? DISCARD : 0);
    return step.value | (shift << 8) | (width << 16) | kept;
}

/* The work-groups of a step out of place; 0 if it does not run. */
function groups(step, call) {
    if (call.n <= step.minN && !(call.n === 0 && step.atZero)) return 0;
    if (step.place === 1 || step.range === (call.whole ? 2 : 1)) return 0;
    if (call.n > step.maxN && !call.counted) return 0;
    const x = step.x === "n" ? Math.min(call.n, step.maxN) : 0;
    return Math.min(Math.floor((x + step.add) / step.div) * step.mul, step.cap);
}

const begins = ([role, perN, plus, maxN], n) => {
    const at = plus + perN * (maxN === null ? n : Math.min(n, maxN));
    return role === ROLE.scratch ? up(at, 1024) : at;
};

function scratchBytes(plan, n) {
    let most = 0;
    for (const [minN, maxN, plus, perN, unit, perUnit, units] of plan.scratch) {
        const m = Math.min(n, maxN);
        if (n > minN) most = Math.max(most, plus + perN * m + perUnit * Math.min(Math.ceil(m / unit), units));
    }
    return most;
}

function unpacked(row) {
    const [kernel, list, minN, maxN, place, range, atZero, x, add, div, mul, cap, kind, value, bits, flags] = row;
    return { kernel, list, minN, maxN, place, range, atZero, x: QUANTITIES[x], add, div, mul, cap, argument: ARGUMENTS[kind], value, bits, flags };
}

/* The buffer, offset and size of a GPUBuffer or a GPUBufferBinding. */
function located(name, given) {
    const { buffer, offset = 0, size } = given.buffer ? given : { buffer: given };
    if (typeof buffer.usage !== "number") refuse(`${name}: is neither a GPUBuffer nor {buffer, offset, size}`);
    if (!(buffer.usage & STORAGE)) refuse(`${name}: the buffer lacks the usage STORAGE`);
    if (offset % ALIGNMENT) refuse(`${name}: offset ${offset} is not a multiple of ${ALIGNMENT}`);
    if (offset > buffer.size) refuse(`${name}: offset ${offset} is beyond the buffer's ${buffer.size} bytes`);
    return { buffer, offset, room: Math.min(size ?? Infinity, buffer.size - offset) };
}

const same = (a, b) => a.buffer === b.buffer && a.offset === b.offset;
const overlap = (a, b) => a.buffer === b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;

/** Sorts arrays in GPU buffers by recording passes into the caller's command encoder. */
export class Sorter {
    #device; #plan; #steps; #pipelines; #layouts; #uniform; #key; #order; #most;
    #buffers = {}; #calls = new Map(); #numbers = new WeakMap(); #next = 0; #alive = true;

    /** Create a sorter: see hs_webgpu.d.ts. */
    static async create(device, key, options = {}) {
        if (typeof device?.createComputePipelineAsync !== "function") refuse("device: is no GPUDevice");
        const plan = await picked(options.sorts ?? [], device, key, options);
        const sorter = new Sorter(), type = typed(key);
        sorter.#device = device;
        sorter.#plan = plan;
        sorter.#steps = plan.steps.map(unpacked);
        sorter.#key = type.kind;
        sorter.#order = options.order ?? "ascending";
        const { maxN = plan.maxN } = options;
        if (!Number.isInteger(maxN) || maxN < 0 || maxN > plan.maxN) refuse(`maxN: ${shown(maxN)} is no count from 0 to ${plan.maxN}`);
        sorter.#most = maxN;
        await sorter.#compile();
        return sorter;
    }

    /** The greatest count that one call sorts. */
    get maxN() {
        return this.#most;
    }

    /** The name of the sort: target and file. */
    get name() {
        return this.#plan.name;
    }

    /** The bytes of device memory that the sorter keeps for sorts in place of up to n keys. */
    scratchBytes(n) {
        return up(scratchBytes(this.#plan, n), 4) + up(n * this.#plan.itemBytes, 4) + (this.#values() ? n * this.#plan.valueBytes : 0);
    }

    #values() {
        return this.#plan.valueBytes > 0 && !this.#indexed();
    }

    #indexed() {
        return this.#plan.value.startsWith("index");
    }

    async #compile() {
        const device = this.#device, plan = this.#plan, wide = plan.subgroups > 1;
        const most = Math.max(2, ...plan.kernels.map((k) => k[1].length)), limit = device.limits.maxStorageBuffersPerShaderStage;
        if (most > limit) refuse(`the device allows ${limit} storage buffers a stage; ${plan.name} needs ${most}`);
        const entry = (binding, buffer) => ({ binding, visibility: COMPUTE, buffer });
        const layout = (entries) => device.createBindGroupLayout({ entries });
        this.#uniform = layout([entry(0, { type: "uniform", hasDynamicOffset: true, minBindingSize: 16 })]);
        this.#layouts = Array.from({ length: most + 1 }, (_, n) =>
            layout(Array.from({ length: n }, (_, i) => entry(i, { type: "storage" }))));
        const layouts = this.#layouts.map((l) => device.createPipelineLayout({ bindGroupLayouts: [l, this.#uniform] }));
        const module = device.createShaderModule({ label: plan.name, code: (wide ? "enable subgroups;\n" : "") + plan.wgsl });
        const copy = device.createShaderModule({ label: "copy", code: COPY });
        const made = (name, count, from) =>
            device.createComputePipelineAsync({ label: name, layout: layouts[count], compute: { module: from, entryPoint: name } })
                .catch(async (error) => {
                    const info = await from.getCompilationInfo().catch(() => null); // fails if the device is lost
                    const said = info?.messages.find((m) => m.type === "error");
                    refuse(`${plan.name}, kernel ${name}: ${(said?.message ?? error.message).split("\n")[0]}`);
                });
        const used = new Set(this.#steps.filter((s) => s.minN < this.#most).map((s) => s.kernel));
        const kernels = plan.kernels.map(([name, sizes], i) => (used.has(i) ? made(name, sizes.length, module) : null));
        this.#pipelines = await Promise.all([...kernels, made("copy", 2, copy)]);
    }

    /** Record a sort: see hs_webgpu.d.ts. */
    sort(encoder, call) {
        if (!this.#alive) refuse("the sorter was destroyed");
        const checked = this.#checked(call ?? {});
        if (!checked) return;
        let recorded = this.#calls.get(checked.id);
        if (recorded) this.#calls.delete(checked.id); // to the end: the least recently used goes first
        else recorded = this.#recorded(checked);
        this.#calls.set(checked.id, recorded);
        if (this.#calls.size > KEPT) this.#calls.delete(this.#calls.keys().next().value);
        this.#play(encoder, recorded, call.timestampWrites);
    }

    /** Free the buffers of the sorter; commands that use them must have been submitted. */
    destroy() {
        this.#alive = false;
        for (const buffer of Object.values(this.#buffers)) buffer.destroy();
        this.#buffers = {};
        this.#calls.clear();
    }

    /* Check a call and complete it; null if there is nothing to do. */
    #checked(call) {
        const plan = this.#plan, counted = call.count !== undefined;
        const order = call.order ?? this.#order, begin = call.beginBit ?? 0, end = call.endBit ?? plan.bits;
        if (unlike(order)) refuse(`order: ${shown(order)} is neither "ascending" nor "descending"`);
        if (order === "descending" && !plan.transform) refuse("order: the sort was generated for ascending order only (--order both)");
        if (!(Number.isInteger(begin) && Number.isInteger(end) && 0 <= begin && begin <= end && end <= plan.bits))
            refuse(`beginBit ${begin}, endBit ${end}: give a range in order, within 0 to ${plan.bits}`);
        const whole = end - begin === plan.bits;
        if (!whole && !plan.range) refuse("beginBit and endBit: the sort was generated for whole keys (--feature bit-range)");
        if (counted && !plan.counted) refuse("count: the sort was generated without device-side counts (--feature device-count)");
        const { spans, n, inPlace } = this.#spans(call, counted);
        const most = counted ? Math.min(this.#most, 2 ** 30 - 1) : this.#most;
        if (!Number.isInteger(n) || n < 0 || n > most) refuse(`n: ${shown(n)} is no count from 0 to ${most}`);
        if (n === 0) return null;
        this.#fits(spans, n, inPlace);
        const flags = (this.#key ? SIGNED : 0) | (this.#key > 1 ? FLOAT : 0) | (order === "descending" ? DESCENDING : 0)
            | (counted ? DEVICE_COUNT : 0) | (call.discardKeys ? DISCARD : 0);
        const at = Object.entries(spans).map(([role, s]) => `${role}:${this.#number(s.buffer)}+${s.offset}`);
        const id = [n, flags, begin, end, inPlace, ...at].join();
        return { id, n, flags, begin: plan.firstBit + begin, end: plan.firstBit + end, whole, counted, spans, inPlace, discard: !!call.discardKeys };
    }

    #number(buffer) {
        if (!this.#numbers.has(buffer)) this.#numbers.set(buffer, this.#next++);
        return this.#numbers.get(buffer);
    }

    /* The buffers by role, n, and whether keys are sorted in place. */
    #spans(call, counted) {
        const plan = this.#plan, spans = {};
        const roles = { source: "keys", destination: "keysOut", values: "values", values_out: "valuesOut", count: "count" };
        for (const [role, name] of Object.entries(roles)) if (call[name]) spans[role] = located(name, call[name]);
        if (!spans.source) refuse("keys: there is no buffer");
        const n = call.n ?? Math.floor(spans.source.room / plan.itemBytes);
        for (const [out, from] of [["destination", "source"], ["values_out", "values"]])
            if (spans[out] && spans[from] && same(spans[out], spans[from])) delete spans[out];
        const inPlace = !spans.destination && !call.discardKeys, index = this.#indexed();
        if (call.discardKeys && !index) refuse("discardKeys: only an argsort discards keys (--value index)");
        if (call.discardKeys && spans.destination) refuse("keysOut: discarded keys have no destination");
        if (!this.#values() && spans.values) refuse("values: the sort was generated without values");
        if (this.#values() && !spans.values) refuse("values: the sort moves values, which are not given");
        if (index && !spans.values_out) refuse("valuesOut: there is no buffer for the indices");
        if (!index && !this.#values() && spans.values_out) refuse("valuesOut: the sort was generated without values");
        if (this.#values() && inPlace === !!spans.values_out) refuse("keysOut and valuesOut: give both, or neither to sort in place");
        return { spans, n, inPlace };
    }

    /* Whether buffers hold n elements, and none overlaps one that is written. */
    #fits(spans, n, inPlace) {
        const plan = this.#plan, each = { source: plan.itemBytes, destination: plan.itemBytes, count: 0 };
        const names = { source: "keys", destination: "keysOut", values: "values", values_out: "valuesOut", count: "count" };
        const limit = this.#device.limits.maxStorageBufferBindingSize, list = Object.entries(spans);
        for (const [role, span] of list) {
            span.bytes = role === "count" ? 4 : up(n * (each[role] ?? plan.valueBytes), 4);
            if (span.bytes > span.room) refuse(`${names[role]}: ${span.room} bytes are too few; n = ${n} takes ${span.bytes}`);
            if (span.bytes > limit) refuse(`${names[role]}: the device binds at most ${limit} bytes (maxStorageBufferBindingSize); n = ${n} takes ${span.bytes}`);
        }
        const written = (role) => role.startsWith("destination") || role === "values_out" || (inPlace && role !== "count");
        for (const [i, [a, one]] of list.entries())
            for (const [b, other] of list.slice(0, i))
                if ((written(a) || written(b)) && overlap(one, other)) refuse(`${names[b]} and ${names[a]}: the buffers overlap`);
    }

    /* A buffer of the sorter with at least these bytes.  One that was too small stays alive for commands that use it. */
    #room(name, bytes, usage = STORAGE | COPY_SRC) {
        const old = this.#buffers[name], limit = this.#device.limits.maxBufferSize;
        if (old?.size >= bytes) return old;
        if (bytes > limit) refuse(`n: scratch of ${bytes} bytes is needed; the device allows ${limit} (maxBufferSize)`);
        this.#calls.clear(); // they bind the smaller one
        return (this.#buffers[name] = this.#device.createBuffer({ label: `hs_webgpu ${name}`, size: up(bytes, 256), usage }));
    }

    #spare(name, bytes) {
        return { buffer: this.#room(name, bytes), offset: 0, bytes };
    }

    /* Everything that a call records: passes of launches, with their bind groups. */
    #recorded(call) {
        const plan = this.#plan, n = call.n, limit = this.#device.limits.maxComputeWorkgroupsPerDimension;
        const spans = { ...call.spans }, scratch = up(scratchBytes(plan, n), 4), copies = [];
        if (call.inPlace) {
            for (const [role, out] of [["source", "destination"], ["values", "values_out"]]) {
                if (!spans[role] || spans[out]) continue;
                spans[out] = spans[role];
                spans[role] = this.#spare(role, spans[out].bytes);
                copies.push([spans[out], spans[role]]);
            }
        } else if (call.discard) spans.destination = this.#spare("source", spans.source.bytes);
        if (scratch) spans.scratch = this.#spare("scratch", scratch);
        const table = call.counted && this.#room("grids", 12 * plan.steps.length, INDIRECT | COPY_DST);
        const launches = copies.map(([from, to]) => this.#copy(from, to));
        this.#steps.forEach((step, i) => {
            const first = step.argument === "indirect_grids";
            if (first && !call.counted) return;
            const count = first ? Math.ceil(plan.steps.length / 64) : groups(step, call);
            const given = count === 0 ? null : first ? limit : argument(step, call);
            if (given === null) return;
            const rows = Math.ceil(count / limit);
            if (rows > limit) refuse(`n: ${n} keys take ${count} work-groups, more than the device's grids have`);
            const indirect = call.counted && !first ? 12 * i : -1;
            const numbers = [n, given, Math.min(step.minN, INT), Math.min(step.maxN, INT)];
            launches.push({ kernel: step.kernel, list: step.list, grid: [Math.ceil(count / rows), rows], indirect, first, numbers });
        });
        return this.#bound(launches, spans, n, table);
    }

    #copy(from, to) {
        const words = to.bytes / 4;
        const grid = [Math.min(Math.ceil(words / 1024), this.#device.limits.maxComputeWorkgroupsPerDimension), 1];
        return { kernel: this.#plan.kernels.length, ranges: [from, to], grid, indirect: -1, numbers: [words, 0, 0, 0] };
    }

    /* The ranges of a list of bindings.  In scratch, one ends after n elements, or where the next one of the list begins:
     * ranges must not overlap. */
    #ranges(list, sizes, spans, n) {
        const starts = list.map((binding) => begins(binding, n));
        const inScratch = starts.filter((_, i) => list[i][0] === ROLE.scratch);
        return list.map(([role], i) => {
            const span = spans[ROLES[role]];
            if (!span) return { buffer: this.#room("unused", ALIGNMENT * ROLES.length), offset: ALIGNMENT * role, bytes: 16 };
            const next = role === ROLE.scratch ? [starts[i] + (n * sizes[i] || Infinity), ...inScratch.filter((s) => s > starts[i])] : [];
            const end = Math.min(span.bytes, ...next);
            return { buffer: span.buffer, offset: span.offset + starts[i], bytes: up(end - starts[i], 4) };
        });
    }

    #bound(launches, spans, n, table) {
        const device = this.#device, made = new Map();
        const group = (layout, ranges) => device.createBindGroup({
            layout,
            entries: ranges.map((r, binding) => ({ binding, resource: { buffer: r.buffer, offset: r.offset, size: r.bytes } })),
        });
        const limit = device.limits.maxStorageBufferBindingSize;
        const uniform = device.createBuffer({ size: ALIGNMENT * launches.length, usage: UNIFORM, mappedAtCreation: true });
        const numbers = new Int32Array(uniform.getMappedRange());
        launches.forEach((launch, i) => {
            const key = launch.ranges ?? launch.kernel + ":" + launch.list;
            if (!made.has(key)) {
                const { bindings, kernels } = this.#plan;
                const ranges = launch.ranges ?? this.#ranges(bindings[launch.list], kernels[launch.kernel][1], spans, n);
                const large = ranges.find((r) => r.bytes > limit);
                if (large) refuse(`n: a binding of ${large.bytes} bytes is needed; the device allows ${limit} (maxStorageBufferBindingSize)`);
                made.set(key, group(this.#layouts[ranges.length], ranges));
            }
            launch.group = made.get(key);
            numbers.set(launch.numbers, (ALIGNMENT / 4) * i);
        });
        uniform.unmap();
        const groupOfNumbers = group(this.#uniform, [{ buffer: uniform, offset: 0, bytes: 16 }]);
        return { launches, numbers: groupOfNumbers, table, scratch: spans.scratch?.buffer };
    }

    #play(encoder, { launches, numbers, table, scratch }, stamps) {
        const { querySet, beginningOfPassWriteIndex: first, endOfPassWriteIndex: last } = stamps ?? {};
        const opened = (begin, end) => {
            const own = { querySet, beginningOfPassWriteIndex: begin, endOfPassWriteIndex: end };
            return encoder.beginComputePass({ label: this.#plan.name, ...((begin ?? end) !== undefined && { timestampWrites: own }) });
        };
        let pass = opened(first, table ? undefined : last);
        launches.forEach((launch, i) => {
            pass.setPipeline(this.#pipelines[launch.kernel]);
            pass.setBindGroup(0, launch.group);
            pass.setBindGroup(1, numbers, [ALIGNMENT * i]);
            if (launch.indirect < 0) pass.dispatchWorkgroups(...launch.grid);
            else pass.dispatchWorkgroupsIndirect(table, launch.indirect);
            if (!launch.first) return;
            pass.end(); // within one pass, no buffer is both written and read as grids
            encoder.copyBufferToBuffer(scratch, 0, table, 0, 12 * this.#plan.steps.length);
            pass = opened(undefined, last);
        });
        pass.end();
    }
}
