import { DEVICE_COUNT, Player, ROWS, located, refuse, same, shown, typed, unlike } from "./hs_webgpu_player.js";

const WORDS = 8; // of a digest
const REDUCTIONS = ["sum", "min", "max"], REDUCED = { u32: 0, i32: 1, f32: 2 };

/** What all operations but sorts share.  A subclass names its buffers by role, and says how a call uses them. */
class Operation extends Player {
    /** Record a call: see hs_webgpu_operations.d.ts. */
    record(encoder, call = {}) {
        this._checked(call)?.(encoder);
    }

    /* What records a call, after all checks; nothing where there is nothing to do. */
    _checked(call) {
        const names = this.constructor.names, settled = this._ordered(call), spans = {};
        for (const [role, name] of Object.entries(names)) if (call[name]) spans[role] = located(name, call[name]);
        const inPlace = this._sharing(spans);
        const n = this._counted(this._length(call, spans), settled.counted);
        const { bytes, number = 0, take = 0, layouts = null, flags = 0, bounded = false } = this._settled(call, n, spans);
        if (n === 0 && !this._reported) return null;
        this.#complete(names, spans, bytes, inPlace);
        this._fits(spans, bytes, names, n, (role) => this._writes(role)); // WebGPU binds nothing twice that a kernel may write
        const checked = { ...settled, counted: settled.counted && n > 0, n, number, take, layouts, bounded, flags: settled.flags | flags, spans, inPlace };
        return (encoder) => this._record(encoder, checked, call.timestampWrites);
    }

    get _reported() {
        return false;
    }

    /* Whether kernels may write to the buffer of a role. */
    _writes() {
        return true;
    }

    /* The count of a call; by default as many as the buffer of keys holds. */
    _length(call, spans) {
        const source = Object.values(this.constructor.names)[0];
        return call.n ?? (spans.source ? Math.floor(spans.source.room / this._plan.itemBytes) : refuse(`${source}: there is no buffer`));
    }

    /* Whether results replace inputs. */
    _sharing() {
        return false;
    }

    /* Refuse buffers that are missing or that the plan has no use for. */
    #complete(names, spans, bytes, inPlace) {
        const used = this._used(), what = this._plan.kind.replaceAll("_", " "), optional = this.constructor.optional ?? [];
        for (const [role, name] of Object.entries(names)) {
            const result = inPlace && (role === "destination" || role === "values_out");
            const asked = used.has(role) && bytes[role] > 0 && role !== "count" && !result && !optional.includes(role);
            if (spans[role] && !used.has(role) && role !== "count") refuse(`${name}: the ${what} was generated without (--value)`);
            if (asked && !spans[role]) refuse(`${name}: there is no buffer`);
            if (spans[role] && !(bytes[role] > 0)) delete spans[role];
        }
    }

    _used() {
        return new Set([...this._plan.bindings.flat().map(([role]) => this.constructor.roles[role])]);
    }

    static roles = ["source", "destination", "scratch", "values", "values_out", "count", "other", "other_values", "report"];
}

/* A number of a call, or an error that names it. */
function whole(name, x, least, most) {
    if (!Number.isInteger(x) || x < least || x > most) refuse(`${name}: ${shown(x)} is no number from ${least} to ${most}`);
    return x;
}

/* The bytes of n keys and values in both, in and out. */
const moved = (plan, n, after = n) => ({
    source: n * plan.itemBytes, destination: after * plan.itemBytes, values: n * plan.valueBytes, values_out: after * plan.valueBytes,
});

/* Results that replace inputs where there is no other buffer for them. */
function replaced(spans) {
    for (const [out, from] of [["destination", "source"], ["values_out", "values"]])
        if (spans[out] && spans[from] && same(spans[out], spans[from])) delete spans[out];
    if (spans.values && !spans.destination !== !spans.values_out) refuse("keysOut and valuesOut: give both, or neither to sort in place");
    return !spans.destination;
}

/** Digests of arrays, by which a sort is verified on the device. */
export class Digest extends Operation {
    static names = { source: "keys", values: "values", report: "digest" };

    static create(device, key, options = {}) {
        return this._create("digest", device, key, options);
    }

    /** Return the faults between the words of two digests: see hs_webgpu_operations.d.ts. */
    static faults(before, after, { stable = false } = {}) {
        const unlike = (...at) => at.some((i) => before[i] !== after[i]);
        const found = { order: after[4] !== 0, keys: unlike(0, 1, 7), values: unlike(2, 3), stable: stable && after[5] !== 0, beyond: unlike(6) };
        return Object.keys(found).filter((name) => found[name]);
    }

    get _reported() {
        return true;
    }

    _settled(call, n) {
        const number = whole("capacity", Math.max(n, call.capacity ?? n), n, this.maxN);
        return { number, bytes: { ...moved(this._plan, number), report: 4 * WORDS } };
    }
}

/** Prefix sums of rows of elements. */
export class Scanner extends Operation {
    static names = { source: "elements", destination: "elementsOut" };

    static create(device, key, { columns = 1, exclusive = false, ...options } = {}) {
        return this._create("scan", device, key, { algorithm: `scan-x${columns}${exclusive ? "ex" : ""}`, ...options });
    }

    _sharing(spans) {
        return replaced(spans);
    }

    _settled(call, n) {
        return { bytes: moved(this._plan, n) };
    }
}

/** The stable sort of each segment of an array. */
export class SegmentedSorter extends Operation {
    static names = { source: "keys", destination: "keysOut", values: "values", values_out: "valuesOut", other: "offsets", other_values: "ends", count: "count" };
    static optional = ["other", "other_values"];

    static create(device, key, options = {}) {
        return this._create("segmented_sort", device, key, options);
    }

    _sharing(spans) {
        return replaced(spans);
    }

    /* What lies on the device is the number of segments, not that of keys. */
    _ordered(call) {
        return super._ordered({ ...call, count: undefined });
    }

    _settled(call, n, spans) {
        const number = whole("segments", call.segments, 0, 2 ** 31 - 2), rows = !spans.other, used = this._used(), apart = used.has("other_values");
        for (const [role, name, feature] of [["other_values", "ends", "segment-ends"], ["count", "count", "segment-count"]])
            if (spans[role] && !used.has(role)) refuse(`${name}: the segmented sort was generated without (--feature ${feature})`);
        if (apart && rows !== !spans.other_values) refuse("offsets and ends: give both, or neither for equal rows");
        if (rows && n && (!number || n % number)) refuse(`segments: ${n} keys are not ${number} equal rows; give offsets`);
        const bytes = { ...moved(this._plan, n), other: 4 * (apart ? number : number + 1), other_values: 4 * number, count: 4 };
        return { number, bounded: !!spans.count, flags: rows ? ROWS : 0, bytes };
    }
}

/** Merges of two sorted arrays. */
export class Merger extends Operation {
    static names = {
        source: "keys", other: "otherKeys", destination: "keysOut", values: "values", other_values: "otherValues", values_out: "valuesOut",
    };

    static create(device, key, options = {}) {
        return this._create("merge", device, key, options);
    }

    _length(call, spans) {
        const held = (n, role) => n ?? Math.floor((spans[role]?.room ?? 0) / this._plan.itemBytes);
        return held(call.n, "source") + held(call.otherN, "other");
    }

    _settled(call, n, spans) {
        const { itemBytes: key, valueBytes: value } = this._plan;
        const number = whole("n", call.n ?? Math.floor((spans.source?.room ?? 0) / key), 0, n), rest = n - number;
        const bytes = { ...moved(this._plan, number, n), other: rest * key, other_values: rest * value };
        return { number, bytes };
    }
}

/** The first keys of each row. */
export class TopK extends Operation {
    static names = { source: "keys", destination: "keysOut", values: "values", values_out: "valuesOut" };

    static create(device, key, options = {}) {
        return this._create("top_k", device, key, { order: "descending", ...options });
    }

    _settled(call, n) {
        const number = whole("rows", call.rows ?? 1, 1, 2 ** 31 - 1);
        if (n % number) refuse(`rows: ${n} keys are not ${number} equal rows`);
        const take = n ? whole("k", call.k, 1, n / number) : 0, bytes = moved(this._plan, n, number * take);
        return { number, take, bytes: this._indexed ? { ...bytes, values: 0 } : bytes };
    }
}

/** Items of a table by index: out[i] = table[index[i]]. */
export class Gatherer extends Operation {
    static names = { source: "index", values: "table", values_out: "out" };
    #unit = 0;

    static async create(device, { itemBytes = 4, ...options } = {}) {
        if (!Number.isInteger(itemBytes) || itemBytes < 4 || itemBytes % 4) refuse(`itemBytes: ${shown(itemBytes)} is no multiple of 4`);
        const made = await this._create("gather", device, "u32", { value: [16, 8, 4].find((unit) => itemBytes % unit === 0), ...options });
        made.#unit = itemBytes;
        return made;
    }

    /** The bytes of an item. */
    get itemBytes() {
        return this.#unit;
    }

    _settled(call, n, spans) {
        const held = Math.floor((spans.values?.room ?? 0) / this.#unit), items = whole("items", call.items ?? held, 1, 2 ** 31 - 1);
        const take = this.#unit / this._plan.valueBytes;
        if (Math.max(n, items) * take >= 2 ** 31) refuse("n and items: the table and the result have less than 2^31 values");
        return { number: items, take, bytes: { source: 4 * n, values: items * this.#unit, values_out: n * this.#unit } };
    }
}

/** Reductions of runs of equal adjacent keys. */
export class ReduceByKey extends Operation {
    static names = {
        source: "keys", values: "values", destination: "keysOut", values_out: "valuesOut", report: "groups",
        other: "counts", other_values: "firstIndices", count: "count",
    };
    static optional = ["other", "other_values"];
    static kind = "reduce_by_key";
    #value = 0;

    static async create(device, key, { value = "none", ...options } = {}) {
        if (value !== "none" && !(value in REDUCED)) refuse(`value: ${shown(value)} is neither u32, i32 nor f32`);
        const made = await this._create(this.kind, device, key, { value, ...options });
        made.#value = REDUCED[value] ?? 0;
        return made;
    }

    get _reported() {
        return true;
    }

    _settled(call, n, spans) {
        const how = REDUCTIONS.indexOf(call.reduction ?? "sum"), flags = (spans.other ? 16 : 0) | (spans.other_values ? 32 : 0);
        const counted = spans.count && n ? DEVICE_COUNT : 0; // kernels that get this number get no flags
        if (how < 0) refuse(`reduction: ${shown(call.reduction)} is neither sum, min nor max`);
        const number = how | (this.#value << 2) | flags | counted;
        return { number, bytes: { ...moved(this._plan, n), report: 4, other: 4 * n, other_values: 4 * n, count: 4 } };
    }
}

/** Groups of equal keys of an array in any order. */
export class GroupBy extends ReduceByKey {
    static kind = "group_by";
}

const COLUMNS = ["source", "other", "other_values", "values"], MOST = 16; // bytes
const STRIDE = 256; // the greatest, in bytes

/* The types of columns, each as a name or a pair of that and an order, as numbers: bytes, and those that kernels take. */
function described(columns) {
    if (!Array.isArray(columns) || columns.length < 1 || columns.length > COLUMNS.length) refuse(`columns: give 1 to ${COLUMNS.length}`);
    const found = columns.map((column) => {
        const [key, order = "ascending"] = Array.isArray(column) ? column : [column], { kind, bits } = typed(key);
        if (unlike(order)) refuse(`columns: ${shown(order)} is neither "ascending" nor "descending"`);
        return { bytes: bits / 8, number: Math.log2(bits / 8) | (kind << 2) | (order === "descending" ? 16 : 0) | 32 };
    });
    const bytes = found.reduce((sum, x) => sum + x.bytes, 0);
    if (bytes > MOST) refuse(`columns: a row has ${bytes} bytes; give at most ${MOST}`);
    return { found, bytes };
}

/* A column of a call: the buffer of an array or of records, and the stride and the offset of a field, or 0. */
function placed(given, i, bytes) {
    if (!given?.records) return { bound: given, stride: 0, offset: 0 };
    const { records, stride, offset = 0 } = given, name = `columns[${i}]`;
    if (!Number.isInteger(stride) || stride < 4 || stride > STRIDE || stride % 4) refuse(`${name}: stride ${shown(stride)} is no multiple of 4 up to ${STRIDE}`);
    if (!Number.isInteger(offset) || offset < 0 || offset + bytes > stride) refuse(`${name}: offset ${shown(offset)} is not that of ${bytes} bytes in a record of ${stride}`);
    if (offset % Math.min(bytes, 4)) refuse(`${name}: offset ${offset} is no multiple of ${Math.min(bytes, 4)}`);
    return { bound: records, stride, offset };
}

/** Packs of columns into keys, the first column on top. */
export class Packer extends Operation {
    static names = { source: "columns[0]", other: "columns[1]", other_values: "columns[2]", values: "columns[3]", destination: "keysOut" };
    #columns = []; #bytes = 0;

    static async create(device, key, { columns, ...options } = {}) {
        const { found, bytes } = described(columns), made = await this._create("pack", device, key, options);
        made.#columns = found;
        made.#bytes = bytes;
        return made;
    }

    /** Return the bytes of a row of columns of these types. */
    static bytesOf(columns) {
        return described(columns).bytes;
    }

    /** The bytes of all columns of a row. */
    get bytes() {
        return this.#bytes;
    }

    /** Return n, or by default the rows that the first of these columns holds. */
    rows(columns, n) {
        const fields = this.#placed(columns), { bound } = fields[0];
        return this._counted(n ?? this._length({ fields }, { source: bound && located("columns[0]", bound) }));
    }

    #placed(columns) {
        if (!Array.isArray(columns) || columns.length !== this.#columns.length) refuse(`columns: give ${this.#columns.length} buffers`);
        return columns.map((column, i) => placed(column, i, this.#columns[i].bytes));
    }

    _writes(role) {
        return role === "destination";
    }

    /* Columns by the names of their roles; the first bit is that of the columns, not of a key. */
    _checked({ columns, beginBit, ...call }) {
        const fields = this.#placed(columns), named = Object.fromEntries(fields.map(({ bound }, i) => [`columns[${i}]`, bound]));
        return super._checked({ ...call, ...named, fields, firstBit: beginBit });
    }

    _length(call, spans) {
        return call.n ?? Math.floor((spans.source?.room ?? refuse("columns[0]: there is no buffer")) / (call.fields[0].stride || this.#columns[0].bytes));
    }

    _settled(call, n, spans) {
        const begin = whole("beginBit", call.firstBit ?? 0, 0, 8 * this.#bytes - 1);
        if (begin % 32) refuse(`beginBit: ${begin} is no multiple of 32`);
        const number = this.#columns.reduce((sum, x, i) => sum | (x.number << (6 * i)), (begin / 32) << 24);
        const end = ({ stride, offset }, size) => (stride && n ? (n - 1) * stride + offset + size : n * size);
        const bytes = Object.fromEntries(this.#columns.map((x, i) => [COLUMNS[i], end(call.fields[i], x.bytes)])), layouts = [0, 0];
        call.fields.forEach(({ stride, offset }, i) => {
            if ((n * stride) / 4 >= 2 ** 31) refuse(`columns[${i}]: n = ${n} records of ${stride} bytes have 2^31 words or more`);
            if (spans.destination && spans[COLUMNS[i]]?.buffer === spans.destination.buffer) refuse(`columns[${i}] and keysOut: are in one GPUBuffer`);
            layouts[i >> 1] |= ((stride / 4) | (offset << 7)) << (15 * (i & 1));
        });
        return { number, layouts, bytes: { ...bytes, destination: n * this._plan.itemBytes } };
    }
}
