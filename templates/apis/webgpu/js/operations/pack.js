const COLUMNS = ["source", "other", "other_values", "values"], MOST = 16; // bytes
const STRIDE = 256; // the greatest, in bytes

/* Check a list of column types, each a name or a pair of a name and an order. Returns the bytes of each, the number
 * that describes it to kernels, and the bytes of a row. */
function described(columns) {
    if (!Array.isArray(columns) || columns.length < 1 || columns.length > COLUMNS.length)
        refuse(`columns: give 1 to ${COLUMNS.length}`);
    const found = columns.map((column) => {
        const [key, order = "ascending"] = Array.isArray(column) ? column : [column], { kind, bits } = typed(key);
        if (unlike(order)) refuse(`columns: ${shown(order)} is neither "ascending" nor "descending"`);
        return { bytes: bits / 8, number: Math.log2(bits / 8) | (kind << 2) | (order === "descending" ? 16 : 0) | 32 };
    });
    const bytes = found.reduce((sum, x) => sum + x.bytes, 0);
    if (bytes > MOST) refuse(`columns: a row has ${bytes} bytes; give at most ${MOST}`);
    return { found, bytes };
}

/* A column of a call: the buffer of an array or of records, and a field's stride and offset, which are 0 for arrays. */
function placed(given, i, bytes) {
    if (!given?.records) return { bound: given, stride: 0, offset: 0 };
    const { records, stride, offset = 0 } = given, name = `columns[${i}]`;
    if (!Number.isInteger(stride) || stride < 4 || stride > STRIDE || stride % 4)
        refuse(`${name}: stride ${shown(stride)} is no multiple of 4 up to ${STRIDE}`);
    if (!Number.isInteger(offset) || offset < 0 || offset + bytes > stride)
        refuse(`${name}: offset ${shown(offset)} is not that of ${bytes} bytes in a record of ${stride}`);
    if (offset % Math.min(bytes, 4)) refuse(`${name}: offset ${offset} is no multiple of ${Math.min(bytes, 4)}`);
    return { bound: records, stride, offset };
}

export class Packer extends PackerCalls {
    #columns = []; #bytes = 0;

    static async create(device, key, { columns, ...options } = {}) {
        const { found, bytes } = described(columns), made = await super.create(device, key, options);
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
        if (!Array.isArray(columns) || columns.length !== this.#columns.length)
            refuse(`columns: give ${this.#columns.length} buffers`);
        return columns.map((column, i) => placed(column, i, this.#columns[i].bytes));
    }

    _writes(role) {
        return role === "destination";
    }

    /* Name the columns as the buffers of a call. beginBit is passed on as firstBit: it counts bits of a row, but would
     * be checked as a bit of a key. */
    _checked({ columns, beginBit, ...call }) {
        const fields = this.#placed(columns);
        const named = Object.fromEntries(fields.map(({ bound }, i) => [`columns[${i}]`, bound]));
        return super._checked({ ...call, ...named, fields, firstBit: beginBit });
    }

    _length(call, spans) {
        return super._length(call, spans, call.fields[0].stride || this.#columns[0].bytes);
    }

    _numbers(call, n, spans) {
        const begin = whole("beginBit", call.firstBit ?? 0, 0, 8 * this.#bytes - 1);
        if (begin % 32) refuse(`beginBit: ${begin} is no multiple of 32`);
        const number = this.#columns.reduce((sum, x, i) => sum | (x.number << (6 * i)), (begin / 32) << 24);
        const end = ({ stride, offset }, size) => (stride && n ? (n - 1) * stride + offset + size : n * size);
        const bytes = Object.fromEntries(this.#columns.map((x, i) => [COLUMNS[i], end(call.fields[i], x.bytes)]));
        const passed = [0, 0];
        call.fields.forEach(({ stride, offset }, i) => {
            if ((n * stride) / 4 >= 2 ** 31)
                refuse(`columns[${i}]: n = ${n} records of ${stride} bytes have 2^31 words or more`);
            if (spans.destination && spans[COLUMNS[i]]?.buffer === spans.destination.buffer)
                refuse(`columns[${i}] and keysOut: are in one GPUBuffer`);
            passed[i >> 1] |= ((stride / 4) | (offset << 7)) << (15 * (i & 1));
        });
        return { number, passed, bytes };
    }
}
