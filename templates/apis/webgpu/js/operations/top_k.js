export class TopK extends TopKCalls {
    static create(device, key, options) {
        return super.create(device, key, { order: "descending", ...options });
    }

    /* `count` of a selection is a number of rows, not of keys. */
    _ordered(call) {
        return super._ordered({ ...call, count: undefined });
    }

    _numbers(call, n, spans) {
        const number = whole("rows", call.rows ?? 1, 1, 2 ** 31 - 1), used = this._used();
        for (const [role, feature] of Object.entries(FEATURES)) {
            const name = TopK.names[role];
            if (spans[role] && !used.has(role)) refuse(`${name}: the selection was generated without (--feature ${feature})`);
            if (n && !spans[role] && used.has(role)) refuse(`${name}: there is no buffer`);
        }
        if (n % number) refuse(`rows: ${n} keys are not ${number} equal rows`);
        // rows that start anywhere may access the whole buffer
        const anywhere = {};
        if (used.has("other_values") && spans.source) anywhere.source = spans.source.room;
        if ((used.has("value_starts") || used.has("other_values")) && spans.values) anywhere.values = spans.values.room;
        return { number, take: n ? whole("k", call.k, 1, n / number) : 0, bytes: anywhere };
    }
}

const FEATURES = {
    other: "row-lengths",
    other_values: "row-starts",
    takes: "row-takes",
    count: "row-count",
    value_starts: "value-starts",
};
