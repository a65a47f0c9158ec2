const HSGEN_CONSTANTS = 0;
export { DEVICE_COUNT, DISCARD, ROLES, ROWS };
const ROLE = Object.fromEntries(ROLES.map((name, i) => [name, i]));
const ALIGNMENT = 256; // of bindings; no device requires more
const INT = 2 ** 31 - 1;
const UNUSED = 16; // the most bindings of a kernel
const KEPT = 32; // the number of recorded calls that a sorter keeps
const STORAGE = 128, UNIFORM = 64, INDIRECT = 256, COPY_SRC = 4, COPY_DST = 8; // of GPUBufferUsage
const COMPUTE = 4; // of GPUShaderStage

const TYPES = { u: 0, i: 1, f: 2, bf: 2 };
const SIZES = { 4: "v4", 8: "v8", 16: "v16", u32: "v4", i32: "v4", f32: "v4", u64: "v8", i64: "v8", f64: "v8" };

/* A kernel that copies keys or values to another buffer before a sort in place. A sort's source and destination must be
 * different buffers: WebGPU forbids to bind a part of a buffer twice if a kernel may write it. */
const COPY = `@group(0) @binding(0) var<storage, read_write> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> destination: array<u32>;
@group(1) @binding(0) var<uniform> words: vec4<i32>;
@compute @workgroup_size(256) fn copy(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = at.x; i < u32(words.x); i += groups.x * 256u) { destination[i] = source[i]; }
}`;

export const up = (x, to) => Math.ceil(x / to) * to;
export const shown = (x) => (typeof x === "string" ? `"${x}"` : String(x));

export function refuse(text) {
    throw new Error(`hs_webgpu: ${text}`);
}

/** Return the kind (0 unsigned, 1 signed, 2 float) of a type of keys, and its number of bits. */
export function typed(key) {
    const [, letters, bits] = /^(u|i|f|bf)(8|16|32|64)$/.exec(key === "bool" ? "u8" : key) ?? refuse(`key: ${shown(key)} is no type of keys`);
    if (letters[letters.length - 1] === "f" && (bits === "8" || (letters === "bf" && bits !== "16"))) refuse(`key: ${shown(key)} is no type of keys`);
    return { kind: TYPES[letters], bits: Number(bits) };
}

const moved = (value) => SIZES[value] ?? value ?? "none";
const label = (s) => `u${s.bits}` + (s.value === "none" ? "" : ` with ${s.value}`);
export const unlike = (order) => order !== undefined && order !== "ascending" && order !== "descending";

/* Choose a sort for these keys and options from a list, and load its module if necessary. Sorts for this kind of
 * adapter (CPU or not) are preferred, among these the sorts with the widest subgroups, then algorithm "auto". */
async function picked(what, sorts, device, key, options) {
    const { kind, bits } = typed(key), plain = PLAIN.includes(what);
    const value = moved(options.value), transform = !plain && (kind > 0 || options.order === "descending");
    if (unlike(options.order)) refuse(`order: ${shown(options.order)} is neither "ascending" nor "descending"`);
    const all = sorts.filter((s) => s.kind === what && (what !== "scan" || s.floats === kind > 1));
    const of = all.filter((s) => s.bits === bits && s.value === value && s.algorithm === (options.algorithm ?? s.algorithm));
    const has = [...new Set(all.map(label))].join(", ") || "none", noun = what.replaceAll("_", " ");
    if (!of.length) refuse(`${label({ bits, value })}: there is no such ${noun} among those given (${has})`);
    const fits = of.filter((s) => s.transform || !transform);
    if (!fits.length) refuse(`${key}, ${options.order ?? "ascending"}: the ${noun} was generated for unsigned ascending keys (hsgen generate --key, --order)`);
    const least = device.features.has("subgroups") ? (device.adapterInfo?.subgroupMinSize ?? 1) : 1;
    const run = fits.filter((s) => s.subgroups <= least); // kernels can use parts of wider subgroups
    if (!run.length) refuse(`the sorts need subgroups of ${fits[0].subgroups} lanes; the device has ${least} (requiredFeatures: ["subgroups"], or hsgen generate -t webgpu)`);
    const slow = !!device.adapterInfo?.isFallbackAdapter, rank = (s) => [s.fallback === slow, s.subgroups, s.algorithm === "auto"];
    const before = (a, b) => rank(b).reduce((found, x, i) => found || x - rank(a)[i], 0);
    run.sort(before);
    return run[0].load ? (await run[0].load()).default : run[0];
}

/* The interpreter of launch plans starts here.  docs/reference/json.md of hsgen describes the steps of a plan. */
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
            return call.number | (call.bounded ? 1 << 31 : 0);
    }
    const count = passes(begin, end, bits), left = count - step.value; // step.value is the number of a pass
    if (left <= 0) return null;
    const least = Math.floor((end - begin) / count), more = (end - begin) % count;
    const shift = begin + step.value * least + Math.min(step.value, more), width = least + (step.value < more ? 1 : 0);
    const kept = flags & ~(left % 2 ? 0 : DIRECT) & ~(left > 1 ? DISCARD : 0);
    return step.value | (shift << 8) | (width << 16) | kept;
}

/* The number of work-groups of a step in a call out of place; 0 if the step does not run. */
function groups(step, call) {
    const { n, number } = call, length = step.by === "length", bounded = length && number ? Math.floor(n / number) : n;
    if (bounded <= step.minN && !(n === 0 && step.atZero)) return 0;
    if (step.place === 1 || step.range === (call.whole ? 2 : 1)) return 0;
    if (step.reduction === ((number & REDUCTION_MASK) === FLOAT_SUM ? 1 : 2)) return 0;
    if (bounded > step.maxN && !call.counted) return 0;
    if (step.maxTake && !(step.minTake < call.passed[1] && call.passed[1] <= step.maxTake)) return 0;
    if (step.x === "rows") return Math.min(number * Math.floor((bounded + step.add) / step.div) * step.mul, step.cap);
    const x = step.x === "number" ? number : length ? n : Math.min(n, step.maxN);
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
    const [kernel, list, minN, maxN, place, range, atZero, x, add, div, mul, cap, kind, value, bits, flags, by, reduction, minTake, maxTake] = row;
    return { kernel, list, minN, maxN, place, range, atZero, x: QUANTITIES[x], by: QUANTITIES[by], add, div, mul, cap, argument: ARGUMENTS[kind], value, bits, flags, reduction, minTake, maxTake };
}

/** Return the buffer, offset and size of a GPUBuffer or a GPUBufferBinding. */
export function located(name, given) {
    const { buffer, offset = 0, size } = given.buffer ? given : { buffer: given };
    if (typeof buffer.usage !== "number") refuse(`${name}: is neither a GPUBuffer nor {buffer, offset, size}`);
    if (!(buffer.usage & STORAGE)) refuse(`${name}: the buffer lacks the usage STORAGE`);
    if (offset % ALIGNMENT) refuse(`${name}: offset ${offset} is not a multiple of ${ALIGNMENT}`);
    if (offset > buffer.size) refuse(`${name}: offset ${offset} is beyond the buffer's ${buffer.size} bytes`);
    return { buffer, offset, room: Math.min(size ?? Infinity, buffer.size - offset) };
}

export const same = (a, b) => a.buffer === b.buffer && a.offset === b.offset;
export const overlap = (a, b) => a.buffer === b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;

/** The default members of a call. `bounded` is true if `number` is the upper bound of a number in device memory.
 * `passed` has the two numbers that kernels receive; null means minN and maxN of each step. */
export const CALL = { number: 0, passed: null, bounded: false, whole: true, counted: false, inPlace: false, discard: false };

/** The basis of sorters and other operations: plans, pipelines and buffers. */
export class Player {
    _device; _plan; _kind; _order; _most;
    #steps; #pipelines = []; #layouts; #uniform; #modules;
    #buffers = {}; #calls = new Map(); #numbers = new WeakMap(); #next = 0; #alive = true;

    /* Choose a plan for an operation and create what it needs. */
    static async _create(what, device, key, options) {
        if (typeof device?.createComputePipelineAsync !== "function") refuse("device: is no GPUDevice");
        const plan = await picked(what, options.sorts ?? this.sorts ?? [], device, key, options);
        const made = new this();
        made._device = device;
        made._plan = plan;
        made.#steps = plan.steps.map(unpacked);
        made._kind = typed(key).kind;
        made._order = options.order ?? "ascending";
        const { maxN = plan.maxN, firstN } = options;
        const fits = (name, n, most) => (Number.isInteger(n) && n >= 0 && n <= most) || refuse(`${name}: ${shown(n)} is no count from 0 to ${most}`);
        fits("maxN", maxN, plan.maxN);
        if (firstN !== undefined) fits("firstN", firstN, maxN);
        made._most = maxN;
        made.#modular();
        await made.#compile(firstN ?? maxN, firstN === undefined);
        return made;
    }

    /** The greatest count of one call. */
    get maxN() {
        return this._most;
    }

    /** The name of the sort: target and file. */
    get name() {
        return this._plan.name;
    }

    /** Compile the kernels that calls of up to n elements need, except those that are already compiled. */
    async prepare(n = this._most) {
        if (!Number.isInteger(n) || n < 0 || n > this._most) refuse(`n: ${shown(n)} is no count from 0 to ${this._most}`);
        await this.#compile(n, true);
    }

    /** Free the buffers; commands that use them must have been submitted. */
    destroy() {
        this.#alive = false;
        for (const buffer of Object.values(this.#buffers)) buffer.destroy();
        this.#buffers = {};
        this.#calls.clear();
    }

    get _indexed() {
        return this._plan.value.startsWith("index");
    }

    get _valued() {
        return this._plan.valueBytes > 0 && !this._indexed;
    }

    get _scratch() {
        return (n) => up(scratchBytes(this._plan, n), 4);
    }

    #modular() {
        const device = this._device, plan = this._plan;
        const most = Math.max(2, ...plan.kernels.map((k) => k[1].length)), limit = device.limits.maxStorageBuffersPerShaderStage;
        if (most > limit) refuse(`the device allows ${limit} storage buffers a stage; ${plan.name} needs ${most}`);
        const entry = (binding, buffer) => ({ binding, visibility: COMPUTE, buffer });
        const layout = (entries) => device.createBindGroupLayout({ entries });
        this.#uniform = layout([entry(0, { type: "uniform", hasDynamicOffset: true, minBindingSize: 16 })]);
        this.#layouts = Array.from({ length: most + 1 }, (_, n) =>
            layout(Array.from({ length: n }, (_, i) => entry(i, { type: plan.kind === "pack" && i < n - 1 ? "read-only-storage" : "storage" }))));
        const enable = plan.subgroups > 1 ? "enable subgroups;\n" : "";
        this.#modules = [device.createShaderModule({ label: plan.name, code: enable + plan.wgsl }), device.createShaderModule({ label: "copy", code: COPY })];
    }

    /* The GPUComputePipelineDescriptor of a kernel; the kernel after the plan's last is the copy. */
    #described(kernel) {
        const [name, sizes] = this._plan.kernels[kernel] ?? ["copy", [4, 4]];
        const layout = this._device.createPipelineLayout({ bindGroupLayouts: [this.#layouts[sizes.length], this.#uniform] });
        return { label: name, layout, compute: { module: this.#modules[kernel < this._plan.kernels.length ? 0 : 1], entryPoint: name } };
    }

    async #compile(n, counted) {
        const copies = IN_PLACE.includes(this._plan.kind) ? [this._plan.kernels.length] : [];
        const some = this.#steps.filter((s) => (s.minN < n || s.atZero) && (counted || s.argument !== "indirect_grids"));
        const missing = [...new Set([...some.map((s) => s.kernel), ...copies])].filter((k) => !this.#pipelines[k]);
        await Promise.all(missing.map(async (kernel) => {
            const described = this.#described(kernel);
            this.#pipelines[kernel] = await this._device.createComputePipelineAsync(described).catch(async (error) => {
                const info = await described.compute.module.getCompilationInfo().catch(() => null); // fails if the device is lost
                const said = info?.messages.find((m) => m.type === "error");
                refuse(`${this._plan.name}, kernel ${described.label}: ${(said?.message ?? error.message).split("\n")[0]}`);
            });
        }));
    }

    /* Record a checked call; a repeated call reuses its recorded passes. */
    _record(encoder, checked, stamps) {
        const at = Object.entries(checked.spans).map(([role, s]) => `${role}:${this.#number(s.buffer)}+${s.offset}:${s.bytes}`);
        const { n, number, passed, flags, begin, end, inPlace } = checked;
        const id = [n, number, passed, flags, begin, end, inPlace, ...at].join();
        let recorded = this.#calls.get(id);
        if (recorded) this.#calls.delete(id); // move to the end: the first entry is removed first
        else recorded = this.#recorded(checked);
        this.#calls.set(id, recorded);
        if (this.#calls.size > KEPT) this.#calls.delete(this.#calls.keys().next().value);
        this.#play(encoder, recorded, stamps);
    }

    /* Check the order and the bit range of a call.  The result has the range and the flags of the order. */
    _ordered(call) {
        const plan = this._plan, what = plan.kind.replaceAll("_", " ");
        const order = call.order ?? this._order, begin = call.beginBit ?? 0, end = call.endBit ?? plan.bits;
        if (!this.#alive) refuse("the sorter was destroyed");
        if (unlike(order)) refuse(`order: ${shown(order)} is neither "ascending" nor "descending"`);
        if (order === "descending" && !plan.transform) refuse(`order: the ${what} was generated for ascending order only (--order both)`);
        if (!(Number.isInteger(begin) && Number.isInteger(end) && 0 <= begin && begin <= end && end <= plan.bits))
            refuse(`beginBit ${begin}, endBit ${end}: give a range in order, within 0 to ${plan.bits}`);
        const whole = end - begin === plan.bits;
        if (!whole && !plan.range) refuse(`beginBit and endBit: the ${what} was generated for whole keys (--feature bit-range)`);
        if (call.count !== undefined && !plan.counted) refuse(`count: the ${what} was generated without device-side counts (--feature device-count)`);
        const keyed = PLAIN.includes(plan.kind) ? 0 : (this._kind ? SIGNED : 0) | (this._kind > 1 ? FLOAT : 0) | (order === "descending" ? DESCENDING : 0);
        const flags = keyed | (call.count !== undefined ? DEVICE_COUNT : 0);
        return { ...CALL, flags, begin: plan.firstBit + begin, end: plan.firstBit + end, whole, counted: call.count !== undefined };
    }

    _counted(n, counted) {
        const most = counted ? Math.min(this._most, 2 ** 30 - 1) : this._most;
        if (!Number.isInteger(n) || n < 0 || n > most) refuse(`n: ${shown(n)} is no count from 0 to ${most}`);
        return n;
    }

    /* Refuse buffers that are smaller than the accessed bytes, or that overlap a written buffer. */
    _fits(spans, bytes, names, n, written) {
        const limit = this._device.limits.maxStorageBufferBindingSize, list = Object.entries(spans);
        for (const [role, span] of list) {
            span.bytes = up(bytes[role], 4);
            if (span.bytes > span.room) refuse(`${names[role]}: ${span.room} bytes are too few; n = ${n} takes ${span.bytes}`);
            if (span.bytes > limit) refuse(`${names[role]}: the device binds at most ${limit} bytes (maxStorageBufferBindingSize); n = ${n} takes ${span.bytes}`);
        }
        for (const [i, [a, one]] of list.entries())
            for (const [b, other] of list.slice(0, i))
                if ((written(a) || written(b)) && overlap(one, other)) refuse(`${names[b]} and ${names[a]}: the buffers overlap`);
    }

    #number(buffer) {
        if (!this.#numbers.has(buffer)) this.#numbers.set(buffer, this.#next++);
        return this.#numbers.get(buffer);
    }

    /* A buffer of the sorter with at least these bytes.  A smaller one is replaced, but stays alive for commands that
     * use it. */
    #room(name, bytes, usage = STORAGE | COPY_SRC) {
        const old = this.#buffers[name], limit = this._device.limits.maxBufferSize;
        if (old?.size >= bytes) return old;
        if (bytes > limit) refuse(`n: scratch of ${bytes} bytes is needed; the device allows ${limit} (maxBufferSize)`);
        this.#calls.clear(); // the recorded calls bind the smaller buffer
        return (this.#buffers[name] = this._device.createBuffer({ label: `hs_webgpu ${name}`, size: up(bytes, 256), usage }));
    }

    #spare(name, bytes) {
        return { buffer: this.#room(name, bytes), offset: 0, bytes };
    }

    /* Prepare all that a call records: its launches with their grids, bind groups and numbers. */
    #recorded(call) {
        const plan = this._plan, n = call.n, limit = this._device.limits.maxComputeWorkgroupsPerDimension;
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
            const [bound, take] = call.passed ?? [step.minN, step.maxN];
            const numbers = [n, given, Math.min(bound, INT), Math.min(take, INT)];
            launches.push({ kernel: step.kernel, list: step.list, grid: [Math.ceil(count / rows), rows], indirect, first, numbers });
        });
        return this.#bound(launches, spans, n, table);
    }

    #copy(from, to) {
        const words = to.bytes / 4;
        const grid = [Math.min(Math.ceil(words / 1024), this._device.limits.maxComputeWorkgroupsPerDimension), 1];
        return { kernel: this._plan.kernels.length, ranges: [from, to], grid, indirect: -1, numbers: [words, 0, 0, 0] };
    }

    /* The part of a buffer for each binding of a list.  In scratch, a part ends after n elements, or where the next
     * part of the list begins, because parts must not overlap. */
    #ranges(list, sizes, spans, n) {
        const starts = list.map((binding) => begins(binding, n));
        const inScratch = starts.filter((_, i) => list[i][0] === ROLE.scratch);
        return list.map(([role], i) => {
            const span = spans[ROLES[role]];
            if (!span?.bytes) return { buffer: this.#room("unused", ALIGNMENT * UNUSED), offset: ALIGNMENT * i, bytes: 16 };
            const next = role === ROLE.scratch ? [starts[i] + (n * sizes[i] || Infinity), ...inScratch.filter((s) => s > starts[i])] : [];
            const end = Math.min(span.bytes, ...next);
            return { buffer: span.buffer, offset: span.offset + starts[i], bytes: up(end - starts[i], 4) };
        });
    }

    #bound(launches, spans, n, table) {
        const device = this._device, made = new Map();
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
                const { bindings, kernels } = this._plan;
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
            return encoder.beginComputePass({ label: this._plan.name, ...((begin ?? end) !== undefined && { timestampWrites: own }) });
        };
        let pass = opened(first, table ? undefined : last);
        launches.forEach((launch, i) => {
            pass.setPipeline((this.#pipelines[launch.kernel] ??= this._device.createComputePipeline(this.#described(launch.kernel))));
            pass.setBindGroup(0, launch.group);
            pass.setBindGroup(1, numbers, [ALIGNMENT * i]);
            if (launch.indirect < 0) pass.dispatchWorkgroups(...launch.grid);
            else pass.dispatchWorkgroupsIndirect(table, launch.indirect);
            if (!launch.first) return;
            pass.end(); // WebGPU forbids to write grids and to dispatch with them in one pass
            encoder.copyBufferToBuffer(scratch, 0, table, 0, 12 * this._plan.steps.length);
            pass = opened(undefined, last);
        });
        pass.end();
    }
}
