import { Sorter } from "./hs_webgpu.js";
import { Gatherer, Packer } from "./hs_webgpu_operations.js";
import { located, overlap, refuse, up } from "./hs_webgpu_player.js";

const STORAGE = 128; // of GPUBufferUsage
const WORD = 64; // bits of the widest key

/* Wait for all promises of a list, even if one fails, so that nothing still compiles when this returns or throws.
 * Returns their results, or throws the first error. */
async function ended(list) {
    const results = await Promise.allSettled(list), failed = results.find((x) => x.status === "rejected");
    if (failed) throw failed.reason;
    return results.map((x) => x.value);
}

/** Stable sorts of the rows of tables by key columns: a pack, an argsort, and a gather of each array. */
export class ColumnSorter {
    #device; #packer; #first; #second = null; #again = null; #gathers = [];
    #buffers = {};

    /** Create a sorter: see hs_webgpu_columns.d.ts. */
    static async create(device, columns, { itemBytes = [], ...options } = {}) {
        const sort = (key, value) => Sorter.create(device, key, { ...options, value });
        const gather = (bytes) => Gatherer.create(device, { ...options, itemBytes: bytes });
        const bytes = Packer.bytesOf(columns), wide = 8 * bytes > WORD, key = bytes > 4 ? "u64" : "u32", made = new this();
        const first = [Packer.create(device, key, { ...options, columns }), sort(key, "index")];
        const parts = await ended([...first, ...(wide ? [sort(key, 4), gather(8)] : []), ...itemBytes.map(gather)]);
        made.#device = device;
        [made.#packer, made.#first] = parts.splice(0, 2);
        if (wide) [made.#second, made.#again] = parts.splice(0, 2);
        made.#gathers = parts;
        return made;
    }

    get #parts() {
        return [this.#packer, this.#first, this.#second, this.#again, ...this.#gathers].filter((x) => x);
    }

    /** The greatest count of one call. */
    get maxN() {
        return Math.min(...this.#parts.map((x) => x.maxN));
    }

    /** Compile the kernels that calls of up to n rows need, except those that are already compiled. */
    async prepare(n) {
        await Promise.all(this.#parts.map((x) => x.prepare(n)));
    }

    /** Free the buffers; commands that use them must have been submitted. */
    destroy() {
        for (const x of [...this.#parts, ...Object.values(this.#buffers)]) x.destroy();
        this.#buffers = {};
    }

    /** Record a sort: see hs_webgpu_columns.d.ts. */
    record(encoder, { columns, n, indexOut, values = [], valuesOut = [] } = {}) {
        const rows = this.#packer.rows(columns, n), bits = 8 * this.#packer.bytes, size = bits > 32 ? 8 : 4;
        const keys = this.#room("keys", size * rows), order = indexOut ?? this.#room("order", 4 * rows), steps = [];
        const add = (part, call) => steps.push(part._checked({ n: rows, ...call }));
        const upTo = (sorter, end) => (sorter.ranged && end < 8 * size ? { endBit: end } : {});
        this.#apart(values, valuesOut, indexOut, rows);
        add(this.#packer, { columns, keysOut: keys });
        add(this.#first, { keys, valuesOut: order, discardKeys: true, ...upTo(this.#first, Math.min(bits, WORD)) });
        if (bits > WORD) {
            const picked = this.#room("picked", size * rows);
            add(this.#packer, { columns, keysOut: keys, beginBit: WORD });
            add(this.#again, { index: order, table: keys, out: picked, items: Math.max(rows, 1) });
            add(this.#second, { keys: picked, values: order, ...upTo(this.#second, bits - WORD) });
        }
        values.forEach((table, i) => add(this.#gathers[i], { index: order, table, out: valuesOut[i], items: Math.max(rows, 1) }));
        for (const step of steps) step?.(encoder);
    }

    /* Refuse arrays that are missing, and outputs that overlap other arrays. */
    #apart(values, valuesOut, indexOut, rows) {
        const count = this.#gathers.length, all = [];
        if (values.length !== count || valuesOut.length !== count) refuse(`values and valuesOut: give ${count} of each, as itemBytes has`);
        const add = (name, buffer, bytes, written) => all.push({ name, written, ...located(name, buffer ?? refuse(`${name}: there is no buffer`)), bytes });
        this.#gathers.forEach(({ itemBytes }, i) => {
            add(`values[${i}]`, values[i], rows * itemBytes, false);
            add(`valuesOut[${i}]`, valuesOut[i], rows * itemBytes, true);
        });
        if (indexOut) add("indexOut", indexOut, 4 * rows, true);
        for (const [i, a] of all.entries())
            for (const b of all.slice(0, i)) if ((a.written || b.written) && overlap(a, b)) refuse(`${b.name} and ${a.name}: the buffers overlap`);
    }

    /* A buffer of the sorter with at least these bytes.  A buffer that has become too small stays alive for the
     * commands that use it. */
    #room(name, bytes) {
        if (!(this.#buffers[name]?.size >= bytes))
            this.#buffers[name] = this.#device.createBuffer({ label: `hs_webgpu ${name}`, size: up(Math.max(bytes, 4), 256), usage: STORAGE });
        return this.#buffers[name];
    }
}
